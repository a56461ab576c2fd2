import type { LogSession } from '@ackord/core/driver';
import { ManualClock } from '@ackord/core/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MemoryBroker } from '../../src/broker/memory-broker.ts';
import { memoryLog } from '../../src/log/memory-log.ts';
import { open, outgoing, send, text } from '../broker-fixture.ts';
import { type Reader, reader } from './log-fixture.ts';

const PARTITIONS = 3;

type Op =
  | { op: 'send'; count: number; key: number }
  | { op: 'commit'; member: number }
  | { op: 'advance'; ms: number }
  | { op: 'join' | 'lose' | 'leave' | 'rebalance' };

const small = fc.nat({ max: 5 });
const ops: fc.Arbitrary<Op> = fc.oneof(
  fc.record({
    op: fc.constant('send' as const),
    count: fc.integer({ min: 1, max: 8 }),
    key: small,
  }),
  fc.record({ op: fc.constant('commit' as const), member: small }),
  fc.record({ op: fc.constant('advance' as const), ms: fc.constantFrom(0, 5, 30) }),
  fc.record({ op: fc.constantFrom('join', 'lose', 'leave', 'rebalance') }),
);

/** Commits whatever was delivered, and checks that nothing between two commits was left out. */
class World {
  readonly clock = new ManualClock();
  readonly broker = new MemoryBroker({ clock: this.clock, gapEvery: 3 });
  readonly sent: string[] = [];
  readonly done: string[] = [];
  readonly members: { session: LogSession; reader: Reader }[] = [];
  #writer: LogSession | undefined;

  async join(): Promise<void> {
    const driver = memoryLog({ broker: this.broker, partitions: PARTITIONS });
    this.#writer ??= await open('log', driver, this.clock);
    const session = await open('log', driver, this.clock);
    this.members.push({ session, reader: await reader(session) });
  }

  async run(op: Op): Promise<void> {
    if (op.op === 'send') await this.#send(op.count, op.key);
    else if (op.op === 'commit') await this.commit(op.member);
    else if (op.op === 'advance') await this.clock.advance(op.ms);
    else if (op.op === 'join') await this.join();
    else if (op.op === 'rebalance') this.broker.rebalance('reserve');
    else if (op.op === 'lose') this.broker.loseSession(this.members.shift()?.session.id ?? -1);
    else await this.members.pop()?.reader.receiver.leave();
  }

  /** What a member got since its lane was assigned is contiguous from where it began. */
  async commit(member: number): Promise<void> {
    const target = this.members[member % Math.max(this.members.length, 1)]?.reader;
    for (const { lane, epoch, committed, low } of target?.lanes.values() ?? []) {
      const batches = target?.batches.filter((b) => b.lane === lane && b.epoch === epoch) ?? [];
      let end = committed ?? low;
      for (const { from, next } of batches) {
        expect(from).toBe(end);
        end = next;
      }
      const known = this.broker.commits('reserve').findLast((c) => c.lane === lane)?.next ?? 0n;
      if (end <= known) continue;
      const [answer] = (await target?.receiver.commit([{ lane, epoch, next: end }])) ?? [];
      if (answer !== 'ok') continue;
      const records = batches.flatMap((batch) => batch.records);
      this.done.push(...records.filter((r) => r.position >= known).map((r) => text(r.body)));
    }
  }

  async #send(count: number, key: number): Promise<void> {
    const bodies = Array.from({ length: count }, (_, i) => `m${this.sent.length + i}`);
    this.sent.push(...bodies);
    const batch = bodies.map((body) => outgoing('orders', body, { key: `k${key}` }));
    if (this.#writer) await send(this.#writer, batch);
  }
}

it('skips no record and lets none be committed twice, however the group changes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(ops, { maxLength: 40 }), async (schedule) => {
      const world = new World();
      await world.join();
      for (const op of schedule) await world.run(op);
      if (world.members.length === 0) await world.join();
      for (let round = 0; round < 3; round++) {
        await world.clock.advance(50);
        for (const member of world.members.keys()) await world.commit(member);
      }
      expect(world.done.toSorted()).toEqual(world.sent.toSorted());
    }),
    { numRuns: 60 },
  );
});
