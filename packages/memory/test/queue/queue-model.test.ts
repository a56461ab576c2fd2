import type { QueueSession, Settle } from '@ackord/core/driver';
import { ManualClock } from '@ackord/core/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MemoryBroker } from '../../src/broker/memory-broker.ts';
import { type MemoryQueueOptions, memoryQueue } from '../../src/queue/memory-queue.ts';
import { open, outgoing, send, text } from '../broker-fixture.ts';
import { type Inlet, inlet } from './queue-fixture.ts';

type Op =
  | { op: 'send'; count: number; key: number }
  | { op: 'settle'; reader: number; delivery: number; how: Settle['do'] }
  | { op: 'window'; reader: number; size: number }
  | { op: 'advance'; ms: number }
  | { op: 'join' | 'lose' | 'close' | 'loseSettle' };

const small = fc.nat({ max: 9 });
const ops: fc.Arbitrary<Op> = fc.oneof(
  fc.record({
    op: fc.constant('send' as const),
    count: fc.integer({ min: 1, max: 5 }),
    key: small,
  }),
  fc.record({
    op: fc.constant('settle' as const),
    reader: small,
    delivery: small,
    how: fc.constantFrom('ack', 'ack', 'release', 'return', 'extend', 'drop'),
  }),
  fc.record({ op: fc.constant('window' as const), reader: small, size: small }),
  fc.record({ op: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 400 }) }),
  fc.record({ op: fc.constantFrom('join', 'lose', 'close', 'loseSettle') }),
);

const settling: Record<Settle['do'], Settle> = {
  ack: { do: 'ack' },
  release: { do: 'release' },
  return: { do: 'return', delayMs: 150 },
  extend: { do: 'extend', ms: 200 },
  drop: { do: 'drop' },
};

/** Runs operations against one queue and keeps count of what was acked for good. */
class World {
  readonly clock = new ManualClock();
  readonly broker = new MemoryBroker({ clock: this.clock });
  readonly sent: string[] = [];
  readonly acked: string[] = [];
  readonly members: { session: QueueSession; reader: Inlet }[] = [];
  readonly #options: MemoryQueueOptions;

  constructor(options: MemoryQueueOptions) {
    this.#options = options;
  }

  async join(window = 3): Promise<void> {
    const driver = memoryQueue({ ...this.#options, broker: this.broker });
    const session = await open('queue', driver, this.clock);
    this.members.push({ session, reader: await inlet(session, driver, 'reserve', window) });
  }

  async run(op: Op): Promise<void> {
    const [first] = this.members;
    if (op.op === 'send' && first) await this.#send(first.session, op.count, op.key);
    else if (op.op === 'settle') await this.#settle(op);
    else if (op.op === 'window') this.#at(op.reader)?.receiver.setWindow(op.size);
    else if (op.op === 'advance') await this.clock.advance(op.ms);
    else if (op.op === 'join') await this.join();
    else if (op.op === 'loseSettle') this.broker.faults.loseSettles(1);
    else if (op.op === 'lose' && first) this.broker.loseSession(this.members.shift()?.session.id);
    else if (op.op === 'close') await this.members.pop()?.session.close();
  }

  /** Everything that is left is acked by one last reader. */
  async finish(): Promise<void> {
    this.broker.faults.clear();
    for (const { session } of this.members.splice(0)) await session.close();
    await this.join(1_000);
    const reader = this.members[0]?.reader;
    // Rounds are shorter than a lease; a lane gives one message a round.
    for (let round = 0, at = 0; reader && round < 300; round++) {
      await this.clock.advance(10);
      for (; at < reader.got.length; at++) {
        const answer = await reader.settle(at, settling.ack);
        if (answer === 'ok') this.acked.push(reader.bodies()[at] ?? '');
      }
      if (this.broker.depth('reserve') === 0) return;
    }
  }

  async #send(session: QueueSession, count: number, key: number): Promise<void> {
    const bodies = Array.from({ length: count }, (_, i) => `m${this.sent.length + i}`);
    this.sent.push(...bodies);
    await send(
      session,
      bodies.map((body) => outgoing('orders', body, { key: `k${key}` })),
    );
  }

  async #settle({ reader: at, delivery, how }: Extract<Op, { op: 'settle' }>): Promise<void> {
    const reader = this.#at(at);
    if (!reader || reader.got.length === 0) return;
    const index = Math.max(reader.got.length - 1 - delivery, 0);
    const answer = await reader.settle(index, settling[how]);
    const body = reader.got[index]?.body;
    if (how === 'ack' && answer === 'ok' && body) this.acked.push(text(body));
  }

  #at(reader: number): Inlet | undefined {
    return this.members[reader % Math.max(this.members.length, 1)]?.reader;
  }
}

it.each<MemoryQueueOptions>([
  { delays: 'return' },
  { delays: 'return', leaseMs: 300 },
  { delays: 'return', leaseMs: 300, lanes: 'group' },
])('loses nothing and acks nothing twice, whatever happens: %o', async (options) => {
  await fc.assert(
    fc.asyncProperty(fc.array(ops, { maxLength: 40 }), async (schedule) => {
      const world = new World(options);
      await world.join();
      for (const op of schedule) await world.run(op);
      await world.finish();
      expect(world.acked.toSorted()).toEqual(world.sent.toSorted());
      expect(world.broker.depth('reserve')).toBe(0);
    }),
    { numRuns: 60 },
  );
});
