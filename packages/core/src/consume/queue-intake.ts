import type {
  Delivery,
  Fault,
  QueueReceiver,
  QueueSession,
  QueueSink,
  Settle,
  Settled,
} from '../driver/driver.ts';
import type { Source } from '../driver/topology.ts';
import { Chain, type Link } from '../settle/chain.ts';
import type { Clock } from '../time/clock.ts';
import type { Incoming, PipelineResult } from './incoming.ts';
import type { Intake } from './intake.ts';
import { KeyLanes } from './key-lanes.ts';
import { type Leased, LeaseKeeper } from './lease-keeper.ts';
import { SettleBatch } from './settle-batch.ts';
import type { Settler, Unsettled } from './settler.ts';
import type { Slots, SlotUser } from './slots.ts';

export interface QueueIntakeOptions {
  readonly source: Source;
  readonly session: QueueSession;
  readonly slots: Slots;
  readonly window: number;
  readonly settler: Settler;
  readonly clock: Clock;
  readonly run: (incoming: Incoming, stop: AbortSignal) => Promise<PipelineResult>;
  /** Aborts handlers past the shutdown deadline. */
  readonly stop: AbortSignal;
  readonly fault: (fault: Fault, ended: boolean) => void;
}

/** A message that came this much before its due time is held in hand, not sent round again. */
const HOLD_MS = 50;
/** Acks that may wait for each other: one in this many of the window. */
const HELD_SHARE = 6;

/** Reads one queue source: window, lanes, slots, settlement. */
export class QueueIntake implements Intake, SlotUser {
  readonly isRetry: boolean;
  readonly #options: QueueIntakeOptions;
  /** Aborts when the session is lost or the intake stops: failed copies are not tried again. */
  readonly #stopping = new AbortController();
  readonly #gone = new AbortController();
  readonly #taken = new Chain<Taken>();
  readonly #ready = new KeyLanes<Taken>();
  #receiver: QueueReceiver | undefined;
  #batch: SettleBatch | undefined;
  #leases: LeaseKeeper | undefined;
  #running = 0;
  #stopped = false;
  #lastProgressAtMs: number;
  #idle: (() => void)[] = [];

  constructor(options: QueueIntakeOptions) {
    this.#options = options;
    this.isRetry = options.source.feed === 'retry';
    this.#lastProgressAtMs = options.clock.now();
  }

  get running(): number {
    return this.#running;
  }

  get unsettled(): number {
    return this.#taken.size;
  }

  get lastProgressAtMs(): number {
    return this.#lastProgressAtMs;
  }

