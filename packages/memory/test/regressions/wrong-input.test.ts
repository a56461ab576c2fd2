import { on } from '@ackord/core';
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

describe('wrong input of a JavaScript caller', () => {
  it.each([
    ['a store that is a text', { store: 'postgres://u:secret@h/db' }],
    ['destinations as one text', { destinations: 'orders' }],
    ['destinations with an empty name', { destinations: [''] }],
    ['connect as null', { connect: null }],
    ['relay as a number', { relay: 5 }],
    ['an interceptor that is no function', { intercept: {} }],
    ['a clock without after', { clock: { now: () => 0 } }],
    ['a random number', { random: 0.5 }],
  ])('%s is refused with its option', (_name, options) => {
    const { bus: createTestBus } = world();
    let thrown: unknown;
    try {
      createTestBus(options as never);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'MSG_CONFIG_INVALID' });
    expect(String(thrown)).not.toContain('secret');
  });

  it.each([
    ['no options', [undefined, []]],
    ['no handlers', [{}, undefined]],
    ['a handler that is a function', [{}, [() => undefined]]],
    ['failures that are no functions', [{ failures: ['transient'] }, 'handler']],
    ['a codec without decode', [{ codec: {} }, 'handler']],
  ])('a consumer with %s is refused', (_name, [options, handlers]) => {
    const { bus: createTestBus } = world();
    const given = handlers === 'handler' ? [on(Ordered, () => undefined)] : handlers;
    expect(() => createTestBus().consume('reserve', options as never, given as never)).toThrow(
      expect.objectContaining({ code: 'MSG_CONFIG_INVALID' }),
    );
  });

  it('a publish without a draft rejects, and does not throw', async () => {
    const { bus: createTestBus } = world();
    const published = createTestBus().publish(undefined as never);
    await expect(published).rejects.toMatchObject({ code: 'MSG_CONFIG_INVALID' });
  });

  it('the parking lot of an unknown consumer is refused, not shown as empty', async () => {
    const { clock, bus: createTestBus } = world();
    const bus = createTestBus();
    await bus.start();
    await expect(bus.parked('typo')).rejects.toMatchObject({ code: 'MSG_CONFIG_INVALID' });
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });
});
