import { describe, expect, it } from 'vitest';
import { consumerSettings } from '../../src/consume/consumer-options.ts';
import type { Incoming, Judged, Verdict } from '../../src/consume/incoming.ts';
import { parkedRecord } from '../../src/consume/judge-failure.ts';
import { Settler } from '../../src/consume/settler.ts';
import type { Capabilities, Delay } from '../../src/driver/capabilities.ts';
import type { Outgoing, Settle } from '../../src/driver/driver.ts';
import type { Plan, Target } from '../../src/driver/topology.ts';
import { readWireHeaders } from '../../src/envelope/wire-headers.ts';
import { type BusEvent, EventOutlet } from '../../src/observe/events.ts';
import type { Interceptor } from '../../src/observe/steps.ts';
import type { Sender, SendOutcome } from '../../src/publish/sender.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';
import { PipelineRig } from './pipeline-fixture.ts';

const settings = consumerSettings('reserve', { retry: { delays: ['1s', '5s'] } });
const BUCKETS: Delay = { by: 'bucket', minMs: 1, maxMs: 1e9 };
const RETURNS: Delay = {
  by: 'return',
  stepMs: 1_000,
  maxMs: 1e9,
  holdsSlot: false,
  blocksLane: false,
};
const AT: Delay = { by: 'copy-at', minMs: 1, stepMs: 1, maxMs: 1e9 };
const CONFIRMED: SendOutcome = { is: 'confirmed', duplicate: false };
const LOST: SendOutcome = { is: 'unknown', why: 'session', sent: true, error: new Error('lost') };

const incoming = new PipelineRig({ run: () => undefined }).incoming('m');
const message: Judged = {
  id: 'm',
  incoming,
  headers: { attempt: 1, unknowns: 0, cycle: 0, deferrals: 0 },
  attempt: 1,
  unknowns: 0,
};

class Rig {
  readonly clock = new ManualClock();
  readonly told: string[] = [];
  readonly copies: Outgoing[] = [];
  readonly events: BusEvent[] = [];
  readonly gone = new AbortController();
  readonly stopping = new AbortController();
  readonly settler: Settler;
  readonly outcomes: SendOutcome[];

  constructor(options: { delay?: Delay; outcomes?: SendOutcome[]; intercept?: Interceptor } = {}) {
    this.outcomes = options.outcomes ?? [];
    const events = new EventOutlet();
    events.on((event) => this.events.push(event));
    const send = (out: Outgoing): Promise<SendOutcome> => {
      this.copies.push(out);
      this.told.push(`copy to ${out.to}`);
      return Promise.resolve(this.outcomes.shift() ?? CONFIRMED);
    };
    const address = (target: Target): readonly string[] => [
      target.at === 'retry' ? `retry.${target.delayMs}` : target.at,
    ];
    this.settler = new Settler({
      settings,
      plan: { address } as unknown as Plan,
      capabilities: { delays: [options.delay ?? BUCKETS] } as unknown as Capabilities,
      sender: { send } as unknown as Sender,
      clock: this.clock,
      random: () => 0,
      events,
      intercept: options.intercept,
      backoff: { baseMs: 100, capMs: 1_000 },
      copyTimeoutMs: 1_000,
      destinationOf: () => 'orders',
    });
  }

  settle(verdict: Verdict, of: Incoming = incoming): Promise<void> {
    const settle = (how: Settle): Promise<'ok'> => {
      this.told.push(how.do === 'return' ? `return in ${how.delayMs}` : how.do);
      return Promise.resolve('ok');
    };
    const ending = { gone: this.gone.signal, stopping: this.stopping.signal };
    return this.settler.settle({ incoming: of, settle }, verdict, ending);
  }

  retry(delayMs = 1_000): Verdict {
    const dueAtMs = this.clock.now() + delayMs;
    return { step: 'retry', message, dueAtMs, delayMs, error: new Error('not yet') };
  }

  park(): Verdict {
    const failed = { message, error: new Error('never'), row: undefined, nowMs: this.clock.now() };
    return { step: 'park', message, record: parkedRecord(settings, 'permanent', failed) };
  }
}

