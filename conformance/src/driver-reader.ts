import {
  type Delivery,
  type Fault,
  type QueueReceiver,
  type QueueSession,
  type Settle,
  type Settled,
  systemClock,
  type Token,
  type Topology,
} from '@ackord/core/driver';
import type { CaseContext } from './case-context.ts';

const OPEN_MS = 20_000;
const SETTLE_MS = 5_000;

/**
 * The live source of `reserve`, read through a driver without a bus: what was handed over, and how a
 * settle was answered. Makes the topology of the consumer. Only for brokers with queues.
 */
export class DriverReader implements AsyncDisposable {
  readonly session: QueueSession;
  /** Everything that was handed over, in that order. */
  readonly deliveries: Delivery[] = [];
  readonly faults: Fault[] = [];
  /** Set once the session is lost. */
  lost: Fault | undefined;
  #receiver: QueueReceiver | undefined;

  private constructor(session: QueueSession) {
    this.session = session;
    void session.lost.then((fault) => {
      this.lost = fault;
    });
  }

  static async open(ctx: CaseContext, window = 10): Promise<DriverReader> {
    const { driver } = ctx.broker.driver();
    const plan = driver.plan(topologyOf(ctx));
    const signal = AbortSignal.timeout(OPEN_MS);
    const session = await driver.open({ plan, signal, clock: systemClock, notice: () => {} });
    if (session.kind !== 'queue') throw new Error(`${driver.profile} has no queues.`);
    const reader = new DriverReader(session);
    await session.apply(plan.resources, 'create');
    const source = plan.sources(ctx.name()).find(({ feed }) => feed === 'live');
    if (source === undefined) throw new Error(`${driver.profile} reads nothing for ${ctx.name()}.`);
    await session.receive(source, (receiver) => {
      reader.#receiver = receiver;
      return {
        delivered: (deliveries) => reader.deliveries.push(...deliveries),
        fault: (fault) => reader.faults.push(fault),
      };
    });
    reader.#receiver?.setWindow(window);
    return reader;
  }

  /** Native ids in the order of their hand-over. */
  get ids(): readonly (string | undefined)[] {
    return this.deliveries.map(({ native }) => native.id);
  }

  /** Waits for the hand-over of that number, from 0. */
  async nth(ctx: CaseContext, index: number): Promise<Delivery> {
    const is = (): Delivery | undefined => this.deliveries[index];
    return (await ctx.eventually(`hand-over ${index} has come`, is)) as Delivery;
  }

  async settle(...batch: readonly (readonly [Delivery, Settle])[]): Promise<readonly Settled[]> {
    const items: readonly { readonly token: Token; readonly how: Settle }[] = batch.map(
      ([{ token }, how]) => ({ token, how }),
    );
    const signal = AbortSignal.timeout(SETTLE_MS);
    return (await this.#receiver?.settle(items, signal)) ?? [];
  }

  /** Ends the intake; what was handed over can still be settled. */
  async stop(): Promise<void> {
    await this.#receiver?.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.session.close();
  }
}

function topologyOf(ctx: CaseContext): Topology {
  const { destination, type } = ctx.contracts.OrderCreated;
  const consumer = { name: ctx.name(), from: [destination], types: [type] };
  return {
    destinations: [{ name: destination }],
    consumers: [{ ...consumer, delaysMs: ctx.delaysMs }],
  };
}
