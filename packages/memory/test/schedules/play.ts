import { judge } from './judge.ts';
import { PUBLISH_TIMEOUT_MS } from './messages.ts';
import type { Schedule } from './operations.ts';
import { type Profile, World } from './world.ts';

/** Virtual time in which everything must have come to an end once all faults are gone. */
const REST_MS = 300_000;
const STEP_MS = 500;
/** Leftover copies of what has ended come back within the longest delay. */
const LEFTOVERS_MS = 15_000;

/** Plays a schedule, heals, waits for rest; answers what is wrong. The same schedule plays the same way. */
export async function play(profile: Profile, schedule: Schedule): Promise<readonly string[]> {
  const world = new World(profile, schedule);
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => {
    unhandled.push(reason);
  };
  process.on('unhandledRejection', onUnhandled);
  try {
    for (let i = 0; i < schedule.instances; i += 1) world.join();
    await world.clock.advance(10);
    for (const operation of schedule.operations) {
      if (!schedule.without.includes(operation.op)) await world.run(operation);
    }
    await world.heal();
    await rest(world);
    const wrong = judge(world);
    await world.closeAll();
    return [
      ...wrong,
      ...judge(world).filter((text) => !wrong.includes(text)),
      ...unhandled.map((reason) => `I12: unhandled rejection: ${String(reason)}`),
    ];
  } finally {
    process.off('unhandledRejection', onUnhandled);
  }
}

async function rest(world: World): Promise<void> {
  const isOver = (): boolean =>
    world.unended().length === 0 && world.database.outboxRows().length === 0;
  // Publishes under way have their outcome by then.
  await world.clock.advance(PUBLISH_TIMEOUT_MS + STEP_MS);
  for (let ms = 0; ms < REST_MS && !isOver(); ms += STEP_MS) {
    // Somebody redrives what was refused, also what was refused by an answer that was held back.
    await world.live[0]?.store.outbox.retryRefused();
    await world.clock.advance(STEP_MS);
  }
  const untilMs = world.clock.now() + REST_MS;
  await world.clock.advance(LEFTOVERS_MS);
  while (world.clock.now() < untilMs && world.circulating().length > 0) {
    await world.clock.advance(STEP_MS);
  }
}
