import type { MemoryStore } from '../../src/index.ts';
import { CONSUMERS, idOfBody, type Made } from './messages.ts';
import type { Sent } from './witness.ts';
import type { World } from './world.ts';

/** Who may let go of a message, judged at the moment it happens: I3, I4, and the order of the relay. */
export class Custody {
  readonly #world: World;
  /** Committed to the outbox, in this order. */
  readonly #outboxed: Made[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  outboxed(made: Made): void {
    this.#outboxed.push(made);
  }

  sending({ id, dedupId, to, body }: Sent): void {
    const { rolledBack, recorder } = this.#world;
    if (idOfBody(body) !== id) recorder.violated(`I5: ${idOfBody(body)} was sent as ${id}`);
    const consumer = CONSUMERS.find((name) => to.startsWith(`${name}.`));
    if (consumer === undefined ? dedupId !== id : !dedupId.includes(`:${consumer}:`)) {
      recorder.violated(`I9: copy ${dedupId} was sent to ${to}`);
    }
    if (rolledBack.has(id)) recorder.violated(`${id} was rolled back and sent to ${to}`);
    if (to !== 'orders') return;
    const at = this.#outboxed.findIndex((made) => made.id === id);
    const key = this.#outboxed[at]?.key;
    const earlier = this.#outboxed
      .slice(0, Math.max(at, 0))
      .find((made) => made.key === key && !this.#isConfirmed(made.id, to));
    if (earlier === undefined) return;
    recorder.violated(`order: ${id} left the outbox before ${earlier.id} of the same key`);
  }

  /** I3: whoever acks leaves an outcome, or another copy at the broker. */
  acked(consumer: string, id: string, readAtMs: number): void {
    const { profile, witness, recorder } = this.#world;
    if (this.#world.outcomeOf(consumer, id) !== undefined) return;
    const kept = profile.isLog
      ? witness.sent.some(
          (sent) =>
            sent.id === id &&
            sent.to.startsWith(`${consumer}.`) &&
            sent.outcome === 'confirmed' &&
            sent.atMs >= readAtMs,
        )
      : this.#world.placesOf(consumer).some((place) => this.#world.holds(place, id));
    if (!kept) recorder.violated(`I3: ${consumer} acked ${id} without an outcome`);
  }

  /** I4: a row goes only after a confirm of its publish. */
  watch(store: MemoryStore): MemoryStore {
    const { outbox } = store;
    const remove = outbox.remove.bind(outbox);
    outbox.remove = async (rows, signal) => {
      const { database, recorder } = this.#world;
      const before = new Map(database.outboxRows().map((row) => [row.seq, row]));
      const removed = await remove(rows, signal);
      for (const seq of removed) {
        const row = before.get(seq);
        if (row !== undefined && this.#isConfirmed(row.messageId, row.target)) continue;
        recorder.violated(`I4: row ${row?.messageId} went unconfirmed`);
      }
      return removed;
    };
    return store;
  }

  #isConfirmed(id: string, target: string): boolean {
    return this.#world.witness.sent.some(
      (sent) => sent.id === id && sent.to === target && sent.outcome === 'confirmed',
    );
  }
}
