import { afterAll, describe, it } from 'vitest';
import type { Broker } from './broker.ts';
import { launch } from './launch.ts';

/**
 * A `describe` block with a started broker, removed at its end.
 *
 * Without a broker it holds one skipped test that shows the reason; with `CI=true` the block fails instead.
 */
export function describeBroker<B extends Broker>(
  name: string,
  start: () => Promise<B>,
  body: (broker: B) => void,
): void {
  describe(name, async () => {
    const { broker, absent } = await launch(start);
    if (broker === undefined) {
      it.skip(`left out: ${absent}`);
      return;
    }
    afterAll(() => broker.remove());
    body(broker);
  });
}
