import { describe, expect, it } from 'vitest';
import { BusinessRejection, permanent, transient } from '../../src/failure/failures.ts';
import { Answered, PipelineRig, type Run } from './pipeline-fixture.ts';

const without = (run: Run, more: Partial<ConstructorParameters<typeof PipelineRig>[0]> = {}) =>
  new PipelineRig({ run, withoutStore: true, ...more });

describe('a run without an Inbox', () => {
  it('acks what the handler did, at every delivery', async () => {
    const ids: string[] = [];
    const rig = without(({ id }) => void ids.push(id));
    expect(await rig.verdict('m')).toEqual({ step: 'ack' });
    expect(await rig.verdict('m', { redelivered: true })).toEqual({ step: 'ack' });
    expect(ids).toEqual(['m', 'm']);
    expect(rig.eventsOf('message.applied')).toHaveLength(2);
  });

  it('counts attempts by the header, and parks after the last', async () => {
    const attempts: number[] = [];
    const rig = without((_, { attempt }) => {
      attempts.push(attempt);
      return Promise.reject(transient('not yet'));
    });
    let verdict = await rig.verdict('m');
    while (verdict.step === 'retry' && attempts.length < 10) {
      await rig.clock.advance(verdict.delayMs);
      verdict = await rig.verdict('m', rig.again(verdict));
    }
    expect(attempts).toEqual([1, 2, 3]);
    expect(verdict).toMatchObject({ step: 'park', record: { reason: 'attempts', attempts: 3 } });
    expect(rig.eventsOf('message.failed').every(({ unrecorded }) => unrecorded)).toBe(true);
  });

  it('ends a run whose error cannot be read like any other', async () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const rig = without(() => Promise.reject(revoked.proxy));
    expect(await rig.verdict('m')).toMatchObject({ step: 'retry', message: { unknowns: 1 } });
  });

  it('counts by the broker where a return carries no header', async () => {
    const rig = without(() => Promise.reject(transient('not yet')), { delays: 'return' });
    expect(await rig.verdict('m', { nativeCount: 2 })).toMatchObject({
      step: 'retry',
      message: { attempt: 2 },
    });
    expect(await rig.verdict('m', { nativeCount: 3 })).toMatchObject({ step: 'park' });
  });

  it('parks a permanent failure at once', async () => {
    const rig = without(() => Promise.reject(permanent('never')));
    expect(await rig.verdict('m')).toMatchObject({
      step: 'park',
      record: { reason: 'permanent', attempts: 1 },
    });
  });

  it('acks a business rejection without events, and refuses one with events', async () => {
    const silent = without(() => Promise.reject(new BusinessRejection([], 'out of stock')));
    expect(await silent.verdict('m')).toEqual({ step: 'ack' });
    expect(silent.eventsOf('message.rejected')).toMatchObject([{ reason: 'out of stock' }]);
    const loud = without(() => Promise.reject(new BusinessRejection(Answered({}))));
    expect((await loud.verdict('m')).step).toBe('park');
  });

  it.each([
    ['tx', (context: { tx: unknown }) => context.tx],
    ['outbox', (context: { outbox: { add(): Promise<void> } }) => context.outbox.add()],
  ] as const)('refuses context.%s, which needs a store', async (_, use) => {
    const errors: unknown[] = [];
    const rig = without(async (_message, context) => {
      try {
        await use(context as never);
      } catch (error) {
        errors.push(error);
      }
    });
    await rig.take('m');
    expect(errors).toMatchObject([{ code: 'MSG_CONFIG_NO_STORE' }]);
  });

  it('aborts a handler at its timeout and tells when it returns', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let signal: AbortSignal | undefined;
    const rig = without(
      (_, context) => {
        signal = context.signal;
        return promise;
      },
      { consumer: { handlerTimeout: '2s' } },
    );
    const taken = rig.take('m');
    await rig.clock.advance(2_000);
    const { verdict, lingering } = await taken;
    expect(verdict.step).toBe('retry');
    expect(signal?.aborted).toBe(true);
    resolve();
    await lingering;
  });

  it('keeps what the shutdown stopped', async () => {
    const rig = without(() => new Promise(() => undefined));
    const taken = rig.verdict('m');
    await rig.clock.advance(10);
    rig.stop.abort(new Error('stopping'));
    expect((await taken).step).toBe('keep');
  });

  it('settles what has expired without a run', async () => {
    let runs = 0;
    const rig = without(() => {
      runs += 1;
    });
    expect(await rig.verdict('m', { expiresAt: new Date(rig.clock.now()) })).toEqual({
      step: 'ack',
    });
    expect(runs).toBe(0);
    expect(rig.eventsOf('message.expired')).toHaveLength(1);
  });
});
