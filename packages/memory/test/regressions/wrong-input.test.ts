import { describe, expect, it } from 'vitest';
import { Ordered, watched, world } from './fixture.ts';

describe('a listener that rejects', () => {
  it('does not end the process', async () => {
    const { clock, bus: createTestBus } = world();
    const bus = createTestBus();
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => {
      unhandled.push(error);
    };
    process.on('unhandledRejection', note);
    bus.on(((): Promise<void> => Promise.reject(new Error('broken'))) as () => void);
    await bus.start();
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
    await new Promise<void>((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});

describe('a publish timeout that is no number of milliseconds', () => {
  it.each([Number.NaN, 0, -1, '5s' as unknown as number])('%s is refused', async (timeoutMs) => {
    const { bus: createTestBus } = world();
    const bus = createTestBus();
    await expect(bus.publish(Ordered({ n: 1 }), { timeoutMs })).rejects.toMatchObject({
      code: 'MSG_CONFIG_INVALID',
    });
  });
});
