import {
  type Commit,
  MemoryBroker,
  type MemoryBrokerOptions,
  memoryLog,
  type RawMessage,
} from '@ackord/memory';
import type { Incoming, PipelineResult, Verdict } from '../../src/consume/incoming.ts';
import { LogIntake } from '../../src/consume/log-intake.ts';
import { LogRuns } from '../../src/consume/log-runs.ts';
import type { Settler, Unsettled } from '../../src/consume/settler.ts';
import { Slots } from '../../src/consume/slots.ts';
import type { Fault, LogSession, Settled } from '../../src/driver/driver.ts';
import type { Topology } from '../../src/driver/topology.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';

export const REBALANCED_MS = 20;
export const COMMITTED_MS = 100;
const DELAYS_MS = [200, 5_000];

const topology: Topology = {
  destinations: [{ name: 'orders' }],
  consumers: [{ name: 'reserve', from: ['orders'], types: [], delaysMs: DELAYS_MS }],
};

/** Handlers under the control of a test; a process has one. */
export class Work {
  readonly started: string[] = [];
  readonly ended: string[] = [];
  /** Keys that ran twice at once. */
  readonly overlaps: string[] = [];
  readonly incoming: Incoming[] = [];
  readonly slots: Slots;
  readonly runs = new LogRuns();
  /** Runs that end by themselves; the others wait for `end`. */
  isQuick: (body: string) => boolean = () => false;
  readonly #open = new Map<string, (verdict: Verdict) => void>();
  readonly #keys = new Set<string>();

  constructor(concurrency = 16) {
    this.slots = new Slots(concurrency);
  }

  get running(): readonly string[] {
    return [...this.#open.keys()];
  }

  end(...bodies: readonly string[]): void {
    for (const body of bodies) this.#close(body, { step: 'ack' });
  }

  /** Nothing durable is known of the run. */
  keep(body: string): void {
    this.#close(body, { step: 'keep', error: new Error('store down') });
  }

  async run(incoming: Incoming): Promise<PipelineResult> {
    const body = new TextDecoder().decode(incoming.body);
    const key = incoming.key ?? incoming.place;
    if (this.#keys.has(key)) this.overlaps.push(key);
    this.#keys.add(key);
    this.started.push(body);
    this.incoming.push(incoming);
    const verdict = this.isQuick(body)
      ? ({ step: 'ack' } as const)
      : await new Promise<Verdict>((resolve) => this.#open.set(body, resolve));
    this.#keys.delete(key);
    if (verdict.step === 'ack') this.ended.push(body);
    return { verdict };
  }

  #close(body: string, verdict: Verdict): void {
    const resolve = this.#open.get(body);
    if (resolve === undefined) throw new Error(`"${body}" does not run.`);
    this.#open.delete(body);
    resolve(verdict);
  }
}

/** Settles at once, ack or release, and keeps the answers. */
function settlerInto(settled: Settled[]): Settler {
  const settle = async (unsettled: Unsettled, verdict: Verdict): Promise<void> => {
    settled.push(await unsettled.settle({ do: verdict.step === 'ack' ? 'ack' : 'release' }));
  };
  return { settle } as unknown as Settler;
}

export interface Member {
  readonly intake: LogIntake;
  readonly session: LogSession;
  readonly faults: { readonly fault: Fault; readonly ended: boolean }[];
  readonly gaps: string[];
  readonly settled: readonly Settled[];
}

export interface MemberOptions {
  readonly work: Work;
  readonly feed?: 'live' | 'retry';
  readonly start?: 'earliest' | 'latest';
  readonly concurrency?: number;
  readonly stop?: AbortSignal;
}

/** One intake over a session, memory's or a scripted one. */
export async function openIntake(
  clock: ManualClock,
  session: LogSession,
  options: MemberOptions,
): Promise<Member> {
  const member = createIntake(clock, session, options);
  await member.intake.open();
  return member;
}

export function createIntake(
  clock: ManualClock,
  session: LogSession,
  options: MemberOptions,
): Member {
  const { work, feed = 'live', start = 'earliest', concurrency = 16 } = options;
  const { stop = new AbortController().signal } = options;
  const faults: { fault: Fault; ended: boolean }[] = [];
  const gaps: string[] = [];
  const settled: Settled[] = [];
  const address = feed === 'live' ? 'reserve' : 'reserve.retry';
  const intake = new LogIntake({
    source: { address, consumer: 'reserve', feed },
    session,
    slots: work.slots,
    runs: work.runs,
    settler: settlerInto(settled),
    clock,
    run: (incoming) => work.run(incoming),
    stop,
    fault: (fault, ended) => faults.push({ fault, ended }),
    start,
    concurrency,
    gap: (lane, committed, low) => gaps.push(`${lane} ${committed} ${low}`),
  });
  return { intake, session, faults, gaps, settled };
}

export type ClusterOptions = MemoryBrokerOptions & { readonly partitions?: number };

export class Cluster {
  readonly clock = new ManualClock();
  readonly broker: MemoryBroker;
  readonly partitions: number;

  /** With its topics. */
  static async create(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(options);
    await (await cluster.session()).close();
    return cluster;
  }

  private constructor(options: ClusterOptions) {
    const { partitions = 1, ...broker } = options;
    this.partitions = partitions;
    this.broker = new MemoryBroker({
      clock: this.clock,
      gapEvery: 0,
      rebalanceMs: REBALANCED_MS,
      ...broker,
    });
  }

  async session(): Promise<LogSession> {
    const driver = memoryLog({ broker: this.broker, partitions: this.partitions });
    const plan = driver.plan(topology);
    const signal = new AbortController().signal;
    const session = await driver.open({
      plan,
      clock: this.clock,
      signal,
      notice: () => undefined,
    });
    if (session.kind !== 'log') throw new Error('The driver opened no log session.');
    await session.apply(plan.resources, 'create');
    return session;
  }

  /** Joined and, unless something else is wanted, past the rebalance. */
  async join(options: MemberOptions, waitMs: number = REBALANCED_MS): Promise<Member> {
    const member = await openIntake(this.clock, await this.session(), options);
    await this.clock.advance(waitMs);
    return member;
  }

  /** Bodies `<key><n>`, or `-<n>` without a key. */
  send(bodies: readonly string[], topic = 'orders', more: Partial<RawMessage> = {}): void {
    for (const body of bodies) {
      const key = body.replace(/\d+$/, '');
      this.broker.inject(topic, {
        body: new TextEncoder().encode(body),
        ...(key === '-' ? {} : { key }),
        ...more,
      });
    }
  }

  /** Promises and immediates settle. */
  settle(): Promise<void> {
    return this.clock.advance(0);
  }

  commits(group = 'reserve'): readonly bigint[] {
    return this.broker.commits(group).map(({ next }: Commit) => next);
  }
}

export const numbered = (key: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `${key}${n}`);

/** Stops as a consumer does. */
export async function stopped({ intake }: Member): Promise<void> {
  await intake.stop();
  await intake.idle();
  await intake.close();
}
