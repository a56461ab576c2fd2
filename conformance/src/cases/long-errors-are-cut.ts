import { on } from '@ackord/core';
import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

const LONG = 1024 * 1024;
/** Of an error text, in UTF-16 units. */
const KEPT = 512;

export const longErrorsAreCut: ConformanceCase = {
  id: 'E01b',
  title: 'an error text of 1 MiB and its stack are cut, and the message is retried and parked',
  async run(ctx) {
    const fails = on(ctx.contracts.OrderCreated, () => {
      const error = new Error(`é\n${'x'.repeat(LONG)}`);
      error.name = 'Y'.repeat(LONG);
      throw error;
    });
    await ctx.startBus({ consumers: [{ handlers: [fails] }] });
    const id = await ctx.publish();
    const { headers } = await ctx.parked(id);
    expect(headers['ackord-park-reason']).toBe('unknown');
    expect(headers['ackord-park-attempts']).toBe('2');
    for (const name of ['ackord-park-error', 'ackord-error']) {
      const text = decodeURIComponent(headers[name] ?? '');
      expect(text).toMatch(/^é\nx+/);
      expect(text.length).toBeLessThanOrEqual(KEPT);
    }
    expect(headers['ackord-park-error-type']).toMatch(/^Y{1,128}$/);
    expect(JSON.stringify(headers).length).toBeLessThan(4_096);
    expect(await ctx.remaining()).toEqual([]);
  },
};
