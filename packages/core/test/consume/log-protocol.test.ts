import { beforeEach, describe, expect, it } from 'vitest';
import type { Settled } from '../../src/driver/driver.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';
import { COMMITTED_MS, type Member, openIntake, Work } from './log-fixture.ts';
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

  it('counts bytes too', async () => {
    const body = new Uint8Array(1024 * 1024);
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, keys(16), { body });
    expect(log.told).toEqual([]);
    log.deliver('p#0', 1, 16, ['last'], { body });
    expect(log.told).toEqual(['pause p#0']);
  });

  it('pauses again when a new assignment started the lane unpaused', async () => {
    log.assign('p#0', 1);
    log.deliver('p#0', 1, 0, keys(200));
    log.assign('p#0', 2);
    expect(log.told).toEqual(['pause p#0', 'pause p#0']);
  });
});
