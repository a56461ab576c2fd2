import { on, permanent, transient } from '@ackord/core';
import { describe, expect, it } from 'vitest';
import { memoryQueue } from '../../src/index.ts';
import { Ordered, watched, world } from './fixture.ts';

const envelope = (id: string): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify({
      id,
      type: 'ordered',
      schema_version: 1,
      occurred_at: '2026-07-21T09:00:00Z',
      producer: 'elsewhere',
      data: { n: 1 },
    }),
  );

describe('a copy that does not fit as it is', () => {
  it('is parked without the foreign headers, body and id unchanged', async () => {
    const { broker, clock, bus: createTestBus } = world();
    const bus = createTestBus({ broker: memoryQueue({ broker, limits: { bodyBytes: 2_000 } }) });
    bus.consume('reserve', {}, [
      on(Ordered, () => {
        throw permanent('never');
      }),
    ]);
    await bus.start();
    const body = envelope('foreign-1');
    broker.inject('reserve', { body, headers: { blob: 'x'.repeat(1_800) } });
    await clock.runUntil(() => broker.depth('reserve.parking') === 1, { limitMs: 60_000 });
    await clock.advance(1_000);
    expect(broker.depth('reserve')).toBe(0);
    expect(broker.dump('reserve.parking')[0]).toMatchObject({ nativeId: 'foreign-1', body });
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });

  it('is retried though its dedup id would be too long', async () => {
    const { broker, clock, bus: createTestBus } = world();
    const bus = createTestBus();
    let runs = 0;
    bus.consume('reserve', { retry: { delays: ['1s'] } }, [
      on(Ordered, () => {
        runs += 1;
        if (runs === 1) throw transient('not yet');
      }),
    ]);
    await bus.start();
    broker.inject('reserve', { body: envelope('i'.repeat(250)) });
    await clock.runUntil(() => runs === 2, { limitMs: 60_000 });
    const closing = watched(bus.close());
    await clock.runUntil(() => closing.done);
  });
});
