import { MemoryStoreError } from '@ackord/memory';
import { describe, expect, it } from 'vitest';
import { BusinessRejection } from '../../src/failure/failures.ts';
import { Answered, effect, PipelineRig, type Run } from './pipeline-fixture.ts';

const ACK = { step: 'ack' };

/** A promise that the test resolves. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

describe('a run through the Inbox ends well or badly', () => {
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
