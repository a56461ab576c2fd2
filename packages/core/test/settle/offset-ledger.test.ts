import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LedgerEntry, OffsetLedger } from '../../src/settle/offset-ledger.ts';

const entry = (position: number): LedgerEntry => ({
  position: BigInt(position),
  seq: 0,
  done: false,
});

interface Filled {
  readonly ledger: OffsetLedger<LedgerEntry>;
  readonly entries: readonly LedgerEntry[];
}

function filled(positions: readonly number[], committed: bigint | undefined = undefined): Filled {
  const ledger = new OffsetLedger({ epoch: 1, committed, from: committed ?? 0n });
  const entries = positions.map(entry);
  for (const one of entries) ledger.add(one);
  return { ledger, entries };
}

const finish = ({ ledger, entries }: Filled, ...positions: readonly number[]): void => {
  for (const one of entries) if (positions.includes(Number(one.position))) ledger.done(one);
};

describe('prefix', () => {
  it.each([
    [[], 0n],
    [[0], 1n],
    [[1, 2], 0n],
    [[0, 2], 1n],
    [[2, 1, 0], 3n],
  ])('with %j of 0, 1, 2 done is %i', (done, prefix) => {
    const lane = filled([0, 1, 2]);
    finish(lane, ...done);
    expect(lane.ledger.prefix).toBe(prefix);
  });

  it('passes positions without a record', () => {
    const lane = filled([0, 4, 9]);
    finish(lane, 0);
    expect(lane.ledger.prefix).toBe(4n);
    finish(lane, 4, 9);
    lane.ledger.cover(12n);
    expect(lane.ledger.prefix).toBe(12n);
  });

  it('counts what is done behind an unfinished record', () => {
    const lane = filled([0, 1, 2, 3]);
    finish(lane, 1, 2);
    expect(lane.ledger.size).toBe(4);
    finish(lane, 0);
    expect(lane.ledger.size).toBe(1);
  });

  it('measures the distance to it in records', () => {
    const { ledger, entries } = filled([0, 5, 100]);
    expect(entries.map((one) => ledger.distance(one))).toEqual([0, 1, 2]);
    ledger.done(entries[0] as LedgerEntry);
    expect(ledger.distance(entries[2] as LedgerEntry)).toBe(1);
  });
});

describe('records', () => {
  it('below the end are known', () => {
    const { ledger } = filled([0, 1, 2]);
    expect([ledger.add(entry(1)), ledger.add(entry(3)), ledger.end]).toEqual([false, true, 4n]);
  });

  it('are found by position while the prefix has not passed them', () => {
    const lane = filled([0, 3, 7]);
    finish(lane, 0);
    expect(lane.ledger.prefix).toBe(3n);
    expect([0n, 3n, 4n, 7n, 8n].map((at) => lane.ledger.find(at)?.position)).toEqual([
      undefined,
      3n,
      undefined,
      7n,
      undefined,
    ]);
  });
});

describe('commits', () => {
  it('are owed for a prefix that grew, once it is confirmed no more', () => {
    const lane = filled([5, 6], 5n);
    expect(lane.ledger.owed()).toBeUndefined();
    finish(lane, 5);
    const owed = lane.ledger.owed();
    expect(owed).toEqual({ epoch: 1, next: 6n });
    lane.ledger.settled({ epoch: 1, next: 6n }, 'ok');
    expect(lane.ledger.owed()).toBeUndefined();
  });

  it('of where reading began are owed if asked for', () => {
    const start = { epoch: 1, committed: undefined, from: 9n };
    expect(new OffsetLedger(start).owed()).toBeUndefined();
    const latest = new OffsetLedger({ ...start, commitFrom: true });
    expect(latest.owed()).toEqual({ epoch: 1, next: 9n });
  });

  it('with an unknown answer are owed again', () => {
    const lane = filled([0]);
    finish(lane, 0);
    lane.ledger.settled({ epoch: 1, next: 1n }, 'unknown');
    expect(lane.ledger.owed()).toEqual({ epoch: 1, next: 1n });
  });

  it('wait after stale until the next assignment', () => {
    const lane = filled([0]);
    finish(lane, 0);
    lane.ledger.settled({ epoch: 1, next: 1n }, 'stale');
    expect([lane.ledger.owed(), lane.ledger.isOwed]).toEqual([undefined, true]);
    expect(lane.ledger.keep(2, undefined)).toBe(true);
    expect(lane.ledger.owed()).toEqual({ epoch: 2, next: 1n });
  });

  it('answered stale for an earlier epoch do not hold up the present one', () => {
    const lane = filled([0]);
    finish(lane, 0);
    lane.ledger.keep(2, undefined);
    lane.ledger.settled({ epoch: 1, next: 1n }, 'stale');
    expect(lane.ledger.owed()).toEqual({ epoch: 2, next: 1n });
  });
});

