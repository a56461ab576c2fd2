import { beforeEach, describe, expect, it } from 'vitest';
import type { Settled } from '../../src/driver/driver.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';
import { COMMITTED_MS, type Member, openIntake, stopped, Work } from './log-fixture.ts';
import { ScriptedLog } from './scripted-log.ts';

let clock: ManualClock;
let log: ScriptedLog;
let work: Work;
let member: Member;

beforeEach(async () => {
  clock = new ManualClock();
  log = new ScriptedLog();
  work = new Work();
  member = await openIntake(clock, log.session, { work, concurrency: 4 });
});

const keys = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `k${n}-`);

describe('commits', () => {
  it('are one call for all lanes, each under its epoch', async () => {
    work.isQuick = () => true;
    log.assign('p#0', 3);
    log.assign('p#1', 4);
    log.deliver('p#0', 3, 0, ['a', 'b']);
    log.deliver('p#1', 4, 0, ['c']);
    await clock.advance(COMMITTED_MS);
    expect(log.commits).toEqual([
      [
        { lane: 'p#0', epoch: 3, next: 2n },
        { lane: 'p#1', epoch: 4, next: 1n },
      ],
    ]);
  });

  it('are under way one at a time; what comes meanwhile follows at once when it may move', async () => {
    work.isQuick = () => true;
    const first = Promise.withResolvers<readonly Settled[]>();
    log.answers.push(() => first.promise);
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a']);
    await clock.advance(COMMITTED_MS);
    log.deliver('p#0', 1, 1, ['b']);
    await clock.advance(0);
    log.sink.unsettled('p#0', 1);
    await clock.advance(0);
    expect(log.commits.length).toBe(1);
    first.resolve(['ok']);
    await clock.advance(0);
    expect(log.commits.map(([mark]) => mark?.next)).toEqual([1n, 2n]);
  });

  it('that were answered stale are tried again after the next assignment, not before', async () => {
    work.isQuick = () => true;
    log.answers.push(async () => ['stale']);
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a']);
    await clock.advance(COMMITTED_MS);
    log.deliver('p#0', 1, 1, ['b']);
    await clock.advance(COMMITTED_MS * 5);
    expect(log.commits.length).toBe(1);
    log.assign('p#0', 2);
    await clock.advance(COMMITTED_MS);
    expect(log.commits.slice(1)).toEqual([[{ lane: 'p#0', epoch: 2, next: 2n }]]);
    expect(work.started).toEqual(['a0', 'b1']);
  });

  it('that fail are tried again with back-off and told', async () => {
    work.isQuick = () => true;
    const refuse = (): Promise<never> => Promise.reject(new Error('no coordinator'));
    log.answers.push(refuse, refuse, refuse);
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a']);
    await clock.advance(100 + 200 + 400 + 799);
    expect([log.commits.length, member.faults.length]).toEqual([3, 3]);
    await clock.advance(1);
    expect(log.commits.length).toBe(4);
  });

  it('are not sent for a lane that was revoked (B19)', async () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a', 'b']);
    await clock.advance(0);
    work.end('a0');
    await clock.advance(0);
    log.sink.revoked('p#0', 1);
    work.end('b1');
    await clock.advance(COMMITTED_MS * 5);
    expect(log.commits).toEqual([]);
  });

  it('ignore what concerns an earlier epoch', async () => {
    log.assign('p#0', 1);
    log.assign('p#0', 2);
    log.sink.revoked('p#0', 1);
    log.deliver('p#0', 1, 0, ['a']);
    expect(work.started).toEqual([]);
    log.deliver('p#0', 2, 0, ['a']);
    expect(work.started).toEqual(['a0']);
  });
});