  async open(): Promise<void> {
    const { session, source, slots, window } = this.#options;
    await session.receive(source, (receiver) => this.#attach(receiver));
    if (this.#gone.signal.aborted) {
      // Ended while it was opened: over a session that lives, nobody else would close the receiver.
      await this.#receiver?.close();
      return;
    }
    slots.add(this);
    if (!this.#stopped) this.#receiver?.setWindow(window);
  }

  startNext(): boolean {
    if (this.#stopped) return false;
    for (let taken = this.#ready.next(); taken !== undefined; taken = this.#ready.next()) {
      if (this.#options.clock.now() >= taken.leaseUntilMs) {
        this.#ready.done(taken.lane);
        this.#end(taken, { do: 'drop' });
        continue;
      }
      this.#running += 1;
      // Never rejects: the pipeline answers with a verdict, the settler ends it.
      void this.#run(taken);
      return true;
    }
    return false;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#options.slots.remove(this);
    this.#stopping.abort(new Error('stopping'));
    for (const taken of this.#ready.drain()) this.#end(taken, { do: 'release' });
    await this.#batch?.flushed();
    await this.#receiver?.stop();
  }

  async idle(): Promise<void> {
    while (this.#taken.size > 0 || this.#running > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
    await this.#batch?.flushed();
  }

  async close(): Promise<void> {
    this.#stopped = true;
    this.#leases?.close();
    for (const taken of this.#taken.all()) {
      if (taken.state !== 'settling') this.#end(taken, { do: 'release' });
    }
    await this.#batch?.flushed();
    await this.#receiver?.close();
    this.lost();
  }

  lost(): void {
    if (this.#gone.signal.aborted) return;
    this.#options.slots.remove(this);
    this.#leases?.close();
    const error = new Error('session lost');
    this.#gone.abort(error);
    this.#stopping.abort(error);
    this.#ready.drain();
    // What was not started, be it in a lane or held in hand.
    for (const taken of this.#taken.all())
      if (taken.state === 'ready') this.#taken.remove(taken.link);
    this.#wakeIdle();
  }

  #attach(receiver: QueueReceiver): QueueSink {
    const { session, clock, fault, window } = this.#options;
    this.#receiver = receiver;
    this.#batch = new SettleBatch(receiver, {
      items: session.capabilities.batch.items,
      // What is held back takes room in the window, which is three times the handlers that run.
      most: Math.floor(window / HELD_SHARE),
      busy: () => this.#running > 0 && !this.#stopped,
      clock,
      signal: this.#gone.signal,
    });
    // Its timer would outlive an intake that ended while it was opened.
    const { lease } = receiver;
    if (lease !== undefined && !this.#gone.signal.aborted)
      this.#leases = new LeaseKeeper(clock, lease);
    return {
      delivered: (deliveries) => {
        this.#lastProgressAtMs = clock.now();
        for (const delivery of deliveries) this.#arrived(delivery);
        this.#options.slots.fill();
      },
      fault: (reported, ended) => {
        if (ended) this.lost();
        fault(reported, ended);
      },
    };
  }

  #arrived(delivery: Delivery): void {
    if (this.#gone.signal.aborted) return;
    const leaseUntilMs =
      this.#leases?.leaseUntil(delivery.leaseUntilMs) ?? Number.POSITIVE_INFINITY;
    const taken = new Taken(delivery, this.#options.source, leaseUntilMs, (how) =>
      this.#settle(taken, how),
    );
    taken.link = this.#taken.add(taken);
    this.#leases?.hold(taken);
    if (this.#stopped || delivery.late === true) this.#end(taken, { do: 'release' });
    else this.#ready.push(taken, taken.lane);
  }

  async #run(taken: Taken): Promise<void> {
    const { run, stop, slots } = this.#options;
    taken.state = 'running';
    const { verdict, lingering } = await run(taken.incoming, stop);
    this.#lastProgressAtMs = this.#options.clock.now();
    if (lingering === undefined) this.#free(slots, taken.lane);
    else void lingering.then(() => this.#free(slots, taken.lane));
    if (verdict.step === 'defer' && this.#holdInHand(taken, verdict.dueAtMs)) return;
    taken.state = 'settling';
    await this.#options.settler.settle(taken, verdict, {
      gone: this.#gone.signal,
      stopping: this.#stopping.signal,
    });
    this.#forget(taken);
  }

  /** Slot and lane: a handler that lingers keeps both, or two would run in one lane. */
  #free(slots: Slots, lane: string | undefined): void {
    this.#ready.done(lane);
    this.#running -= 1;
    slots.free();
    this.#wakeIdle();
  }

  /** A few milliseconds early (two clocks, a coarse timer): wait here without a slot. */
  #holdInHand(taken: Taken, dueAtMs: number): boolean {
    const { clock, slots } = this.#options;
    const leftMs = dueAtMs - clock.now();
    if (leftMs > HOLD_MS || this.#stopping.signal.aborted) return false;
    taken.state = 'ready';
    clock.after(Math.max(1, leftMs), () => {
      if (this.#gone.signal.aborted) return;
      if (this.#stopped) return this.#end(taken, { do: 'release' });
      this.#ready.push(taken, taken.lane);
      slots.fill();
    });
    return true;
  }

  /** Ends a delivery that was not run. */
  #end(taken: Taken, how: Settle): void {
    taken.state = 'settling';
    void this.#settle(taken, how).then(() => this.#forget(taken));
  }

  /** After the lease only an ack is said: anything else could act on a newer delivery. */
  async #settle(taken: Taken, how: Settle): Promise<Settled> {
    if (how.do !== 'extend' && taken.extending !== undefined) await taken.extending;
    if (this.#gone.signal.aborted || this.#batch === undefined) return 'stale';
    const expired = this.#options.clock.now() >= taken.leaseUntilMs;
    if (!expired || how.do === 'ack') return await this.#batch.add(taken.token, how);
    await this.#batch.add(taken.token, { do: 'drop' });
    this.#outlived();
    return 'stale';
  }

  /**
   * A lease that nothing extends has run out, by this clock at least. The broker may count the delivery
   * as held as long as the receiver lives, and gives nothing for its place: another is opened.
   */
  #outlived(): void {
    const receiver = this.#receiver;
    if (receiver?.lease?.extendable !== false || this.#stopped || this.#gone.signal.aborted) return;
    this.lost();
    const error = new Error('a delivery has outlived its lease');
    const ended = (): void => this.#options.fault({ kind: 'cancelled', error }, true);
    // Closed or not, it is not used any more, and its deliveries come again.
    void receiver.close().then(ended, ended);
  }

  #forget(taken: Taken): void {
    this.#taken.remove(taken.link);
    this.#leases?.drop(taken);
    this.#wakeIdle();
  }

  #wakeIdle(): void {
    for (const wake of this.#idle.splice(0)) wake();
  }
}

class Taken implements Unsettled, Leased {
  readonly token: unknown;
  link!: Link<Taken>; // its place among what is taken, given right behind its making
  readonly lane: string | undefined;
  readonly incoming: Incoming;
  readonly receivedAtMs: number;
  readonly settle: (how: Settle) => Promise<Settled>;
  leaseUntilMs: number;
  renewedAtMs: number;
  extending: Promise<void> | undefined;
  state: 'ready' | 'running' | 'settling' = 'ready';

  constructor(
    delivery: Delivery,
    source: Source,
    leaseUntilMs: number,
    settle: (how: Settle) => Promise<Settled>,
  ) {
    this.token = delivery.token;
    this.lane = delivery.lane;
    this.receivedAtMs = delivery.receivedAtMs;
    this.renewedAtMs = delivery.receivedAtMs;
    this.leaseUntilMs = leaseUntilMs;
    this.settle = settle;
    this.incoming = {
      body: delivery.body,
      headers: delivery.headers,
      native: delivery.native,
      receivedAtMs: delivery.receivedAtMs,
      brokerAtMs: delivery.brokerAtMs,
      redelivered: delivery.redelivered,
      nativeCount: delivery.nativeCount,
      place: source.address,
    };
  }
}
