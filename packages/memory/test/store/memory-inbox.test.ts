import { ManualClock } from '@ackord/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryDatabase } from '../../src/store/memory-database.ts';
import { type MemoryStore, memoryStore } from '../../src/store/memory-store.ts';
import { applied, begin, claim, isPending, message, never } from './store-fixture.ts';

const add = (n: number) => (before: number | undefined) => (before ?? 0) + n;

let clock: ManualClock;
let database: MemoryDatabase;
let store: MemoryStore;

beforeEach(() => {
  clock = new ManualClock();
  database = new MemoryDatabase({ clock });
  store = memoryStore({ database });
});

describe('claims', () => {
  it('are fresh once per consumer and message', async () => {
    const unit = await begin(store, 'm1');
    expect(unit.claimed).toEqual([{ fresh: true }]);
    await unit.commit(applied);
    const again = await begin(store, 'm1');
    expect(again.claimed).toEqual([{ fresh: false }]);
    await again.rollback();
    const other = await store.inbox.begin([claim('m1', { consumer: 'audit' })], never);
    expect(other.claimed).toEqual([{ fresh: true }]);
    await other.rollback();
    expect(database.inboxRows()).toMatchObject([{ consumer: 'reserve', outcome: 'applied' }]);
  });

  it('are fresh once within one batch', async () => {
    const unit = await begin(store, 'm1', 'm1');
    expect(unit.claimed).toEqual([{ fresh: true }, { fresh: false }]);
    await unit.rollback();
  });

  it.each([
    ['commit', false],
    ['rollback', true],
  ] as const)('wait for the first claimer: after its %s fresh is %s', async (end, fresh) => {
    const first = await begin(store, 'm1');
    const second = begin(memoryStore({ database }), 'm1');
    expect(await isPending(second)).toBe(true);
    await (end === 'commit' ? first.commit(applied) : first.rollback());
    const unit = await second;
    expect(unit.claimed).toEqual([{ fresh }]);
    await unit.rollback();
    expect(database.openTransactions()).toBe(0);
  });

  it('leave nothing open when their signal aborts while they wait', async () => {
    const first = await begin(store, 'm1');
    const stop = new AbortController();
    const second = store.inbox.begin([claim('m1')], stop.signal);
    stop.abort(new Error('stopped'));
    await expect(second).rejects.toThrow('stopped');
    expect(database.openTransactions()).toBe(1);
    await first.rollback();
    const third = await begin(store, 'm1');
    await third.rollback();
  });

  it('read and lock the version of their aggregate', async () => {
    const aggregate = { type: 'order', id: '42' };
    const first = await store.inbox.begin([claim('m1', { aggregate })], never);
    expect(first.claimed).toEqual([{ fresh: true }]);
    const second = store.inbox.begin([claim('m2', { aggregate })], never);
    expect(await isPending(second)).toBe(true);
    await first.commit({ outcomes: [{ outcome: 'applied', version: 7 }], outbox: [] });
    const unit = await second;
    expect(unit.claimed).toEqual([{ fresh: true, lastVersion: 7 }]);
    await unit.rollback();
  });
});

