import { Buffer } from 'node:buffer';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

const FOREIGN = { 'x-tenant': 'blue', traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` };

export const parkedRecordIsComplete: ConformanceCase = {
  id: 'E01',
  title: 'a parked record has bytes, headers, reason, class, attempts, errors, source and times',
  async run(ctx) {
    const running = await ctx.startBus();
    const draft = ctx.order(
      { script: ['transient', 'unknown', 'permanent'], pad: 'ünï\u0000' },
      { correlationId: 'basket-1', aggregate: { type: 'order', id: 'o-7', version: 7 } },
    );
    const { id } = draft;
    const body = Buffer.from(ctx.bodyOf(draft, 'another service'));
    await ctx.publishRaw({ id, body, headers: FOREIGN });
    const { headers, ...copy } = await ctx.parked(id);

    expect(Buffer.from(copy.body)).toEqual(body);
    expect(copy.type).toBe('order.created');
    expect(headers).toMatchObject({
      ...FOREIGN,
      'ackord-attempt': '3',
      'ackord-park-id': id,
      'ackord-park-type': 'order.created',
      'ackord-park-schema-version': '1',
      'ackord-park-producer': 'another service',
      'ackord-park-correlation-id': 'basket-1',
      'ackord-park-traceparent': FOREIGN.traceparent,
      'ackord-park-reason': 'permanent',
      'ackord-park-failure': 'permanent',
      'ackord-park-attempts': '3',
      'ackord-park-total-attempts': '3',
      'ackord-park-cycle': '0',
      'ackord-park-destination': ctx.name('orders'),
      'ackord-park-consumer': ctx.name(),
      'ackord-park-error-type': 'PermanentError',
      'ackord-park-error': 'the script says permanent',
      // The last copy tells the failure before.
      'ackord-error': 'the script says unknown',
    });
    expect(headers['ackord-park-fingerprint']).toMatch(/^[0-9a-f]{16,64}$/);
    // Where it first came by, not the place of the last retry.
    expect(['order.created', ctx.name('orders')]).toContain(headers['ackord-park-routing-key']);
    const [first, , last] = ctx.history.events('message.failed', id);
    const at = (name: string): number => Number(headers[`ackord-park-${name}`]);
    expect(at('first-failed')).toBeLessThanOrEqual(first?.atMs ?? 0);
    expect(at('last-failed')).toBeLessThanOrEqual(last?.atMs ?? 0);
    const [shortMs, longMs] = ctx.delaysMs;
    expect(at('last-failed') - at('first-failed')).toBeGreaterThanOrEqual(shortMs + longMs);
    expect(at('at')).toBeGreaterThanOrEqual(at('last-failed'));

    // The library reads it back as it stands.
    const [record, ...others] = await running.parked(ctx.name());
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      messageId: id,
      reason: 'permanent',
      attempts: 3,
      firstFailedAtMs: at('first-failed'),
      errorText: 'the script says permanent',
    });
    expect(Buffer.from(record?.body ?? [])).toEqual(body);
    expect(await ctx.remaining()).toEqual([]);
  },
};
