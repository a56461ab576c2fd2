import { MemoryStoreError } from '@ackord/memory';
import { describe, expect, it } from 'vitest';
import { permanent, transient } from '../../src/failure/failures.ts';
import { Answered, effect, PipelineRig } from './pipeline-fixture.ts';

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

  it('ends a run whose error cannot be read like any other, and gives its transaction back', async () => {
    const trap = (): never => {
      throw new Error('trap');
    };
    const rig = new PipelineRig({
      run: async (message, context) => {
        await effect(message, context);
        throw new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap });
      },
    });
    expect(await rig.verdict('m')).toMatchObject({ step: 'retry' });
    expect(rig.database.effects('m')).toBe(0);
    expect(rig.database.attemptRows()).toMatchObject([{ row: { attempts: 1, unknowns: 1 } }]);
    await rig.clock.advance(60_000);
    // Would wait for the claim of a transaction that nobody ends.
    expect(await rig.verdict('m', { redelivered: true })).toMatchObject({ step: 'park' });
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
});
