import { randomUUID } from 'node:crypto';
import { eventually } from '@ackord/conformance';
import { describeBroker, startRabbitmq } from '@ackord/conformance/launchers';
import { type BusEvent, createBus, event, on, transient } from '@ackord/core';
import { expect, it } from 'vitest';
import { rabbitmq } from '../src/index.ts';
import { removeNames } from './remove-names.ts';

describeBroker('a bucket that somebody deleted', startRabbitmq, (broker) => {
  it('is declared again while the connection lives, and its retries go on', async () => {
    const prefix = `bucket${randomUUID().slice(0, 8)}`;
    const data = {
      '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
    } as const;
    const Created = event('created', { version: 1, destination: `${prefix}.orders`, data });
    const consumer = `${prefix}.reserve`;
    const events: BusEvent[] = [];
    const runs: number[] = [];
    const bus = createBus({
      producer: 'tests',
      broker: rabbitmq({ url: broker().url }),
      store: { none: 'nothing is applied here' },
      connect: { backoffCap: '1s' },
    });
    bus.on((each) => events.push(each));
    bus.consume(consumer, { retry: { delays: ['100ms'] } }, [
      on(Created, (_message, { attempt }) => {
        runs.push(attempt);
        if (attempt === 1) throw transient('once');
      }),
    ]);
    await bus.start();
    try {
      await broker().management.deleteQueue(`${consumer}.retry.100ms`);
      await bus.publish(Created({}));
      await eventually('the retry has run', () => runs.length === 2, { deadlineMs: 30_000 });
      expect(runs).toEqual([1, 2]);
      expect(events.some((each) => each.event === 'copy.failed')).toBe(true);
      expect(events.some((each) => each.event === 'connection.lost')).toBe(false);
    } finally {
      await bus.close();
      await removeNames(broker(), prefix);
    }
  });
});
