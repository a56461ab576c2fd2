import { beforeEach, describe, expect, it } from 'vitest';
import { Cluster, COMMITTED_MS, numbered, Work } from './log-fixture.ts';

let cluster: Cluster;
let work: Work;

beforeEach(async () => {
  cluster = await Cluster.create();
  work = new Work();
});

describe('commits', () => {
  it('only the contiguous prefix when records finish out of order (B20)', async () => {
    cluster.send(['a0', 'b0', 'c0', 'd0']);
    await cluster.join({ work });
    expect(work.started).toEqual(['a0', 'b0', 'c0', 'd0']);
    work.end('b0', 'd0');
    await cluster.clock.advance(COMMITTED_MS);
    expect(cluster.commits()).toEqual([]);
    work.end('a0');
    await cluster.clock.advance(COMMITTED_MS);
    expect(cluster.commits()).toEqual([2n]);
    work.end('c0');
    await cluster.clock.advance(COMMITTED_MS);
    expect(cluster.commits()).toEqual([2n, 4n]);
  });

  it('by a timer, not per record, and none while nothing finishes', async () => {
    work.isQuick = () => true;
    cluster.send(numbered('-', 40));
    await cluster.join({ work });
    await cluster.clock.advance(COMMITTED_MS);
    expect(cluster.commits()).toEqual([40n]);
    expect(cluster.clock.pending()).toBe(0);
  });

  it('again after an answer that is unknown', async () => {
    cluster.broker.faults.loseSettles(2);
    work.isQuick = () => true;
    cluster.send(['a0']);
    await cluster.join({ work });
    await cluster.clock.advance(COMMITTED_MS);
    expect(cluster.commits()).toEqual([]);
    await cluster.clock.advance(COMMITTED_MS * 6);
    expect(cluster.commits()).toEqual([1n]);
  });

  it('past positions without a record', async () => {
    cluster = await Cluster.create({ gapEvery: 2 });
    work.isQuick = () => true;
    cluster.send(numbered('a', 4));
    await cluster.join({ work });
    await cluster.clock.advance(COMMITTED_MS);
    expect(cluster.commits()).toEqual([8n]);
  });

  it('where reading began, so that `latest` does not skip what comes before its first commit', async () => {
    cluster.send(['a0', 'a1']);
    const first = await cluster.join({ work, start: 'latest' });
    await cluster.clock.advance(COMMITTED_MS);
    expect(cluster.commits()).toEqual([2n]);
    await first.session.close();
    cluster.send(['a2']);
    await cluster.join({ work, start: 'latest' });
    expect(work.started).toEqual(['a2']);
  });
});

describe('lanes', () => {
  it('run one record of a key at a time, keys beside each other, records without key freely', async () => {
    cluster.send(['a0', 'a1', 'b0', '-0', '-1']);
    await cluster.join({ work });
    expect(work.running).toEqual(['a0', 'b0', '-0', '-1']);
    work.end('a0');
    await cluster.settle();
    expect(work.running).toEqual(['b0', '-0', '-1', 'a1']);
  });

  it('one slow key does not stop the others, and they start only so far past it', async () => {
    work = new Work(4);
    work.isQuick = (body) => !body.startsWith('slow');
    cluster.send(['slow0', ...numbered('a', 30), ...numbered('-', 500)]);
    await cluster.join({ work, concurrency: 4 });
    expect(work.running).toEqual(['slow0']);
    expect(work.started.length).toBe(64);
    work.end('slow0');
    await cluster.clock.advance(COMMITTED_MS);
    expect(work.ended.length).toBe(531);
    expect(cluster.commits().at(-1)).toBe(531n);
  });

  it('run no more records at once than there are slots', async () => {
    work = new Work(3);
    cluster.send(numbered('-', 5));
    await cluster.join({ work, concurrency: 3 });
    expect(work.running).toEqual(['-0', '-1', '-2']);
    work.end('-1');
    await cluster.settle();
    expect(work.running).toEqual(['-0', '-2', '-3']);
  });

  it('take turns', async () => {
    cluster = await Cluster.create({ partitions: 2 });
    work = new Work(4);
    cluster.send(numbered('-', 20));
    await cluster.join({ work });
    // The first batch came before the other lane's.
    work.end('-0', '-2', '-4', '-6');
    await cluster.settle();
    expect(work.running).toEqual(['-8', '-1', '-10', '-3']);
  });
});

describe('a record without an outcome', () => {
  it('runs again with growing back-off, in front of its key', async () => {
    cluster.send(['a0', 'a1', 'b0']);
    const { intake } = await cluster.join({ work });
    work.end('b0');
    for (const backoffMs of [100, 200, 400]) {
      work.keep('a0');
      await cluster.clock.advance(backoffMs - 1);
      expect([work.running, intake.running]).toEqual([[], 0]);
      await cluster.clock.advance(1);
      expect(work.running).toEqual(['a0']);
    }
    expect(cluster.commits()).toEqual([]);
    work.end('a0');
    await cluster.clock.advance(COMMITTED_MS);
    expect([work.running, cluster.commits()]).toEqual([['a1'], [1n]]);
  });
});

describe('an intake', () => {
  it('hands over what the pipeline needs to know', async () => {
    cluster.send(['a0'], 'orders', { headers: { 'x-foreign': '1' } });
    await cluster.join({ work });
    expect(work.incoming[0]).toMatchObject({
      key: 'a',
      headers: { 'x-foreign': '1' },
      native: { subject: 'orders' },
      place: 'orders#0@0',
      redelivered: false,
      brokerAtMs: Date.UTC(2026, 0, 1),
      heldUntilMs: undefined,
    });
  });

  it('tells of records that are gone unread, and reads that lane no further', async () => {
    cluster = await Cluster.create({ partitions: 2 });
    work.isQuick = () => true;
    const first = await cluster.join({ work });
    cluster.send(numbered('-', 4));
    await cluster.clock.advance(COMMITTED_MS);
    await first.session.close();
    cluster.send(numbered('-', 4));
    cluster.broker.trim('orders#0', 3n);
    work.started.length = 0;
    const second = await cluster.join({ work });
    expect(second.gaps).toEqual(['orders#0 2 3']);
    expect(second.faults).toMatchObject([
      { fault: { kind: 'missing', lane: 'orders#0' }, ended: false },
    ]);
    expect(work.started).toEqual(['-1', '-3']);
  });

  it('ends with its receiver', async () => {
    const { faults } = await cluster.join({ work });
    cluster.broker.faults.remove('orders');
    expect(faults).toMatchObject([{ fault: { kind: 'missing' }, ended: true }]);
    expect(work.slots.running).toBe(0);
  });
});
