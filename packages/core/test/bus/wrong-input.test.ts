import { MemoryBroker, type MemoryTx, memoryQueue, memoryStore } from '@ackord/memory';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { BusOptions } from '../../src/bus/bus-options.ts';
import { createBus } from '../../src/bus/create-bus.ts';
import type { ConsumerOptions } from '../../src/consume/consumer-options.ts';
import { on } from '../../src/consume/handler.ts';
import { event } from '../../src/contract/contract.ts';
import type { Driver } from '../../src/driver/driver.ts';
import type { MessagingError } from '../../src/errors/messaging-error.ts';

const Created = event('order.created', {
  version: 1,
  destination: 'orders',
  data: z.object({ pad: z.string() }),
});

const busOf = (options: object = {}) =>
  createBus<MemoryTx>({
    producer: 'tests',
    broker: memoryQueue(),
    store: memoryStore(),
    ...options,
  } as BusOptions<MemoryTx>);

const consuming = (consumer: object, bus = busOf()) =>
  bus.consume('reserve', consumer as ConsumerOptions, [on(Created, () => undefined)]);

const NO_STORE = { store: { none: 'effects are counted in memory' } };

/** What a user gets to see; every one ends with what to do. */
async function refusal(work: () => unknown): Promise<MessagingError> {
  try {
    await work();
  } catch (error) {
    expect(error).toMatchObject({ name: 'MessagingError' });
    expect((error as Error).message).toMatch(/[.]$/);
    return error as MessagingError;
  }
  throw new Error('Nothing was refused.');
}

it.each([
  ['createBus', () => busOf({ brokers: 1 }), /createBus is "brokers": .*producer, broker, store/],
  [
    'connect',
    () => busOf({ connect: { retries: 3 } }),
    /createBus.connect is "retries": .*backoff/,
  ],
  [
    'publish',
    () => busOf({ publish: { confirm: 0 } }),
    /createBus.publish is "confirm": .*timeout/,
  ],
  ['relay', () => busOf({ relay: { poll: '1s' } }), /createBus.relay is "poll": .*lease/],
  [
    'consume',
    () => consuming({ prefetch: 5 }),
    /consume\('reserve'\) is "prefetch": .*concurrency/,
  ],
  ['retry', () => consuming({ retry: { tries: 3 } }), /retry is "tries": .*maxAttempts/],
  [
    'a draft',
    () => Created({ pad: '' }, { ID: '1' } as object),
    /order.created is "ID": .*id, agg/,
  ],
])('an unknown option of %s is named beside the known ones', async (_, work, text) => {
  const error = await refusal(work);
  expect(error.code).toBe('MSG_CONFIG_INVALID');
  expect(error.message).toMatch(text);
});

it('a value that holds a secret is not shown', async () => {
  const url = 'amqp://user:hidden@rabbit/';
  const error = await refusal(() => busOf({ broker: url }));
  expect(error.code).toBe('MSG_CONFIG_INVALID');
  expect(error.message).toMatch(/createBus.broker is "amqp:.*: expected a driver/);
  expect(JSON.stringify([error.message, error.details])).not.toMatch(/hidden/);
});

it('a dedupe window shorter than the budget is refused with both figures', async () => {
  const consumer = { retry: { delays: ['1h'] }, parkingLife: '1d', dedupeWindow: '2h' };
  const error = await refusal(() => consuming(consumer));
  expect(error.code).toBe('MSG_CONFIG_DEDUPE_WINDOW');
  // One hour of retries, a day in the parking lot and 5 s of clock skew.
  expect(error.message).toMatch(
    /reserve is 7200000 ms \(2 h\).* last 90005000 ms \(25 h\).*Raise dedupeWindow/,
  );
  expect(() => consuming({ ...consumer, dedupeWindow: 90_005_000 })).not.toThrow();
});

it('a delay that the broker cannot hold is refused at the start with its limit', async () => {
  const bus = consuming({ retry: { delays: ['50d'] } }, busOf(NO_STORE));
  const error = await refusal(() => bus.start());
  expect(error.code).toBe('MSG_CONFIG_DELAY_TOO_LONG');
  expect(error.message).toMatch(
    /reserve of 4320000000 ms is over the 4294967295 ms .*memory\/queue/,
  );
  expect(error.message).toMatch(/Shorten retry.delays/);
});

it('a publish over the limit of the broker is refused with size and limit', async () => {
  const broker = memoryQueue({ limits: { bodyBytes: 2_000 } });
  const bus = consuming({}, busOf({ broker, ...NO_STORE }));
  await bus.start();
  const draft = Created({ pad: 'x'.repeat(2_000) });
  const error = await refusal(() => bus.publish(draft));
  expect(error).toMatchObject({ code: 'MSG_PUBLISH_TOO_LARGE', failure: 'permanent' });
  expect(error.message).toMatch(/over the limit: 2\d{3} bytes, the limit is 2000 bytes\. Store/);
  expect(error.message).toContain(draft.id);
  await bus.close();
});

it.each([
  ['auth', 'MSG_CONNECT_AUTH', /memory refused the credentials: .*Correct user and secret/],
  ['connection', 'MSG_CONNECT_UNREACHABLE', /memory could not be reached within 30 ms: .*address/],
] as const)('a broker that answers %s ends the start', async (kind, code, text) => {
  const broker = new MemoryBroker();
  broker.faults.refuseOpen(kind);
  const options = { broker: memoryQueue({ broker }), connect: { timeout: 30, backoff: 5 } };
  const error = await refusal(() => busOf(options).start());
  expect(error.code).toBe(code);
  expect(error.message).toMatch(text);
});

it('what the client said is part of the text, but not the secret in it', async () => {
  const refused = new AggregateError([
    new Error('connect ECONNREFUSED ::1:5672'),
    new Error('cannot log in to amqp://user:hidden@rabbit:5672'),
  ]);
  const open = () => Promise.reject(refused);
  const broker: Driver = { ...memoryQueue(), open, classify: () => 'connection' };
  const error = await refusal(() => busOf({ broker, connect: { timeout: 5 } }).start());
  expect(error.message).toMatch(
    /5 ms: connect ECONNREFUSED ::1:5672, cannot log in to amqp:\/\/…@r/,
  );
  expect(error.message).not.toMatch(/hidden/);
});

it('under verify a resource that is missing is named', async () => {
  const error = await refusal(() => consuming({}, busOf({ topology: 'verify' })).start());
  expect(error.code).toBe('MSG_CONNECT_TOPOLOGY_MISSING');
  expect(error.message).toMatch(/orders, .*do not exist on memory \(topology: "verify"\).*Create/);
});
