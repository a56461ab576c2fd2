import { ManualClock } from '@ackord/core/testing';
import { describe, expect, it } from 'vitest';
import type { Capabilities } from '../../src/driver/capabilities.ts';
import type { BaseSession, Outcome, Outgoing } from '../../src/driver/driver.ts';
import { Sender, type SendOutcome } from '../../src/publish/sender.ts';

interface Sent {
  readonly batch: readonly Outgoing[];
  readonly alone: boolean;
  readonly signal: AbortSignal;
  readonly done: (index: number, outcome: Outcome) => void;
}

class FakeSession {
  readonly sent: Sent[] = [];
  readonly capabilities: Capabilities;

  constructor(limits: Partial<Capabilities> = {}) {
    this.capabilities = {
      bodyBytes: 100,
      idChars: 255,
      batch: { items: 10, bytes: 1_000, oneAddress: false },
      sizeOf: ({ body }: Outgoing) => body.length,
      ...limits,
    } as Capabilities;
  }

  send(
    batch: readonly Outgoing[],
    options: { readonly signal: AbortSignal; readonly alone?: boolean },
    done: Sent['done'],
  ): void {
    this.sent.push({ batch, alone: options.alone === true, signal: options.signal, done });
  }

  asSession(): BaseSession {
    return this as unknown as BaseSession;
  }
}

