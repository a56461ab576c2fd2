import { beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/time/seeded-random.ts';
import {
  Cluster,
  COMMITTED_MS,
  type Member,
  numbered,
  REBALANCED_MS,
  stopped,
  Work,
} from './log-fixture.ts';

let cluster: Cluster;
let work: Work;

beforeEach(async () => {
  cluster = await Cluster.create();
  work = new Work();
});

describe('a rebalance', () => {
  it('is told before: what is finished is committed at once (B19)', async () => {
    cluster.send(['a0', 'b0']);
    await cluster.join({ work });
    work.end('a0');
    await cluster.settle();
    expect(cluster.commits()).toEqual([]);
    cluster.broker.rebalance('reserve');
    await cluster.settle();
    expect(cluster.commits()).toEqual([1n]);
  });

  it('keeps what runs of a lane that stays: nothing starts twice', async () => {
    cluster.send(['a0', 'b0', 'a1']);
    await cluster.join({ work });
    work.end('b0');
    cluster.broker.rebalance('reserve');
    await cluster.clock.advance(REBALANCED_MS);
    expect(work.running).toEqual(['a0']);
    work.end('a0');
    await cluster.settle();
    work.end('a1');
    await cluster.clock.advance(COMMITTED_MS);
    expect([work.started, cluster.commits()]).toEqual([['a0', 'b0', 'a1'], [3n]]);
  });

  it('goes on reading after it', async () => {
    await cluster.join({ work });
    cluster.broker.rebalance('reserve');
    await cluster.clock.advance(REBALANCED_MS);
    cluster.send(['a0']);
    await cluster.settle();
    expect(work.running).toEqual(['a0']);
  });
});

describe('a lane that is taken away', () => {
  it('is committed no more, and nothing of it starts; what runs goes on (B19)', async () => {
    work = new Work(1);
    cluster.send(['a0', 'b0']);
    const first = await cluster.join({ work });
    const other = new Work();
    await cluster.join({ work: other }, 0);
    cluster.broker.rebalance('reserve');
    await cluster.clock.advance(REBALANCED_MS);
    expect([work.running, other.running]).toEqual([['a0'], ['a0', 'b0']]);
    work.end('a0');
    await cluster.clock.advance(COMMITTED_MS * 2);
    expect([work.started, cluster.commits(), first.intake.running]).toEqual([['a0'], [], 0]);
    other.end('a0', 'b0');
    await cluster.clock.advance(COMMITTED_MS);
    expect(cluster.commits()).toEqual([2n]);
  });

  const movedAwayAndBack = async (): Promise<{ other: Member; theirs: Work }> => {
    const theirs = new Work();
    const other = await cluster.join({ work: theirs }, 0);
    cluster.broker.rebalance('reserve');
    await cluster.clock.advance(REBALANCED_MS);
    return { other, theirs };
  };

  it('and comes back waits for its runs, whose outcome counts', async () => {
    cluster.send(['a0', 'a1', '-0', 'b0']);
    await cluster.join({ work });
    const { other } = await movedAwayAndBack();
    await other.session.close();
    await cluster.clock.advance(REBALANCED_MS);
    expect(work.started).toEqual(['a0', '-0', 'b0']);
    work.end('a0', '-0', 'b0');
    await cluster.settle();
    expect(work.running).toEqual(['a1']);
    work.end('a1');
    await cluster.clock.advance(COMMITTED_MS);
    expect([work.started, work.overlaps]).toEqual([['a0', '-0', 'b0', 'a1'], []]);
    expect(cluster.commits()).toEqual([4n]);
  });

  it('and comes back runs a record again whose old run had no outcome', async () => {
    cluster.send(['a0']);
    await cluster.join({ work });
    const { other } = await movedAwayAndBack();
    await other.session.close();
    await cluster.clock.advance(REBALANCED_MS);
    work.keep('a0');
    await cluster.settle();
    expect([work.started, work.running]).toEqual([['a0', 'a0'], ['a0']]);
  });

  it('gets an outcome of before even if the record was not read yet', async () => {
    cluster.send(['a0']);
    await cluster.join({ work });
    const { other } = await movedAwayAndBack();
    await other.session.close();
    // After the assignment and before the first batch of it.
    cluster.clock.after(REBALANCED_MS, () => work.end('a0'));
    await cluster.clock.advance(REBALANCED_MS + COMMITTED_MS);
    expect([work.started, cluster.commits()]).toEqual([['a0'], [1n]]);
  });
});

describe('a lost session', () => {
  it('leaves its runs to the next session of the process: no record runs twice at once', async () => {
    cluster.send(['a0', 'a1']);
    const { intake, session } = await cluster.join({ work });
    cluster.broker.loseSession(session.id);
    intake.lost();
    await cluster.join({ work });
    expect(work.started).toEqual(['a0']);
    work.end('a0');
    await cluster.settle();
    expect(work.running).toEqual(['a1']);
    await cluster.clock.advance(COMMITTED_MS);
    expect([cluster.commits(), work.overlaps]).toEqual([[1n], []]);
  });

  it('does not keep the next one from draining: it waits for a hole that runs since before', async () => {
    cluster.send(['a0', 'b0']);
    const { intake, session } = await cluster.join({ work });
    cluster.broker.loseSession(session.id);
    intake.lost();
    work.end('b0');
    await cluster.settle();
    const next = await cluster.join({ work });
    const stop = stopped(next);
    await cluster.settle();
    expect(cluster.commits()).toEqual([]);
    work.end('a0');
    await stop;
    expect([work.started, cluster.commits()]).toEqual([['a0', 'b0'], [2n]]);
  });
});

describe('members that come and go under load (B18)', () => {
  it.each([1, 2, 3, 4, 5])(
    'lose nothing and end with everything committed (seed %i)',
    async (seed) => {
      cluster = await Cluster.create({ partitions: 4, gapEvery: 7 });
      const random = seededRandom(seed);
      const bodies = ['a', 'b', 'c', 'd', 'e', 'f', '-'].flatMap((key) => numbered(key, 60));
      const works: Work[] = [];
      const members: Member[] = [];
      const join = async (): Promise<void> => {
        const mine = new Work(8);
        works.push(mine);
        members.push(await cluster.join({ work: mine }, 0));
      };
      const step = async (): Promise<void> => {
        for (const mine of works) {
          for (const body of mine.running) {
            const chance = random();
            if (chance < 0.4) mine.end(body);
            else if (chance < 0.45) mine.keep(body);
          }
        }
        await cluster.clock.advance(Math.ceil(random() * 30));
      };
      await join();
      for (let turn = 0; turn < 120; turn += 1) {
        cluster.send(bodies.slice(turn * 5, turn * 5 + 5));
        const chance = random();
        if (chance < 0.05 && members.length < 4) await join();
        else if (chance < 0.1 && members.length > 1) {
          const [leaver] = members.splice(Math.floor(random() * members.length), 1);
          if (random() < 0.5) void stopped(leaver as Member);
          else {
            cluster.broker.loseSession(leaver?.session.id);
            leaver?.intake.lost();
          }
        } else if (chance < 0.15) cluster.broker.rebalance('reserve');
        await step();
      }
      const lag = async (): Promise<number> => {
        const source = { address: 'reserve', consumer: 'reserve', feed: 'live' } as const;
        return (await members[0]?.session.inspect(source))?.ready ?? -1;
      };
      for (let turn = 0; turn < 400 && (await lag()) > 0; turn += 1) await step();
      expect(await lag()).toBe(0);
      const ended = new Set(works.flatMap((mine) => mine.ended));
      expect(bodies.filter((body) => !ended.has(body))).toEqual([]);
      expect(works.flatMap(({ overlaps }) => overlaps)).toEqual([]);
      const byLane = Map.groupBy(cluster.broker.commits('reserve'), ({ lane }) => lane);
      for (const commits of byLane.values()) {
        const positions = commits.map(({ next }) => Number(next));
        expect(positions).toEqual(positions.toSorted((one, other) => one - other));
      }
    },
  );
});
