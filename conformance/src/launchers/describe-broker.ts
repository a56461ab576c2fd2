import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import type { Broker } from './broker.ts';
import { type Launched, launch } from './launch.ts';

/** A first start may pull an image. */
const START_MS = 600_000;

/**
 * A `describe` block with a broker, started before its first test that runs and removed after its last.
 *
 * `body` gets a function that returns the broker, for use inside tests and hooks. Without a broker every test is
 * skipped with the reason; with `CI=true` the block fails instead.
 */
export function describeBroker<B extends Broker>(
  name: string,
  start: () => Promise<B>,
  body: (broker: () => B) => void,
): void {
  describe(name, () => {
    let launched: Launched<B> | undefined;
    beforeAll(async () => {
      launched = await launch(start);
    }, START_MS);
    beforeEach(({ skip }) => {
      if (launched?.broker === undefined) skip(launched?.absent ?? 'the broker was not started');
    });
    afterAll(() => launched?.broker?.remove());
    body(() => {
      if (launched?.broker === undefined) throw new Error('Ask for the broker inside a test.');
      return launched.broker;
    });
  });
}