const outgoing = (id: string, bytes = 1): Outgoing => ({
  to: 'x',
  body: new Uint8Array(bytes),
  mirror: { id, type: 't', contentType: 'application/json' },
  headers: {},
  dedupId: id,
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const confirmed: Outcome = { is: 'confirmed' };

function rig(limits: Partial<Capabilities> = {}, maxInFlight = 100) {
  const clock = new ManualClock();
  const sender = new Sender({ clock, maxInFlight });
  const session = new FakeSession(limits);
  const outcomes = new Map<string, SendOutcome>();
  const send = (id: string, options: { bytes?: number; signal?: AbortSignal } = {}): void => {
    const sending = sender.send(outgoing(id, options.bytes), {
      deadlineMs: 1_000,
      signal: options.signal,
    });
    void sending.then((outcome) => outcomes.set(id, outcome));
  };
  return { clock, sender, session, outcomes, send };
}

describe('a sender', () => {
  it('sends what is published in one turn as one batch', async () => {
    const { sender, session, send } = rig();
    sender.attach(session.asSession());
    send('a');
    send('b');
    await turn();
    expect(session.sent.map(({ batch }) => batch.map(({ dedupId }) => dedupId))).toEqual([
      ['a', 'b'],
    ]);
  });

  it('bounds batches by count and bytes, and what is in flight', async () => {
    const batch = { items: 3, bytes: 50, oneAddress: false };
    const { sender, session, send } = rig({ batch }, 5);
    sender.attach(session.asSession());
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) send(id, { bytes: 20 });
    await turn();
    expect(session.sent.map((sent) => sent.batch.length)).toEqual([2, 2, 1]);
    session.sent[0]?.done(0, confirmed);
    await turn();
    expect(session.sent.map((sent) => sent.batch.length)).toEqual([2, 2, 1, 1]);
  });

  it('rejects what is too large without sending it', async () => {
    const { sender, session, send, outcomes } = rig();
    sender.attach(session.asSession());
    send('big', { bytes: 101 });
    send('fits', { bytes: 100 });
    await turn();
    expect(outcomes.get('big')).toMatchObject({ is: 'rejected', kind: 'too-large' });
    expect(session.sent[0]?.batch.map(({ dedupId }) => dedupId)).toEqual(['fits']);
  });

  it('sends what was refused together apart, until only the guilty one is rejected', async () => {
    const { sender, session, send, outcomes } = rig();
    sender.attach(session.asSession());
    for (const id of ['a', 'b', 'guilty', 'd']) send(id);
    await turn();
    const together: Outcome = {
      is: 'together',
      kind: 'invalid',
      stored: 'unknown',
      error: new Error('channel closed'),
    };
    for (let at = 0; at < session.sent.length; at += 1) {
      const sent = session.sent[at];
      const hurt = sent?.batch.some(({ dedupId }) => dedupId === 'guilty') ? together : confirmed;
      for (const index of sent?.batch.keys() ?? []) sent?.done(index, hurt);
      await turn();
    }
    expect(outcomes.get('guilty')).toMatchObject({ is: 'rejected', kind: 'invalid' });
    for (const id of ['a', 'b', 'd']) expect(outcomes.get(id)).toMatchObject({ is: 'confirmed' });
    expect(session.sent.slice(1).every(({ alone }) => alone)).toBe(true);
  });

  it('waits for the next session with what was not handed over, and never sends the rest again', async () => {
    const { sender, session, send, outcomes } = rig();
    sender.attach(session.asSession());
    send('handed-over');
    await turn();
    sender.detach(new Error('cut'));
    send('waiting');
    await turn();
    expect(outcomes.get('handed-over')).toMatchObject({
      is: 'unknown',
      why: 'session',
      sent: true,
    });
    const next = new FakeSession();
    sender.attach(next.asSession());
    await turn();
    expect(next.sent.flatMap(({ batch }) => batch.map(({ dedupId }) => dedupId))).toEqual([
      'waiting',
    ]);
  });

  it('settles by the deadline, sent or not', async () => {
    const { clock, sender, session, send, outcomes } = rig();
    send('queued');
    await clock.advance(1_100);
    expect(outcomes.get('queued')).toMatchObject({ is: 'unknown', why: 'deadline', sent: false });
    sender.attach(session.asSession());
    send('sent');
    await turn();
    await clock.advance(1_100);
    expect(outcomes.get('sent')).toMatchObject({ is: 'unknown', why: 'deadline', sent: true });
    expect(session.sent[0]?.signal.aborted).toBe(true);
  });

  it('hands nothing over later than its sender allows', async () => {
    const { clock, sender, session, outcomes } = rig();
    const sending = sender.send(outgoing('late'), { deadlineMs: 1_000, handOverMs: 200 });
    void sending.then((outcome) => outcomes.set('late', outcome));
    await clock.advance(250);
    sender.attach(session.asSession());
    await turn();
    expect(session.sent).toEqual([]);
    expect(outcomes.get('late')).toMatchObject({ is: 'unknown', why: 'deadline', sent: false });
  });

  it('sends nothing that was aborted before its turn', async () => {
    const { sender, session, send, outcomes } = rig();
    const abort = new AbortController();
    send('aborted', { signal: abort.signal });
    abort.abort(new Error('no longer wanted'));
    sender.attach(session.asSession());
    await turn();
    expect(session.sent).toEqual([]);
    expect(outcomes.get('aborted')).toMatchObject({ is: 'unknown', why: 'aborted', sent: false });
  });

  it('settles every promise at close and refuses what comes later', async () => {
    const { sender, session, send, outcomes } = rig();
    sender.attach(session.asSession());
    send('sent');
    await turn();
    send('queued');
    sender.close();
    send('later');
    await turn();
    expect(outcomes.get('sent')).toMatchObject({ is: 'unknown', why: 'closed', sent: true });
    expect(outcomes.get('queued')).toMatchObject({ is: 'unknown', why: 'closed', sent: false });
    expect(outcomes.get('later')).toMatchObject({ is: 'unknown', why: 'closed', sent: false });
  });

  it('counts a late answer once', async () => {
    const { clock, sender, session, send } = rig({}, 1);
    sender.attach(session.asSession());
    send('slow');
    await turn();
    await clock.advance(1_100);
    session.sent[0]?.done(0, confirmed);
    expect(sender.pending).toBe(0);
  });

  it('settles by its deadline when the clock is put back', async () => {
    let backMs = 0;
    const manual = new ManualClock();
    const clock = {
      now: () => manual.now() - backMs,
      after: (ms: number, run: () => void) => manual.after(ms, run),
    };
    const sender = new Sender({ clock, maxInFlight: 1 });
    const session = new FakeSession();
    const outcomes = new Map<string, SendOutcome>();
    const send = (id: string): void => {
      const sending = sender.send(outgoing(id), { deadlineMs: 1_000 });
      void sending.then((outcome) => outcomes.set(id, outcome));
    };
    sender.attach(session.asSession());
    send('sent');
    send('queued');
    await turn();
    await manual.advance(100);
    backMs = 3_600_000;
    send('after');
    await manual.advance(850);
    expect(outcomes.size).toBe(0);
    await manual.advance(100);
    expect([...outcomes.keys()].sort()).toEqual(['queued', 'sent']);
    await manual.advance(100);
    expect(outcomes.has('after')).toBe(true);
  });
});