describe('a lane that is assigned again', () => {
  it('is void when somebody else got further: the new ledger begins there', async () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a', 'b', 'c']);
    log.assign('p#0', 2, { committed: 2n });
    log.deliver('p#0', 2, 2, ['c', 'd']);
    await clock.advance(0);
    // c2 runs since the first ownership; its outcome goes to the second.
    expect(work.started).toEqual(['a0', 'b1', 'c2', 'd3']);
    work.end('a0', 'b1', 'c2', 'd3');
    await clock.advance(COMMITTED_MS);
    expect(log.commits).toEqual([[{ lane: 'p#0', epoch: 2, next: 4n }]]);
  });
});

describe('batches', () => {
  it('that begin past what was read are fetched again from the hole', async () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a']);
    log.deliver('p#0', 1, 3, ['d']);
    log.deliver('p#0', 1, 4, ['e']);
    expect([work.started, log.told]).toEqual([['a0'], ['seek p#0 1']]);
    log.deliver('p#0', 1, 1, ['b', 'c', 'd', 'e']);
    expect(work.started).toEqual(['a0', 'b1', 'c2', 'd3', 'e4']);
  });

  it('with a hole that stays are told as a gap in the end', async () => {
    log.assign('p#0', 1);
    for (let n = 0; n < 6; n += 1) {
      log.deliver('p#0', 1, 10, ['a']);
      await clock.advance(1_000);
    }
    expect(log.told).toEqual([...Array.from({ length: 5 }, () => 'seek p#0 0'), 'pause p#0']);
    expect([member.gaps, work.started]).toEqual([['p#0 0 10'], []]);
  });

  it('that repeat what is known start nothing', () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a', 'b']);
    log.deliver('p#0', 1, 0, ['a', 'b', 'c']);
    expect(work.started).toEqual(['a0', 'b1', 'c2']);
  });
});

describe('back-pressure', () => {
  it('pauses a lane while much is read or cannot be committed, and resumes it', async () => {
    work.isQuick = (body) => !body.startsWith('slow');
    log.assign('p#0', 1);
    log.assign('p#1', 1);
    log.deliver('p#0', 1, 0, ['slow']);
    log.deliver('p#0', 1, 1, keys(127));
    await clock.advance(COMMITTED_MS);
    expect(log.told).toEqual([]);
    log.deliver('p#0', 1, 128, ['last']);
    expect(log.told).toEqual(['pause p#0']);
    work.end('slow0');
    await clock.advance(COMMITTED_MS);
    expect(log.told).toEqual(['pause p#0', 'resume p#0']);
    expect(log.commits.at(-1)).toEqual([{ lane: 'p#0', epoch: 1, next: 129n }]);
  });

  it('pauses again when a new assignment started the lane unpaused', async () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, keys(200));
    log.assign('p#0', 2);
    expect(log.told).toEqual(['pause p#0', 'pause p#0']);
  });
});

describe('the end', () => {
  it('stops, commits, leaves: in this order and once', async () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a']);
    await clock.advance(0);
    work.end('a0');
    await stopped(member);
    await member.intake.close();
    expect([log.told, log.commits.length]).toEqual([['stop', 'leave'], 1]);
  });

  it('waits for a lane that cannot be committed now, but not for ever', async () => {
    work.isQuick = () => true;
    log.answers.push(async () => ['stale']);
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a']);
    await clock.advance(COMMITTED_MS);
    const stop = stopped(member);
    await clock.advance(300);
    expect(log.told).toEqual(['stop']);
    log.assign('p#0', 2);
    await clock.advance(1_000);
    await stop;
    expect([log.commits.length, log.told.at(-1)]).toEqual([2, 'leave']);
  });

  it('does not hang on a commit without an answer once the session is lost', async () => {
    work.isQuick = () => true;
    log.answers.push(() => new Promise(() => undefined));
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a']);
    await clock.advance(COMMITTED_MS);
    const stop = stopped(member);
    await clock.advance(COMMITTED_MS);
    member.intake.lost();
    await clock.advance(COMMITTED_MS);
    await stop;
    expect([log.told, clock.pending()]).toEqual([['stop'], 0]);
  });

  it('takes nothing any more', async () => {
    await stopped(member);
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a']);
    expect(work.started).toEqual([]);
  });
});
