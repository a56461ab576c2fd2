import { beforeEach, describe, expect, it } from 'vitest';
import { Cluster, COMMITTED_MS, numbered, stopped, Work } from './log-fixture.ts';

let cluster: Cluster;
let work: Work;

beforeEach(async () => {
  cluster = await Cluster.create();
  work = new Work(2);
});

describe('stop', () => {
  it('starts nothing above the highest finished record', async () => {
    cluster.send(numbered('-', 5));
    const member = await cluster.join({ work });
    const stop = stopped(member);
    work.end('-0', '-1');
    await cluster.settle();
    await stop;
    expect([work.started, cluster.commits()]).toEqual([['-0', '-1'], [2n]]);
    expect(member.intake.unsettled).toBe(0);
  });

  it('fills the holes below it, so that the next owner repeats nothing', async () => {
    cluster.send(['a0', 'a1', 'a2', 'b0', 'b1', 'b2']);
    const member = await cluster.join({ work });
    work.end('b0');
    await cluster.settle();
    expect(work.running).toEqual(['a0', 'b1']);
    const stop = stopped(member);
    work.end('b1', 'a0');
    await cluster.settle();
    expect(work.running).toEqual(['a1']);
    work.end('a1');
    await cluster.settle();
    work.end('a2');
    await cluster.settle();
    await stop;
    expect(cluster.commits().at(-1)).toBe(5n);

    const next = new Work();
    await cluster.join({ work: next });
    expect(next.started).toEqual(['b2']);
    expect(work.overlaps).toEqual([]);
  });

  it('a hole that comes to be while draining is filled too', async () => {
    cluster.send(['a0', 'a1', 'b0']);
    const member = await cluster.join({ work });
    const stop = stopped(member);
    work.end('a0');
    await cluster.settle();
    expect(work.running).toEqual(['b0']);
    work.end('b0');
    await cluster.settle();
    expect(work.running).toEqual(['a1']);
    work.end('a1');
    await cluster.settle();
    await stop;
    expect(cluster.commits()).toEqual([3n]);
  });

  it('runs nothing again, and nothing above what was given up', async () => {
    cluster.send(['a0', 'b0', 'a1', 'b1', 'c0']);
    work = new Work(3);
    const member = await cluster.join({ work });
    expect(work.running).toEqual(['a0', 'b0', 'c0']);
    const stop = stopped(member);
    work.keep('a0');
    work.end('c0', 'b0');
    await cluster.settle();
    await stop;
    expect([work.started, cluster.commits()]).toEqual([['a0', 'b0', 'c0'], []]);
  });

  it('a record that waits to be run again is a hole like others', async () => {
    cluster.send(['a0', 'b0']);
    const member = await cluster.join({ work });
    work.keep('a0');
    work.end('b0');
    await cluster.settle();
    const stop = stopped(member);
    await cluster.settle();
    expect(work.running).toEqual(['a0']);
    work.end('a0');
    await cluster.settle();
    await stop;
    expect(cluster.commits()).toEqual([2n]);
  });

  it('commits, then leaves as soon as it is empty: another member gets the lanes', async () => {
    cluster.send(['a0']);
    const { intake } = await cluster.join({ work });
    work.end('a0');
    await intake.stop();
    await intake.idle();
    expect(cluster.commits()).toEqual([1n]);
    cluster.send(['a1']);
    const next = new Work();
    await cluster.join({ work: next });
    expect(next.started).toEqual(['a1']);
  });

  it('tries a last commit again that has an unknown answer', async () => {
    cluster.broker.faults.loseSettles(2);
    cluster.send(['a0']);
    const member = await cluster.join({ work });
    work.end('a0');
    const stop = stopped(member);
    await cluster.clock.advance(COMMITTED_MS * 3);
    await stop;
    expect(cluster.commits()).toEqual([1n]);
  });
});

describe('close past the deadline', () => {
  it('commits what is finished and leaves what runs to the next owner', async () => {
    cluster.send(['a0', 'b0']);
    const { intake } = await cluster.join({ work });
    work.end('a0');
    await intake.stop();
    const idle = intake.idle();
    await cluster.settle();
    expect([intake.running, intake.unsettled]).toEqual([1, 1]);
    await intake.close();
    expect(cluster.commits()).toEqual([1n]);
    work.end('b0');
    await idle;
    await cluster.clock.advance(COMMITTED_MS);
    expect([cluster.commits(), work.slots.running]).toEqual([[1n], 0]);
  });
});