describe('a new epoch', () => {
  // 5 was committed; 5 and 6 are done, 7 is not.
  it.each([
    ['nothing committed any more', undefined, false],
    ['less than this ledger committed', 4n, false],
    ['what this ledger committed', 5n, true],
    ['more, within the prefix', 6n, true],
    ['the whole prefix', 7n, true],
    ['beyond the prefix: another owner got further', 8n, false],
  ])('with %s (%s): kept %s', (_, committed, kept) => {
    const lane = filled([5, 6, 7], 5n);
    finish(lane, 5, 6);
    expect(lane.ledger.keep(2, committed)).toBe(kept);
    expect(lane.ledger.epoch).toBe(kept ? 2 : 1);
  });

  it('owes only what the broker does not have', () => {
    const lane = filled([5, 6, 7], 5n);
    finish(lane, 5, 6);
    lane.ledger.keep(2, 7n);
    expect(lane.ledger.owed()).toBeUndefined();
    finish(lane, 7);
    expect(lane.ledger.owed()).toEqual({ epoch: 2, next: 8n });
  });
});

type Step =
  | { readonly do: 'done'; readonly pick: number }
  | { readonly do: 'commit'; readonly answer: 'ok' | 'stale' | 'unknown' }
  | { readonly do: 'assign' };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('done' as const), pick: fc.nat() }),
    fc.record({
      do: fc.constant('commit' as const),
      answer: fc.constantFrom('ok' as const, 'stale' as const, 'unknown' as const),
    }),
    fc.record({ do: fc.constant('assign' as const) }),
  ),
  { maxLength: 120 },
);
/** Steps from one record to the next: 1 is dense, more leaves a gap. */
const gaps = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 40 });

describe('whatever finishes when', () => {
  it('the prefix ends at the first unfinished record, commits grow, and the last one is complete', () => {
    fc.assert(
      fc.property(gaps, steps, (distances, work) => {
        let at = 0;
        const { ledger, entries } = filled(distances.map((gap) => (at += gap)));
        const commits: bigint[] = [];
        let stored: bigint | undefined;
        const open = [...entries];
        const commit = (answer: 'ok' | 'stale' | 'unknown'): void => {
          const owed = ledger.owed();
          if (owed === undefined) return;
          commits.push(owed.next);
          if (answer !== 'stale') stored = owed.next;
          ledger.settled(owed, answer);
        };
        let epoch = 1;
        const assign = (): void => expect(ledger.keep(++epoch, stored)).toBe(true);
        const check = (): void => {
          const first = entries.find(({ done }) => !done);
          expect(ledger.prefix).toBe(first?.position ?? ledger.end);
        };
        for (const step of work) {
          if (step.do === 'commit') commit(step.answer);
          else if (step.do === 'assign') assign();
          else if (open.length > 0) {
            ledger.done(open.splice(step.pick % open.length, 1)[0] as LedgerEntry);
          }
          check();
        }
        for (const one of open) ledger.done(one);
        assign();
        commit('ok');
        expect(commits).toEqual(commits.toSorted((one, other) => Number(one - other)));
        expect([stored, ledger.size]).toEqual([ledger.end, 0]);
      }),
    );
  });
});
