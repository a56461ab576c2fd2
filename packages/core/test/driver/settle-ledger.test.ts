import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Settle, Token } from '../../src/driver/driver.ts';
import { SettleLedger } from '../../src/driver/settle-ledger.ts';

function ledger(count: number) {
  const calls: string[] = [];
  const write =
    (name: string) =>
    (handle: number, upTo: boolean): void => {
      calls.push(`${name} ${upTo ? '..' : ''}${handle}`);
    };
  const held = new SettleLedger<number>({ ack: write('ack'), release: write('release') });
  const tokens = Array.from({ length: count }, (_, at) => held.add(at + 1));
  const settle = (how: Settle['do'], ...handles: readonly number[]) =>
    held.settle(
      handles.map((handle) => ({ token: tokens[handle - 1] as Token, how: { do: how } as Settle })),
    );
  return { held, calls, tokens, settle };
}

describe('SettleLedger', () => {
  it('takes one call for the prefix and one for each of the rest', () => {
    const { held, calls, settle } = ledger(6);
    expect(settle('ack', 5, 2, 1, 3)).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(calls).toEqual(['ack ..3', 'ack 5']);
    expect(held.size).toBe(2);
  });

  it('says upTo only where it covers more than one', () => {
    const { calls, settle } = ledger(2);
    settle('ack', 1);
    settle('release', 2);
    expect(calls).toEqual(['ack 1', 'release 2']);
  });

  it('is stale the second time, in one batch too, and for a foreign token', () => {
    const { held, calls, settle } = ledger(3);
    expect(settle('ack', 1, 1)).toEqual(['ok', 'stale']);
    expect(settle('release', 1)).toEqual(['stale']);
    const foreign = [{ handle: 2, dropped: false }, undefined, null, 2, 'x'];
    const answers = held.settle(foreign.map((token) => ({ token, how: { do: 'ack' } })));
    expect(new Set(answers)).toEqual(new Set(['stale']));
    expect(calls).toEqual(['ack 1']);
  });

  it('never covers what was dropped by a group', () => {
    const { held, calls, settle } = ledger(4);
    expect(settle('drop', 2)).toEqual(['ok']);
    expect(held.size).toBe(3);
    expect(settle('ack', 1, 3, 4, 2)).toEqual(['ok', 'ok', 'ok', 'stale']);
    expect(calls).toEqual(['ack 1', 'ack 3', 'ack 4']);
  });

  it('hands everything back but what was dropped', () => {
    const { held, calls, settle } = ledger(3);
    settle('drop', 3);
    expect(held.sent).toBe(0);
    held.releaseAll();
    expect(calls).toEqual(['release ..2']);
    expect(held.sent).toBe(1);
    expect(held.size).toBe(0);
  });

  it('answers unknown to return and extend and keeps the delivery', () => {
    const { held, tokens, settle } = ledger(1);
    const token = tokens[0];
    expect(held.settle([{ token, how: { do: 'return', delayMs: 5 } }])).toEqual(['unknown']);
    expect(held.settle([{ token, how: { do: 'extend', ms: 5 } }])).toEqual(['unknown']);
    expect(settle('ack', 1)).toEqual(['ok']);
  });

  it('is stale for all when a call throws', () => {
    const held = new SettleLedger<number>({
      ack: () => {
        throw new Error('closed');
      },
      release: () => {},
    });
    const batch = [1, 2].map((at) => ({ token: held.add(at), how: { do: 'ack' } as const }));
    expect(held.settle(batch)).toEqual(['stale', 'stale']);
  });

  it('is stale after clear', () => {
    const { held, settle } = ledger(2);
    settle('drop', 1);
    held.clear();
    expect(held.size).toBe(0);
    expect(settle('ack', 2)).toEqual(['stale']);
  });

  it('settles each once, whatever the order and grouping', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.integer({ min: 1, max: 20 }))), (batches) => {
        const { calls, settle, held } = ledger(20);
        for (const batch of batches) settle('ack', ...batch);
        const open = new Set(Array.from({ length: 20 }, (_, at) => at + 1));
        for (const call of calls) {
          const upTo = call.includes('..');
          const last = Number(call.replace(/\D/g, ''));
          for (const at of [...open]) if (at === last || (upTo && at < last)) open.delete(at);
        }
        const asked = new Set(batches.flat());
        expect(open.size).toBe(20 - asked.size);
        expect([...open].some((at) => asked.has(at))).toBe(false);
        expect(held.size).toBe(open.size);
      }),
    );
  });
});
