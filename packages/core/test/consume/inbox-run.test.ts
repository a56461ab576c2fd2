import { MemoryStoreError } from '@ackord/memory';
import { describe, expect, it } from 'vitest';
import { BusinessRejection, permanent, transient } from '../../src/failure/failures.ts';
import { Answered, effect, PipelineRig, type Run } from './pipeline-fixture.ts';

const ACK = { step: 'ack' };

/** A promise that the test resolves. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

describe('a run through the Inbox', () => {
  it('commits effect, Inbox row and outbox rows together, then acks', async () => {
    const rig = new PipelineRig({
      run: async (message, context) => {
        await effect(message, context);
        await context.outbox.add(Answered({}, { id: 'answer' }));
        expect(rig.database.outboxRows()).toEqual([]);
      },
    });
    expect(await rig.verdict('m')).toEqual(ACK);
    expect(rig.database.effects('m')).toBe(1);
    expect(rig.database.inboxRows()).toMatchObject([{ messageId: 'm', outcome: 'applied' }]);
    expect(rig.database.outboxRows()).toMatchObject([{ messageId: 'answer' }]);
    expect(rig.filled).toBe(1);
  });

  it('acks a duplicate without a run', async () => {
    let runs = 0;
    const rig = new PipelineRig({
      run: async (message, context) => {
        runs += 1;
        await effect(message, context);
      },
    });
    await rig.take('m');
    expect(await rig.verdict('m', { redelivered: true })).toEqual(ACK);
    expect(runs).toBe(1);
    expect(rig.eventsOf('message.duplicate')).toHaveLength(1);
  });

  it('lets the second of two copies wait for the first, and drops it', async () => {
    const { opened, open } = gate();
    const rig = new PipelineRig({
      run: async (message, context) => {
        await opened;
        await effect(message, context);
      },
    });
    const both = [rig.verdict('m'), rig.verdict('m', { redelivered: true })];
    await rig.clock.advance(10);
    open();
    expect(await Promise.all(both)).toEqual([ACK, ACK]);
    expect(rig.database.effects('m')).toBe(1);
  });

  it('undoes the effect of a failure and records the attempt', async () => {
    const rig = new PipelineRig({
      run: async (message, context) => {
        await effect(message, context);
        throw transient('not yet');
      },
    });
    const dueAtMs = rig.clock.now() + 1_000;
    expect(await rig.verdict('m')).toMatchObject({ step: 'retry', dueAtMs });
    expect(rig.database.effects('m')).toBe(0);
    expect(rig.database.inboxRows()).toEqual([]);
    expect(rig.database.attemptRows()).toMatchObject([{ row: { attempts: 1, dueAtMs } }]);
  });

  it('puts a redelivery off until the due time of the row', async () => {
    const rig = new PipelineRig({ run: () => Promise.reject(transient('not yet')) });
    const first = await rig.verdict('m');
    await rig.clock.advance(999);
    // The copy was lost in a crash: the original comes again, without a header.
    const second = await rig.verdict('m', { redelivered: true });
    expect(second).toMatchObject({
      step: 'defer',
      dueAtMs: rig.clock.now() + 1,
      message: { attempt: 2 },
    });
    await rig.clock.advance(1);
    expect(await rig.verdict('m', rig.again(second))).toMatchObject({ message: { attempt: 2 } });
    expect(first).toMatchObject({ message: { attempt: 1 } });
  });

  it('counts by the row where a return carries no header, and says so', async () => {
    const rig = new PipelineRig({
      delays: 'return',
      run: (_, { attempt }) => (attempt === 1 ? Promise.reject(transient('not yet')) : undefined),
    });
    await rig.take('m');
    await rig.clock.advance(1_000);
    await rig.take('m', { redelivered: true });
    expect(rig.eventsOf('message.applied')).toMatchObject([{ attempt: 2 }]);
  });

  it('gives two forks one budget', async () => {
    let runs = 0;
    const rig = new PipelineRig({
      run: () => {
        runs += 1;
        return Promise.reject(transient('not yet'));
      },
    });
    const copies = [await rig.verdict('m')];
    for (let round = 0; round < 6; round += 1) {
      await rig.clock.advance(6_000);
      const [last = copies[0]] = copies.slice(-1);
      if (last?.step !== 'retry' && last?.step !== 'defer') break;
      const fork = rig.again(last);
      copies.push(await rig.verdict('m', { redelivered: true }), await rig.verdict('m', fork));
    }
    expect(runs).toBe(3);
    expect(copies.at(-1)).toMatchObject({ step: 'park', record: { attempts: 3 } });
  });

  it.each([
    ['a due time that is not earlier', 60_000, { step: 'retry', message: { attempt: 3 } }],
    ['a decision to park', undefined, { step: 'park', record: { reason: 'permanent' } }],
  ] as const)('judges a failure by the row it is recorded in: %s', async (_, dueInMs, expected) => {
    const rig = new PipelineRig({
      run: effect,
      consumer: { retry: { delays: ['1s', '60s', '1s'] } },
    });
    const dueAtMs = dueInMs === undefined ? undefined : rig.clock.now() + dueInMs;
    const { inbox } = rig.store;
    const begin = inbox.begin.bind(inbox);
    // While this BEGIN fails, another copy of the message has its second failure.
    inbox.begin = async (claims, signal) => {
      inbox.begin = begin;
      const other = await begin(claims, signal);
      const failure = { attempt: 2, unknown: false, cycle: 0, atMs: rig.clock.now() };
      await other.fail([{ ...failure, ...(dueAtMs !== undefined && { dueAtMs }) }]);
      throw new MemoryStoreError('transient');
    };
    const verdict = await rig.verdict('m');
    expect(verdict).toMatchObject(expected);
    if (verdict.step === 'retry') expect(verdict.dueAtMs).toBe(dueAtMs);
    expect(rig.database.attemptRows()[0]?.row.dueAtMs).toBe(dueAtMs);
  });

  it('counts no attempt for a copy that waited for the claim of another in vain', async () => {
    const rig = new PipelineRig({ run: effect, consumer: { handlerTimeout: '2s' } });
    const holder = await rig.store.inbox.begin(
      [{ consumer: 'reserve', messageId: 'm', guarded: true }],
      new AbortController().signal,
    );
    const copy = rig.verdict('m', { redelivered: true });
    await rig.clock.advance(2_000);
    expect(await copy).toMatchObject({ step: 'keep' });
    await holder.rollback();
    expect(rig.database.attemptRows()).toEqual([]);
    expect(await rig.verdict('m', { redelivered: true })).toEqual(ACK);
  });

  it('gives a handler its full time after a wait for the claim', async () => {
    const rig = new PipelineRig({
      consumer: { handlerTimeout: '2s' },
      run: async (message, context) => {
        await new Promise<void>((resolve) => rig.clock.after(1_500, resolve));
        await effect(message, context);
      },
    });
    const holder = await rig.store.inbox.begin(
      [{ consumer: 'reserve', messageId: 'm', guarded: true }],
      new AbortController().signal,
    );
    const taken = rig.verdict('m');
    await rig.clock.advance(1_900);
    await holder.rollback();
    await rig.clock.advance(1_500);
    expect(await taken).toEqual(ACK);
    expect(rig.clock.pending()).toBe(0);
  });

  it.each([0, 1_900])('ends a handler in time after a wait of %i ms', async (waitMs) => {
    const rig = new PipelineRig({
      consumer: { handlerTimeout: '2s' },
      run: () => new Promise(() => undefined),
    });
    const holder = await rig.store.inbox.begin(
      [{ consumer: 'reserve', messageId: 'm', guarded: true }],
      new AbortController().signal,
    );
    let verdict = 'none';
    const taken = rig.verdict('m').then((each) => {
      verdict = each.step;
    });
    await rig.clock.advance(waitMs);
    await holder.rollback();
    await rig.clock.advance(1_999);
    expect(verdict).toBe('none');
    await rig.clock.advance(1);
    await taken;
    expect(verdict).toBe('retry');
  });

  it('parks again, without a run, what was parked before a crash', async () => {
    let runs = 0;
    const rig = new PipelineRig({
      run: () => {
        runs += 1;
        return Promise.reject(permanent('never'));
      },
    });
    const first = await rig.verdict('m');
    const again = await rig.verdict('m', { redelivered: true });
    const record = first.step === 'park' && first.record;
    expect(record).toMatchObject({ reason: 'permanent', errorText: 'never' });
    const { reason, errorType, errorText, fingerprint } = record || {};
    expect(again).toMatchObject({
      step: 'park',
      record: { reason, errorType, errorText, fingerprint },
    });
    expect(runs).toBe(1);
  });

  it('does not ack when COMMIT was answered with ROLLBACK', async () => {
    const rig = new PipelineRig({ run: effect });
    rig.database.refuseNextCommit();
    expect((await rig.verdict('m')).step).not.toBe('ack');
    expect(rig.database.effects('m')).toBe(0);
    expect(rig.database.attemptRows()).toHaveLength(1);
  });

  it.each(['before', 'after'] as const)(
    'leaves it to the redelivery when the answer to COMMIT was lost %s it took effect',
    async (when) => {
      const rig = new PipelineRig({ run: effect });
      rig.database.loseNextCommit(when);
      const verdict = await rig.verdict('m');
      expect(verdict.step).toBe('retry');
      await rig.clock.advance(1_000);
      expect(await rig.verdict('m', rig.again(verdict))).toEqual(ACK);
      expect(rig.database.effects('m')).toBe(1);
    },
  );

  it('commits the result of a business rejection without the effect', async () => {
    const rig = new PipelineRig({
      run: async (message, context) => {
        await effect(message, context);
        throw new BusinessRejection(Answered({}, { id: 'answer' }));
      },
    });
    expect(await rig.verdict('m')).toEqual(ACK);
    expect(rig.database.effects('m')).toBe(0);
    expect(rig.database.inboxRows()).toMatchObject([{ outcome: 'rejected' }]);
    expect(rig.database.outboxRows()).toMatchObject([{ messageId: 'answer' }]);
    expect(rig.database.attemptRows()).toEqual([]);
    expect(rig.filled).toBe(1);
  });

  it('keeps a rejection whose second transaction failed for a retry', async () => {
    const rig = new PipelineRig({
      run: () => {
        rig.database.down();
        return Promise.reject(new BusinessRejection(Answered({}, { id: 'answer' })));
      },
    });
    expect((await rig.verdict('m')).step).toBe('retry');
    expect(rig.database.inboxRows()).toEqual([]);
  });

  it.each([
    [3, 'ack', 0],
    [4, 'retry', 1],
  ] as const)(
    'repeats a deadlock in place: %i of them end in %s',
    async (count, step, attempts) => {
      let runs = 0;
      const rig = new PipelineRig({
        run: async (message, context) => {
          runs += 1;
          await effect(message, context);
          if (runs <= count) throw new MemoryStoreError('again');
        },
      });
      expect((await rig.verdict('m')).step).toBe(step);
      expect(runs).toBe(4);
      expect(rig.database.attemptRows()).toHaveLength(attempts);
    },
  );

  it('rolls a handler back at its timeout, and tells when it returns', async () => {
    const { opened, open } = gate();
    const late: unknown[] = [];
    const rig = new PipelineRig({
      consumer: { handlerTimeout: '2s' },
      run: async (message, context) => {
        await opened;
        await effect(message, context).catch((error: unknown) => late.push(error));
      },
    });
    const taken = rig.take('m');
    await rig.clock.advance(2_000);
    const { verdict, lingering } = await taken;
    expect(verdict).toMatchObject({ step: 'retry' });
    let hasReturned = false;
    const returned = lingering?.then(() => {
      hasReturned = true;
    });
    await rig.clock.advance(10_000);
    expect(hasReturned).toBe(false);
    expect(rig.events.filter(({ event }) => event === 'handler.stuck')).toHaveLength(1);
    open();
    await returned;
    expect(late).toMatchObject([{ code: 'MSG_STORE_TX_ENDED' }]);
    expect(rig.database.openTransactions()).toBe(0);
  });

  it('keeps a message that the shutdown stopped, and counts no attempt', async () => {
    const rig = new PipelineRig({ run: () => new Promise(() => undefined) });
    const taken = rig.verdict('m');
    await rig.clock.advance(10);
    rig.stop.abort(new Error('stopping'));
    expect(await taken).toMatchObject({ step: 'keep' });
    expect(rig.database.attemptRows()).toEqual([]);
    expect(rig.database.openTransactions()).toBe(0);
  });

  it('counts by the header while the store is down, and records nothing', async () => {
    const rig = new PipelineRig({ run: effect });
    rig.database.down();
    const verdicts = [await rig.verdict('m')];
    for (let n = 0; n < 2; n += 1) {
      await rig.clock.advance(6_000);
      const [last] = verdicts.slice(-1);
      if (last !== undefined) verdicts.push(await rig.verdict('m', rig.again(last)));
    }
    expect(verdicts).toMatchObject([
      { step: 'retry', message: { attempt: 1 } },
      { step: 'retry', message: { attempt: 2 } },
      { step: 'park', record: { attempts: 3, reason: 'attempts' } },
    ]);
    expect(rig.eventsOf('message.failed').every(({ unrecorded }) => unrecorded)).toBe(true);
  });

  it('counts by the broker where the store is down and no header can carry the count', async () => {
    const rig = new PipelineRig({ run: effect, delays: 'return' });
    rig.database.down();
    expect(await rig.verdict('m', { nativeCount: 3 })).toMatchObject({
      step: 'park',
      record: { attempts: 3 },
    });
    rig.database.up();
    expect(await rig.verdict('m', { nativeCount: 9 })).toEqual(ACK);
  });

  it('drops what is older than the latest version of its aggregate', async () => {
    const run: Run = effect;
    const rig = new PipelineRig({ run, consumer: { order: 'latest' } });
    const of = (version: number) => ({ aggregate: { type: 'order', id: 'a', version } });
    await rig.take('v2', of(2));
    expect(await rig.verdict('v1', of(1))).toEqual(ACK);
    expect(await rig.verdict('v3', of(3))).toEqual(ACK);
    expect(rig.database.inboxRows().map(({ outcome }) => outcome)).toEqual([
      'applied',
      'stale',
      'applied',
    ]);
    expect(rig.database.effects('v1')).toBe(0);
  });

  it('parks what has expired on request, but not what had its effect before', async () => {
    const rig = new PipelineRig({ run: effect, consumer: { expired: 'park' } });
    const expiresAt = new Date(rig.clock.now() + 1_000);
    expect(await rig.verdict('in-time', { expiresAt })).toEqual(ACK);
    await rig.clock.advance(2_000);
    expect(await rig.verdict('in-time', { expiresAt })).toEqual(ACK);
    expect(await rig.verdict('late', { expiresAt })).toMatchObject({
      step: 'park',
      record: { reason: 'age' },
    });
    expect(rig.database.inboxRows()).toHaveLength(1);
    expect(rig.database.openTransactions()).toBe(0);
  });

  it('settles what has expired without a run', async () => {
    const rig = new PipelineRig({ run: effect });
    const expiresAt = new Date(rig.clock.now());
    expect(await rig.verdict('m', { expiresAt })).toEqual(ACK);
    expect(rig.database.inboxRows()).toMatchObject([{ outcome: 'expired' }]);
  });

  it.each(['inbox.claimed', 'handler.before', 'commit.before'] as const)(
    'counts an interceptor that throws in %s as a failure of the run',
    async (step) => {
      const rig = new PipelineRig({
        run: effect,
        intercept: (name) => {
          if (name === step) throw new Error('broken');
        },
      });
      expect((await rig.verdict('m')).step).toBe('retry');
      expect(rig.database.effects('m')).toBe(0);
      expect(rig.database.openTransactions()).toBe(0);
    },
  );

  it('keeps the effect when an interceptor throws after COMMIT', async () => {
    const rig = new PipelineRig({
      run: effect,
      intercept: (name) => {
        if (name === 'commit.after') throw new Error('broken');
      },
    });
    expect((await rig.verdict('m')).step).toBe('keep');
    expect(rig.database.effects('m')).toBe(1);
    expect(await rig.verdict('m')).toEqual(ACK);
  });
});