describe('a settler', () => {
  it('acks what is durable', async () => {
    const rig = new Rig();
    await rig.settle({ step: 'ack' });
    expect(rig.told).toEqual(['ack']);
  });

  it('acks a retry only after its copy was confirmed', async () => {
    const rig = new Rig();
    await rig.settle(rig.retry());
    expect(rig.told).toEqual(['copy to retry.1000', 'ack']);
    expect(rig.copies[0]).toMatchObject({ body: incoming.body, mirror: { id: 'm' } });
    expect(rig.copies[0]?.headers).toMatchObject({ 'ackord-attempt': '2' });
  });

  it('takes the next longer bucket for a delay between two', async () => {
    const rig = new Rig();
    await rig.settle(rig.retry(1_200));
    expect(rig.told[0]).toBe('copy to retry.5000');
  });

  it('tells the broker when to deliver where it holds copies by time', async () => {
    const rig = new Rig({ delay: AT });
    const verdict = rig.retry(1_234);
    await rig.settle(verdict);
    expect(rig.copies[0]?.notBeforeMs).toBe(rig.clock.now() + 1_234);
  });

  it('returns with a delay that is not shorter than asked', async () => {
    const rig = new Rig({ delay: RETURNS });
    await rig.settle(rig.retry(1_200));
    expect(rig.told).toEqual(['return in 2000']);
  });

  it('puts a message off that came early, without counting an attempt', async () => {
    const rig = new Rig();
    await rig.settle({ step: 'defer', message, dueAtMs: rig.clock.now() + 800 });
    expect(rig.told).toEqual(['copy to retry.1000', 'ack']);
    const { headers = {} } = rig.copies[0] ?? {};
    expect(readWireHeaders(headers)).toMatchObject({ attempt: 1, deferrals: 1 });
  });

  it('acks a parked message only after its record was confirmed', async () => {
    const rig = new Rig();
    await rig.settle(rig.park());
    expect(rig.told).toEqual(['copy to parking', 'ack']);
    expect(rig.events).toMatchObject([{ event: 'message.parked', reason: 'permanent' }]);
  });

  it.each(['retry', 'park'] as const)(
    'tries an unconfirmed copy of a %s again, with back-off',
    async (step) => {
      const rig = new Rig({ outcomes: [LOST, LOST] });
      const settling = rig.settle(rig[step]());
      await rig.clock.advance(9);
      expect(rig.told.map((told) => told.split(' ')[0])).toEqual(['copy']);
      await rig.clock.advance(1);
      expect(rig.told).toHaveLength(2);
      await rig.clock.advance(19);
      expect(rig.told).toHaveLength(2);
      await rig.clock.advance(1);
      await settling;
      expect(rig.told.map((told) => told.split(' ')[0])).toEqual(['copy', 'copy', 'copy', 'ack']);
      expect(new Set(rig.copies.map(({ dedupId }) => dedupId)).size).toBe(1);
    },
  );

  it.each(['retry', 'park'] as const)(
    'releases a %s whose copy is not confirmed at the stop',
    async (step) => {
      const rig = new Rig({ outcomes: [LOST] });
      const settling = rig.settle(rig[step]());
      await rig.clock.advance(5);
      rig.stopping.abort();
      await settling;
      expect(rig.told.slice(1)).toEqual(['release']);
    },
  );

  it('sends nothing again over a session that is gone', async () => {
    const rig = new Rig({ outcomes: [LOST] });
    rig.gone.abort();
    await rig.settle(rig.retry());
    expect(rig.told).toEqual(['copy to retry.1000', 'release']);
  });

  it('gives a message back after a pause when nothing durable is known', async () => {
    const rig = new Rig();
    const settling = rig.settle({ step: 'keep', error: new Error('store down') });
    await rig.clock.advance(79);
    expect(rig.told).toEqual([]);
    await rig.clock.advance(1);
    await settling;
    expect(rig.told).toEqual(['release']);
  });

  it.each([
    ['retry.copy.before', 'retry', []],
    ['retry.copy.confirmed', 'retry', ['copy to retry.1000']],
    ['park.copy.before', 'park', []],
    ['park.copy.confirmed', 'park', ['copy to parking']],
    ['ack.before', 'retry', ['copy to retry.1000']],
  ] as const)('acks nothing when an interceptor fails in %s', async (step, verdict, before) => {
    const rig = new Rig({
      intercept: (name) => {
        if (name === step) throw new Error('broken');
      },
    });
    const settling = rig.settle(rig[verdict]());
    await rig.clock.advance(1_000);
    await settling;
    expect(rig.told).toEqual([...before, 'release']);
  });

  it('tells of a settle that the broker did not take', async () => {
    const rig = new Rig();
    const ending = { gone: rig.gone.signal, stopping: rig.stopping.signal };
    const settle = (): Promise<'stale'> => Promise.resolve('stale');
    await rig.settler.settle({ incoming, settle }, { step: 'ack' }, ending);
    expect(rig.events).toMatchObject([{ event: 'settle.lost', how: 'ack', result: 'stale' }]);
  });
});
