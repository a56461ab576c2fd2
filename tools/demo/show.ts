import { setTimeout as sleep } from 'node:timers/promises';
import type { Progress } from './progress.ts';
import type { InputLine } from './read-orders.ts';
import { endings } from './tally.ts';
import type { World } from './world.ts';

export const POLL_MS = 200;

/** Keeps the progress line up to date. */
export class Show {
  placed = 0;
  readonly #world: World;
  readonly #lines: readonly InputLine[];
  readonly #progress: Progress;

  constructor(world: World, lines: readonly InputLine[], progress: Progress) {
    this.#world = world;
    this.#lines = lines;
    this.#progress = progress;
  }

  /** Until `stop`, which resolves after the last look. */
  start(signal: AbortSignal): { stop(): Promise<void> } {
    let stopped = false;
    const looking = (async () => {
      while (!stopped && !signal.aborted) {
        await this.once();
        await sleep(POLL_MS);
      }
    })();
    return {
      stop: async () => {
        stopped = true;
        await looking;
      },
    };
  }

  /** What is still to come: lines, queued messages, outbox rows; at least 1 while the database is away. */
  async once(): Promise<number> {
    const world = this.#world;
    const all = this.#lines.length;
    try {
      const [ended, parked, backlog, outbox] = await Promise.all([
        endings(world),
        world.parkedCount(),
        world.backlog(),
        world.sql('select count(*)::int as rows from ackord.outbox'),
      ]);
      const effects = ended.reduce((sum, each) => sum + each.effects, 0);
      const rejected = ended.reduce((sum, each) => sum + each.times - each.effects, 0);
      const rows = Number(outbox[0]?.['rows']);
      this.#progress.update(
        `lines ${this.placed}/${all}  effects ${effects}  rejected ${rejected}  ` +
          `parked ${parked}  in queues ${backlog}  in outbox ${rows}`,
      );
      return backlog + rows + (all - this.placed);
    } catch (error) {
      // The demo itself took it away; what does not come back ends at the deadline.
      this.#progress.update(
        `lines ${this.placed}/${all}  database away: ${(error as Error).message}`,
      );
      return 1;
    }
  }
}
