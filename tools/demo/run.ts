import { setTimeout as sleep } from 'node:timers/promises';
import { messageIdOf } from '../../examples/orders/src/order-service.ts';
import { Observations } from './observations.ts';
import { commitToDieAt, troubleFor } from './plan-trouble.ts';
import type { Progress } from './progress.ts';
import type { InputLine } from './read-orders.ts';
import { POLL_MS, Show } from './show.ts';
import { endings, type Tally, tally } from './tally.ts';
import { broken, type Dead } from './verdict.ts';
import type { World, WorldOptions } from './world.ts';

export interface Outcome {
  readonly about: string;
  readonly tally: Tally;
  /** Undefined: no message got as far as COMMIT at the consumer that was to die. */
  readonly dead: Dead | undefined;
  readonly howKilled: string;
  /** What was done to the database; undefined: it is not the demo's own. */
  readonly outage: string | undefined;
  /** Invariants that do not hold. */
  readonly broken: readonly string[];
  readonly tookMs: number;
}

export interface RunOptions {
  readonly lines: readonly InputLine[];
  readonly withoutInbox: boolean;
  readonly open: (options: WorldOptions) => Promise<World>;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Orders that are being placed at once. */
const PLACING = 3;
/** What has not ended by then counts as lost. */
const DEADLINE_MS = 150_000;
/** Longest wait for the kill, which a file without a good order never sees. */
const REVIVAL_MS = 5_000;

/** Feeds the lines, makes the trouble, waits until everything has ended, and counts. */
export async function run(options: RunOptions): Promise<Outcome> {
  const { lines, withoutInbox, progress, signal } = options;
  const startedAtMs = Date.now();
  const observations = new Observations();
  const death = Promise.withResolvers<string>();
  const failure = Promise.withResolvers<never>();
  // Whoever races with it hears of it.
  failure.promise.catch(() => undefined);
  const world = await options.open({
    plan: troubleFor(lines, withoutInbox),
    observations,
    killed: death.resolve,
    failed: failure.reject,
    note: (text) => progress.note(text),
    signal,
  });
  try {
    signal.throwIfAborted();
    await world.startInventory(commitToDieAt(lines));
    let dead: string | undefined;
    const revived = death.promise.then((messageId) => {
      dead = messageId;
      return revive(messageId, world, progress);
    });
    revived.catch(failure.reject);
    const show = new Show(world, lines, progress);
    const ended = passThrough(lines, { world, show, signal, progress, revived });
    const outage = await Promise.race([ended, failure.promise]);
    progress.end();
    const counted = await tally(lines, world, observations);
    const fate = dead === undefined ? undefined : await fateOf(dead, world);
    const { about, howKilled } = world;
    const tookMs = Date.now() - startedAtMs;
    const found = broken(counted, fate);
    return { about, tally: counted, dead: fate, howKilled, outage, broken: found, tookMs };
  } finally {
    progress.end();
    await world.close();
  }
}

async function revive(messageId: string, world: World, progress: Progress): Promise<void> {
  progress.note(`consumer killed after COMMIT and before its ack, at ${messageId}`);
  await Promise.all([world.startInventory(), world.startInventory()]);
  progress.note('two consumers started in its place');
}

async function passThrough(lines: readonly InputLine[], stage: Stage): Promise<string | undefined> {
  const outage = await feed(lines, stage);
  await untilEnded(stage);
  return outage;
}

interface Stage {
  readonly world: World;
  readonly show: Show;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** There are consumers again after the kill. */
  readonly revived: Promise<void>;
}

/** Resolves once every line is placed or injected and the outage in the middle is over. */
async function feed(
  lines: readonly InputLine[],
  { world, show, signal, progress, revived }: Stage,
): Promise<string | undefined> {
  let next = 0;
  let outage: Promise<string | undefined> | undefined;
  const place = async (): Promise<void> => {
    for (let line = lines[next]; line !== undefined && !signal.aborted; line = lines[next]) {
      next += 1;
      if (next >= lines.length / 2 && outage === undefined) {
        // One trouble at a time, so that consumers feel both.
        outage = Promise.race([revived, sleep(REVIVAL_MS)]).then(() => outageIn(world, progress));
        // Awaited below, which is not reached when placing fails first.
        outage.catch(() => undefined);
      }
      if (line.kind === 'order' || line.kind === 'again') await world.place(line.order);
      if (line.kind !== 'order') await world.inject(line.raw);
      show.placed += 1;
    }
  };
  const showing = show.start(signal);
  await Promise.all(Array.from({ length: PLACING }, place));
  const done = await outage;
  await showing.stop();
  signal.throwIfAborted();
  return done;
}

async function outageIn(world: World, progress: Progress): Promise<string | undefined> {
  if (world.outage === undefined) return undefined;
  progress.note('the database goes away');
  const done = await world.outage();
  progress.note(done);
  return done;
}

/** Until nothing has been queued for a while: what has no end then is lost. */
async function untilEnded({ world, show, signal }: Stage): Promise<void> {
  const giveUpAtMs = Date.now() + DEADLINE_MS;
  let quietSinceMs: number | undefined;
  while (Date.now() < giveUpAtMs) {
    signal.throwIfAborted();
    const left = await show.once();
    if (left > 0) quietSinceMs = undefined;
    else quietSinceMs ??= Date.now();
    if (quietSinceMs !== undefined && Date.now() - quietSinceMs >= world.quietMs) return;
    await sleep(POLL_MS);
  }
}

async function fateOf(messageId: string, world: World): Promise<Dead> {
  const ended = await endings(world);
  const effects = ended.find(({ id }) => messageIdOf({ orderId: id }) === messageId)?.times ?? 0;
  return { messageId, effects };
}
