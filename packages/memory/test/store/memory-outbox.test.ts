import { OUTBOX_SLOTS, type OutboxRow, type SlotLease } from '@ackord/core/store';
import { ManualClock } from '@ackord/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryDatabase } from '../../src/store/memory-database.ts';
import { type MemoryStore, memoryStore } from '../../src/store/memory-store.ts';
import { isPending, message, never } from './store-fixture.ts';

const TTL_MS = 1_000;

let clock: ManualClock;
let database: MemoryDatabase;
let store: MemoryStore;

beforeEach(() => {
  clock = new ManualClock();
  database = new MemoryDatabase({ clock });
  store = memoryStore({ database });
});

const lease = (owner: string, busy: readonly number[] = []): Promise<readonly SlotLease[]> =>
  store.outbox.lease({ owner, ttlMs: TTL_MS, busy, signal: never });

const fetch = (
  leases: readonly SlotLease[],
  more: { limit?: number; except?: readonly string[]; brokers?: readonly string[] } = {},
): Promise<readonly OutboxRow[]> => {
  const { limit = 100, except = [], brokers = ['memory'] } = more;
  return store.outbox.fetch({ leases, brokers, limit, except, signal: never });
};

const write = (...messages: readonly Parameters<typeof message>[]): Promise<void> =>
  store.transaction((tx) =>
    store.outbox.add(
      tx,
      messages.map((each) => message(...each)),
    ),
  );

const ids = (rows: readonly OutboxRow[]): readonly string[] => rows.map((row) => row.messageId);

const epochOf = (leases: readonly SlotLease[], row: OutboxRow | undefined) => ({
  seq: row?.seq ?? '',
  slot: row?.slot ?? -1,
  epoch: leases.find(({ slot }) => slot === row?.slot)?.epoch ?? -1,
});

describe('writing', () => {
  it('belongs to the transaction', async () => {
    const failed = store.transaction(async (tx) => {
      await store.outbox.add(tx, [message('m1')]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(database.outboxRows()).toEqual([]);
    await write(['m1']);
    expect(ids(database.outboxRows())).toEqual(['m1']);
  });

  it('refuses an id that is there already, for the same broker and target', async () => {
    await write(['m1'], ['m1', { target: 'other' }], ['m1', { broker: 'other' }]);
    await expect(write(['m1'])).rejects.toMatchObject({ code: 'MSG_STORE_DUPLICATE_ID' });
    await expect(write(['m2'], ['m2'])).rejects.toMatchObject({ code: 'MSG_STORE_DUPLICATE_ID' });
    expect(database.outboxRows().length).toBe(3);
  });

  it('gives versions without a gap, under a lock', async () => {
    const of = { destination: 'orders', type: 'order', id: '42' };
    let letGo = (): void => undefined;
    const first = store.transaction(async (tx) => {
      const versions = [
        await store.outbox.nextVersion(tx, of),
        await store.outbox.nextVersion(tx, of),
      ];
      await new Promise<void>((resolve) => {
        letGo = resolve;
      });
      return versions;
    });
    const second = store.transaction((tx) => store.outbox.nextVersion(tx, of));
    expect(await isPending(second)).toBe(true);
    letGo();
    expect([await first, await second]).toEqual([[1, 2], 3]);
  });
});

describe('leases', () => {
  it('go to one relay at a time, in fair shares', async () => {
    expect((await lease('a')).length).toBe(OUTBOX_SLOTS);
    expect(await lease('b')).toEqual([]);
    const mine = await lease('a');
    const theirs = await lease('b');
    expect([mine.length, theirs.length]).toEqual([OUTBOX_SLOTS / 2, OUTBOX_SLOTS / 2]);
    expect(theirs.every(({ epoch }) => epoch === 2)).toBe(true);
    expect(mine.every(({ epoch }) => epoch === 1)).toBe(true);
  });

  it('keep busy slots', async () => {
    await lease('a');
    await lease('b');
    const busy = Array.from({ length: 40 }, (_, slot) => slot);
    expect((await lease('a', busy)).map(({ slot }) => slot)).toEqual(busy);
  });

  it('fall to another relay after they expired, under a new epoch', async () => {
    const old = await lease('a');
    await write(['m1']);
    const [row] = await fetch(old);
    await clock.advance(TTL_MS);
    expect(await fetch(old)).toEqual([]);
    const taken = await lease('b');
    expect(taken.length).toBe(OUTBOX_SLOTS);
    expect(await store.outbox.remove([epochOf(old, row)], never)).toEqual([]);
    expect(await store.outbox.remove([epochOf(taken, row)], never)).toEqual([row?.seq]);
    expect(database.outboxRows()).toEqual([]);
  });

  it('are given back at once', async () => {
    await lease('a');
    await store.outbox.release('a');
    expect((await lease('b')).length).toBe(OUTBOX_SLOTS);
  });
});

describe('rows', () => {
  it('are found by state: a late committer is not skipped', async () => {
    const leases = await lease('a');
    let letGo = (): void => undefined;
    const late = store.transaction(async (tx) => {
      await store.outbox.add(tx, [message('late', { key: 'k' })]);
      await new Promise<void>((resolve) => {
        letGo = resolve;
      });
    });
    await isPending(late);
    await write(['early']);
    expect(ids(await fetch(leases))).toEqual(['early']);
    letGo();
    await late;
    expect(ids(await fetch(leases))).toEqual(['late', 'early']);
  });

  it('come by limit, broker and exception', async () => {
    const leases = await lease('a');
    await write(['m1'], ['m2', { broker: 'other' }], ['m3'], ['m4']);
    const [first] = await fetch(leases, { limit: 1 });
    expect(first?.messageId).toBe('m1');
    expect(ids(await fetch(leases, { except: [first?.seq ?? ''] }))).toEqual(['m3', 'm4']);
    expect(ids(await fetch(leases, { brokers: ['other'] }))).toEqual(['m2']);
    expect(await fetch(leases.filter(({ slot }) => slot !== first?.slot))).not.toContainEqual(
      first,
    );
  });

  it('that are refused block their own aggregate, when asked, until they are retried', async () => {
    const leases = await lease('a');
    await write(['a1', { key: 'a' }], ['a2', { key: 'a' }], ['b1', { key: 'b' }]);
    const [row] = await fetch(leases, { limit: 1 });
    const fence = epochOf(leases, row);
    const reason = { kind: 'too-large', text: 'no', blocks: true };
    expect(await store.outbox.refuse({ ...fence, epoch: 0 }, reason, never)).toBe(false);
    expect(await store.outbox.refuse(fence, reason, never)).toBe(true);
    expect(ids(await fetch(leases))).toEqual(['b1']);
    expect(await store.outbox.depth(never)).toEqual({
      ready: 2,
      refused: 1,
      oldestAtMs: clock.now(),
    });
    expect(await store.outbox.retryRefused({ ids: ['a1'] })).toBe(1);
    expect(ids(await fetch(leases))).toEqual(['a1', 'a2', 'b1']);
    await store.outbox.refuse(fence, { ...reason, blocks: false }, never);
    expect(ids(await fetch(leases))).toEqual(['a2', 'b1']);
  });
});