describe('a unit of work', () => {
  it('shows nothing before commit, everything after', async () => {
    const unit = await begin(store, 'm1');
    await unit.tx.effect('stock', add(3));
    expect(await unit.tx.get('stock')).toBe(3);
    expect([database.effect('stock'), database.effects('stock')]).toEqual([undefined, 0]);
    await unit.commit({ ...applied, outbox: [message('o1')] });
    expect([database.effect('stock'), database.effects('stock')]).toEqual([3, 1]);
    expect(database.outboxRows().map(({ messageId }) => messageId)).toEqual(['o1']);
  });

  it('leaves nothing behind when it rolls back', async () => {
    const unit = await begin(store, 'm1');
    await unit.tx.effect('stock', add(3));
    await store.outbox.add(unit.tx, [message('o1')]);
    await unit.rollback();
    await unit.rollback();
    expect(database.effect('stock')).toBeUndefined();
    expect([database.inboxRows(), database.outboxRows()]).toEqual([[], []]);
  });

  it('locks what it changes until its end', async () => {
    const first = await begin(store, 'm1');
    const second = await begin(store, 'm2');
    await first.tx.effect('stock', add(1));
    const waits = second.tx.effect('stock', add(1));
    expect(await isPending(waits)).toBe(true);
    await first.commit(applied);
    expect(await waits).toBe(2);
    await second.commit(applied);
    expect([database.effect('stock'), database.effects('stock')]).toEqual([2, 2]);
  });

  it('is told of a deadlock, which is worth repeating', async () => {
    const first = await begin(store, 'm1');
    const second = await begin(store, 'm2');
    await first.tx.effect('a', add(1));
    await second.tx.effect('b', add(1));
    const waits = first.tx.effect('b', add(1));
    const error: unknown = await second.tx.effect('a', add(1)).catch((e: unknown) => e);
    expect(store.classify(error)).toBe('again');
    await second.rollback();
    expect(await waits).toBe(1);
    await first.commit(applied);
  });

  it('ends its tx: later statements reject, also those that still wait', async () => {
    const first = await begin(store, 'm1');
    const second = await begin(store, 'm2');
    await first.tx.effect('stock', add(1));
    const waits = second.tx.effect('stock', add(1));
    expect(await isPending(waits)).toBe(true);
    await second.rollback();
    await expect(waits).rejects.toMatchObject({ code: 'MSG_STORE_TX_ENDED' });
    await first.commit(applied);
    await expect(first.tx.effect('stock', add(1))).rejects.toMatchObject({
      code: 'MSG_STORE_TX_ENDED',
    });
    const third = await begin(store, 'm3');
    expect(await third.tx.effect('stock', add(1))).toBe(2);
    await third.rollback();
  });

  it('stops its tx when the signal of begin aborts', async () => {
    const stop = new AbortController();
    const unit = await store.inbox.begin([claim('m1')], stop.signal);
    stop.abort();
    await expect(unit.tx.get('stock')).rejects.toMatchObject({ code: 'MSG_STORE_TX_ENDED' });
    await unit.rollback();
  });

  it('is refused at commit after a statement failed, even when that was swallowed', async () => {
    const unit = await begin(store, 'm1');
    await unit.tx
      .effect('stock', () => {
        throw new Error('check violation');
      })
      .catch(() => undefined);
    await expect(unit.tx.get('stock')).rejects.toThrow('aborted');
    await expect(unit.commit({ ...applied, outbox: [message('o1')] })).rejects.toMatchObject({
      code: 'MSG_STORE_COMMIT_REFUSED',
    });
    expect([database.inboxRows(), database.openTransactions()]).toEqual([[], 0]);
  });
});

describe('failures', () => {
  const failure = {
    attempt: 1,
    unknown: false,
    cycle: 0,
    atMs: 100,
    dueAtMs: 200,
    errorText: 'boom',
  };

  it('are recorded while the claim is undone', async () => {
    const unit = await begin(store, 'm1');
    await unit.tx.effect('stock', add(1));
    await unit.fail([failure]);
    expect([database.effect('stock'), database.inboxRows()]).toEqual([undefined, []]);
    const again = await begin(store, 'm1');
    const row = {
      attempts: 1,
      unknowns: 0,
      firstFailedAtMs: 100,
      lastFailedAtMs: 100,
      dueAtMs: 200,
      redriveCount: 0,
      totalAttempts: 1,
      errorText: 'boom',
    };
    expect(again.claimed).toEqual([{ fresh: true, attempts: row }]);
    await again.fail([{ attempt: 1, unknown: true, cycle: 0, atMs: 300 }]);
    expect(database.attemptRows()).toMatchObject([
      { row: { attempts: 2, unknowns: 1, firstFailedAtMs: 100, lastFailedAtMs: 300 } },
    ]);
    expect(database.attemptRows()[0]?.row).not.toHaveProperty('dueAtMs');
  });

  it('take the larger count of row and run, and are gone after a success', async () => {
    await (await begin(store, 'm1')).fail([failure]);
    await (await begin(store, 'm1')).fail([{ ...failure, attempt: 5 }]);
    expect(database.attemptRows()[0]?.row).toMatchObject({ attempts: 5, totalAttempts: 5 });
    await (await begin(store, 'm1')).commit(applied);
    expect(database.attemptRows()).toEqual([]);
  });

  it('start anew with a later redrive cycle, and only add in an earlier one', async () => {
    await (await begin(store, 'm1')).fail([{ ...failure, attempt: 4, unknown: true }]);
    await (await begin(store, 'm1')).fail([{ ...failure, cycle: 1, atMs: 900 }]);
    expect(database.attemptRows()[0]?.row).toMatchObject({
      attempts: 1,
      unknowns: 0,
      firstFailedAtMs: 900,
      redriveCount: 1,
      totalAttempts: 5,
    });
    await (await begin(store, 'm1')).fail([{ ...failure, attempt: 9 }]);
    expect(database.attemptRows()[0]?.row).toMatchObject({ attempts: 2, totalAttempts: 6 });
  });

  it('keep the later due time, and a decision to park', async () => {
    const dues: (number | undefined)[] = [];
    for (const dueAtMs of [5_000, 2_000, 9_000, undefined, 12_000]) {
      const { dueAtMs: _, ...rest } = failure;
      const unit = await begin(store, 'm1');
      await unit.fail([{ ...rest, ...(dueAtMs !== undefined && { dueAtMs }) }]);
      dues.push(database.attemptRows()[0]?.row.dueAtMs);
    }
    expect(dues).toEqual([5_000, 5_000, 9_000, undefined, undefined]);
  });

  it('are seen by whoever waited for the claim', async () => {
    const first = await begin(store, 'm1');
    const second = begin(store, 'm1');
    await first.fail([failure]);
    const unit = await second;
    expect(unit.claimed[0]?.attempts?.attempts).toBe(1);
    await unit.rollback();
  });

  it('are recorded only where there is one', async () => {
    const unit = await begin(store, 'm1', 'm2', 'm2');
    await unit.fail([undefined, failure, failure]);
    expect(database.attemptRows()[0]?.row.attempts).toBe(1);
    expect(database.attemptRows().map(({ messageId }) => messageId)).toEqual(['m2']);
  });
});

