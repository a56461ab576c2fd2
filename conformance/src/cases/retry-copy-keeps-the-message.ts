import { Buffer } from 'node:buffer';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';
import type { RawMessage } from '../raw-broker.ts';

const OWN = ['ackord-attempt', 'ackord-due', 'ackord-error', 'ackord-retry-from', 'ackord-v'];
const FOREIGN = { 'x-tenant': 'blue', traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` };
/** Longer than the case. */
const LONG_MS = 60_000;

export const retryCopyKeepsTheMessage: ConformanceCase = {
  id: 'D16',
  title: 'a retry copy has the same bytes and headers; only attempt, due time and error change',
  needs: ['buckets'],
  async run(ctx) {
    const [shortMs] = ctx.delaysMs;
    await ctx.startBus({ consumers: [{ options: { retry: { delays: [shortMs, LONG_MS] } } }] });
    const draft = ctx.order(
      { script: ['transient', 'unknown'] },
      {
        aggregate: { type: 'order', id: 'o-7', version: 7 },
        occurredAt: '2026-01-02T03:04:05.678Z',
        correlationId: 'basket-1',
        causationId: 'click-1',
      },
    );
    const { id } = draft;
    const body = Buffer.from(ctx.bodyOf(draft, 'another service'));
    await ctx.publishRaw({ id, body, headers: { ...FOREIGN, 'ackord-first-published': '17' } });

    // The second hop has passed a bucket: nothing of that may stick to it.
    const bucket = { at: 'bucket', delayMs: LONG_MS } as const;
    await ctx.eventually('it waits for its third run', () => ctx.raw.ready(bucket));
    const [copy, ...others] = (await ctx.remaining()) as [RawMessage, ...RawMessage[]];
    expect(others).toEqual([]);
    expect(copy.id).toBe(id);
    expect(copy.type).toBe('order.created');
    expect(Buffer.from(copy.body)).toEqual(body);
    expect(copy.headers).toMatchObject({
      ...FOREIGN,
      'ackord-first-published': '17',
      'ackord-attempt': '3',
      'ackord-unknowns': '1',
      'ackord-error': 'the script says unknown',
    });
    const more = ['ackord-first-published', 'ackord-unknowns', ...Object.keys(FOREIGN)];
    expect(namesOf(copy)).toEqual([...OWN, ...more].toSorted());
    const [, second] = ctx.history.events('message.retried', id);
    expect(copy.headers['ackord-due']).toBe(String(second?.['dueAtMs']));
  },
};

/** Without what brokers and drivers of the suite count in headers of their own. */
const COUNTS = /^x-(?:delivery-count|acquired-count|ackord-publish-tag)$/;

function namesOf({ headers }: RawMessage): readonly string[] {
  return Object.keys(headers)
    .filter((name) => !COUNTS.test(name))
    .toSorted();
}
