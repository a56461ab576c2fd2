import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/time/manual-clock.ts';
import {
  COMMITTED_MS,
  createIntake,
  type Member,
  openIntake,
  stopped,
  Work,
} from './log-fixture.ts';
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

  it('takes an outcome of before, also ahead of the record; the rest is read as usual', async () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a', 'b']);
    await clock.advance(0);
    log.sink.revoked('p#0', 1);
    log.assign('p#0', 2);
    work.end('b1');
    await clock.advance(0);
    work.end('a0');
    await clock.advance(0);
    log.deliver('p#0', 2, 0, ['a', 'b', 'c']);
    await clock.advance(COMMITTED_MS);
    expect(work.started).toEqual(['a0', 'b1', 'c2']);
    expect(log.commits).toEqual([[{ lane: 'p#0', epoch: 2, next: 2n }]]);
    expect(member.settled).toEqual(['ok', 'ok']);
  });

  it('takes outcomes of the time between as well', async () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a', 'b']);
    await clock.advance(0);
    log.sink.revoked('p#0', 1);
    work.end('a0');
    await clock.advance(0);
    log.assign('p#0', 2);
    log.deliver('p#0', 2, 0, ['a', 'b']);
    await clock.advance(COMMITTED_MS);
    expect([work.started, log.commits.length]).toEqual([['a0', 'b1'], 1]);
  });

  it('takes no outcome for another record at the same position: the topic was made anew', async () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a', 'b', 'c'], { brokerAtMs: 1 });
    await clock.advance(0);
    log.sink.revoked('p#0', 1);
    work.end('a0');
    await clock.advance(0);
    log.assign('p#0', 2);
    work.end('b1');
    await clock.advance(0);
    log.deliver('p#0', 2, 0, ['a', 'b', 'c'], { brokerAtMs: 2 });
    work.end('c2');
    await clock.advance(COMMITTED_MS);
    expect(work.running).toEqual(['a0', 'b1', 'c2']);
    expect(log.commits).toEqual([]);
  });

  it('or does not come back: its ack is stale', async () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a']);
    await clock.advance(0);
    log.sink.revoked('p#0', 1);
    work.end('a0');
    await clock.advance(0);
    expect(member.settled).toEqual(['stale']);
  });

  it('or does not come back: what ends without an outcome is not run again', async () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a']);
    await clock.advance(0);
    log.sink.revoked('p#0', 1);
    work.keep('a0');
    await clock.advance(0);
    expect([clock.pending(), work.slots.running]).toEqual([0, 0]);
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

  it('leaves too when it was closed while it joined', async () => {
    const joining = Promise.withResolvers<void>();
    const slow = new ScriptedLog();
    slow.joined = joining.promise;
    const { intake } = createIntake(clock, slow.session, { work });
    const opening = intake.open();
    await intake.close();
    slow.told.length = 0;
    joining.resolve();
    await opening;
    expect(slow.told).toEqual(['leave']);
  });

  it('runs nothing of a lane that comes while it drains', async () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, ['a']);
    await clock.advance(0);
    await member.intake.stop();
    log.assign('p#1', 1);
    log.deliver('p#1', 1, 0, ['b']);
    await clock.advance(0);
    expect(work.started).toEqual(['a0']);
  });

  it('fills also holes that were too far past the prefix to start', async () => {
    work = new Work(200);
    member = await openIntake(clock, log.session, { work, concurrency: 1 });
    const keys = Array.from({ length: 74 }, (_, n) => `k${n === 70 ? 69 : n}-`);
    const body = (at: number): string => `${keys[at]}${at}`;
    const end = async (from: number, to: number): Promise<void> => {
      for (let at = from; at <= to; at += 1) if (at !== 70) work.end(body(at));
      await clock.advance(0);
    };
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, keys);
    await end(0, 9);
    // The lane is given away and back, and nothing was committed: it begins anew beside the old runs.
    log.sink.revoked('p#0', 1);
    log.assign('p#0', 2);
    log.deliver('p#0', 2, 0, keys);
    await end(71, 73);
    const stop = stopped(member);
    await end(0, 69);
    expect(work.running).toEqual([body(70)]);
    work.end(body(70));
    await stop;
    expect(log.commits.at(-1)).toEqual([{ lane: 'p#0', epoch: 2, next: 74n }]);
  });
});
