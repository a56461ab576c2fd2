import { beforeEach, describe, expect, it } from 'vitest';
import { HEADERS } from '../../src/envelope/wire-headers.ts';
import { Cluster, COMMITTED_MS, numbered, REBALANCED_MS, stopped, Work } from './log-fixture.ts';

const SHORT = 'reserve.retry.200ms';
const LONG = 'reserve.retry.5s';

let cluster: Cluster;
let work: Work;

beforeEach(async () => {
  cluster = await Cluster.create();
  work = new Work();
  work.isQuick = () => true;
});

const dueIn = (ms: number): { headers: Record<string, string> } => ({
  headers: { [HEADERS.dueAt]: String(cluster.clock.now() + ms) },
});

describe('the retry feed', () => {
  it('holds a record until its topic lets it go, never less', async () => {
    await cluster.join({ work, feed: 'retry' });
    cluster.send(['a0'], LONG);
    const sentAtMs = cluster.clock.now();
    await cluster.clock.advance(4_999);
    expect(work.started).toEqual([]);
    await cluster.clock.advance(1);
    expect(work.started).toEqual(['a0']);
    expect(work.incoming[0]?.heldUntilMs).toBe(sentAtMs + 5_000);
  });

  it('counts from the time of the broker, not of the read', async () => {
    cluster.send(['a0'], LONG);
    await cluster.clock.advance(4_000);
    await cluster.join({ work, feed: 'retry' });
    await cluster.clock.advance(1_000 - REBALANCED_MS);
    expect(work.started).toEqual(['a0']);
  });

  it('holds until the due time of the header where that is a little later', async () => {
    await cluster.join({ work, feed: 'retry' });
    cluster.send(['a0'], SHORT, dueIn(900));
    await cluster.clock.advance(899);
    expect(work.started).toEqual([]);
    await cluster.clock.advance(1);
    expect(work.started).toEqual(['a0']);
  });

  it('hands a record that is due much later to the pipeline, which puts it off', async () => {
    await cluster.join({ work, feed: 'retry' });
    cluster.send(['a0', 'a1'], SHORT, dueIn(60_000));
    await cluster.clock.advance(200);
    expect(work.started).toEqual(['a0', 'a1']);
  });

  it('holds nothing that comes by redrive', async () => {
    await cluster.join({ work, feed: 'retry' });
    cluster.send(['a0'], 'reserve.redrive');
    await cluster.settle();
    expect([work.started, work.incoming[0]?.heldUntilMs]).toEqual([['a0'], undefined]);
  });

  it('a held head waits without a slot, and holds up its own partition only', async () => {
    await cluster.join({ work, feed: 'retry' });
    cluster.send(['a0'], LONG);
    await cluster.clock.advance(10);
    cluster.send(['b0', 'b1'], SHORT);
    await cluster.clock.advance(200);
    expect([work.started, work.slots.running]).toEqual([['b0', 'b1'], 0]);
    await cluster.clock.advance(5_000);
    expect(work.started).toEqual(['b0', 'b1', 'a0']);
  });

  it('reads on behind a held head up to a mark, and all of it in the end', async () => {
    await cluster.join({ work, feed: 'retry', concurrency: 1 });
    cluster.send(numbered('-', 1_000), SHORT);
    await cluster.clock.advance(199);
    expect(work.started).toEqual([]);
    await cluster.clock.advance(1 + COMMITTED_MS);
    expect(work.started).toEqual(numbered('-', 1_000));
    expect(cluster.commits('reserve.retry').at(-1)).toBe(1_000n);
  });

  it('leaves held heads in the log when it stops, and sets no timer any more', async () => {
    const member = await cluster.join({ work, feed: 'retry' });
    cluster.send(['a0'], LONG);
    await cluster.clock.advance(1_000);
    await stopped(member);
    await cluster.clock.advance(REBALANCED_MS);
    expect([cluster.clock.pending(), cluster.commits('reserve.retry')]).toEqual([0, []]);
    await cluster.join({ work, feed: 'retry' }, 3_979);
    expect(work.started).toEqual([]);
    await cluster.clock.advance(1);
    expect(work.started).toEqual(['a0']);
  });
});

describe('the live feed', () => {
  it('holds nothing: a due time there is the business of the pipeline', async () => {
    await cluster.join({ work });
    cluster.send(['a0'], 'orders', dueIn(1_000));
    await cluster.settle();
    expect(work.started).toEqual(['a0']);
  });
});