describe('purging', () => {
  it('forgets what is older than the window of its consumer', async () => {
    await (await begin(store, 'old')).commit(applied);
    const theirs = await store.inbox.begin([claim('theirs', { consumer: 'audit' })], never);
    await theirs.commit(applied);
    await clock.advance(1_000);
    await (await begin(store, 'new')).commit(applied);
    await clock.advance(1);
    expect(
      await store.inbox.purge({ consumer: 'reserve', olderThanMs: 1_000, signal: never }),
    ).toBe(1);
    expect(database.inboxRows().map(({ messageId }) => messageId)).toEqual(['theirs', 'new']);
  });
});

describe('outages', () => {
  it('break what is open and refuse everything until the store is up', async () => {
    const unit = await begin(store, 'm1');
    await unit.tx.effect('stock', add(1));
    const waits = begin(store, 'm1');
    database.down();
    for (const call of [
      waits,
      unit.tx.get('stock'),
      unit.commit(applied),
      unit.fail([{ attempt: 1, unknown: false, cycle: 0, atMs: 0 }]),
      begin(store, 'm2'),
      store.open(never),
      store.outbox.depth(never),
    ]) {
      const error: unknown = await call.then(
        () => undefined,
        (e: unknown) => e,
      );
      expect(store.classify(error)).toBe('down');
    }
    await unit.rollback();
    database.up();
    const again = await begin(store, 'm1');
    expect([again.claimed, database.effect('stock')]).toEqual([[{ fresh: true }], undefined]);
    await again.commit(applied);
    await unit.fail([{ attempt: 1, unknown: false, cycle: 0, atMs: 0 }]);
    expect(database.attemptRows().length).toBe(1);
  });

  it.each([
    ['before', 0],
    ['after', 1],
  ] as const)('lose the answer to COMMIT %s it took effect', async (when, rows) => {
    database.loseNextCommit(when);
    const unit = await begin(store, 'm1');
    await unit.tx.effect('stock', add(1));
    const error: unknown = await unit.commit(applied).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'MSG_STORE_COMMIT_UNKNOWN' });
    expect(store.classify(error)).toBe('down');
    expect([database.inboxRows().length, database.effects('stock')]).toEqual([rows, rows]);
    const again = await begin(store, 'm1');
    expect(again.claimed[0]?.fresh).toBe(rows === 0);
    await again.rollback();
  });

  it('answer COMMIT with ROLLBACK when asked', async () => {
    database.refuseNextCommit();
    const unit = await begin(store, 'm1');
    await expect(unit.commit(applied)).rejects.toMatchObject({ code: 'MSG_STORE_COMMIT_REFUSED' });
    expect(database.inboxRows()).toEqual([]);
  });

  it('of one process roll back only what it had open', async () => {
    const other = memoryStore({ database });
    const unit = await begin(store, 'm1');
    const theirs = await begin(other, 'm2');
    const waits = begin(other, 'm1');
    store.kill();
    const taken = await waits;
    expect(taken.claimed).toEqual([{ fresh: true }]);
    await taken.commit(applied);
    await theirs.commit(applied);
    await expect(unit.commit(applied)).rejects.toMatchObject({ kind: 'down' });
    await expect(begin(store, 'm3')).rejects.toMatchObject({ kind: 'down' });
  });
});
