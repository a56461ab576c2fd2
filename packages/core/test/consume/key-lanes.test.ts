import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyLanes } from '../../src/consume/key-lanes.ts';

describe('key lanes', () => {
  it('hand out one item of a lane at a time, any number across lanes', () => {
    const lanes = new KeyLanes<string>();
    for (const item of ['a1', 'a2', 'b1']) lanes.push(item, item[0]);
    expect([lanes.next(), lanes.next(), lanes.next()]).toEqual(['a1', 'b1', undefined]);
    lanes.done('a');
    expect(lanes.next()).toBe('a2');
    expect(lanes.next()).toBeUndefined();
  });

  it('let items without a lane run beside everything', () => {
    const lanes = new KeyLanes<string>();
    lanes.push('x', undefined);
    lanes.push('y', undefined);
    expect([lanes.next(), lanes.next()]).toEqual(['x', 'y']);
  });

  it('cut off what waits behind the current item', () => {
    const lanes = new KeyLanes<string>();
    for (const item of ['a1', 'a2', 'a3', 'b1']) lanes.push(item, item[0]);
    lanes.next();
    expect(lanes.cut('a')).toEqual(['a2', 'a3']);
    lanes.done('a');
    expect(lanes.size).toBe(1);
    lanes.push('a4', 'a');
    expect([lanes.next(), lanes.next()]).toEqual(['b1', 'a4']);
  });

  it('drain everything that was not started', () => {
    const lanes = new KeyLanes<string>();
    for (const item of ['a1', 'a2', 'b1']) lanes.push(item, item[0]);
    lanes.next();
    expect(lanes.drain().toSorted()).toEqual(['a2', 'b1']);
    expect(lanes.size).toBe(0);
    lanes.done('a');
    expect(lanes.next()).toBeUndefined();
  });

  it('keep the order in each lane and lose nothing, whatever the interleaving', () => {
    const step = fc.oneof(
      fc.record({ push: fc.constantFrom('a', 'b', 'c', undefined) }),
      fc.constant('next' as const),
      fc.record({ done: fc.nat({ max: 5 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const lanes = new KeyLanes<{ n: number; lane: string | undefined }>();
        const running: { n: number; lane: string | undefined }[] = [];
        const started: { n: number; lane: string | undefined }[] = [];
        let pushed = 0;
        const next = (): boolean => {
          const item = lanes.next();
          if (item === undefined) return false;
          if (item.lane !== undefined) {
            expect(running.some(({ lane }) => lane === item.lane)).toBe(false);
          }
          running.push(item);
          started.push(item);
          return true;
        };
        for (const each of steps) {
          if (each === 'next') next();
          else if ('push' in each) {
            lanes.push({ n: pushed, lane: each.push }, each.push);
            pushed += 1;
          } else if (running.length > 0) {
            const [ended] = running.splice(each.done % running.length, 1);
            lanes.done(ended?.lane);
          }
        }
        while (running.length > 0 || lanes.size > 0) {
          if (!next()) lanes.done(running.shift()?.lane);
        }
        expect(started).toHaveLength(pushed);
        for (const lane of ['a', 'b', 'c']) {
          const order = started.filter((item) => item.lane === lane).map(({ n }) => n);
          expect(order).toEqual(order.toSorted((one, other) => one - other));
        }
      }),
    );
  });
});
