import type { Order } from '../../examples/orders/src/contracts.ts';
import type { ChildSetup, FromChild } from './child-setup.ts';
import { ServiceProcess } from './service-process.ts';
import type { WorldOptions } from './world.ts';

interface Placing {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The service processes of a run, which end with it. */
export class Services {
  readonly #setup: ChildSetup;
  readonly #options: WorldOptions;
  readonly #all: ServiceProcess[] = [];
  readonly #placing = new Map<string, Placing[]>();
  #orders: ServiceProcess | undefined;
  #closing = false;

  constructor(setup: ChildSetup, options: WorldOptions) {
    this.#setup = setup;
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#giveUp(new Error('stopped')));
  }

  /** The order service with its relay. */
  async startOrders(): Promise<void> {
    const orders = new ServiceProcess('orders', this.#setup, (message) => this.#placed(message));
    this.#orders = orders;
    this.#all.push(orders);
    this.#watch(orders, () => false);
    await orders.ready(this.#options.signal);
  }

  /** An inventory consumer; with a number it is killed at that commit of its own. */
  async startInventory(killAtCommit: number | undefined): Promise<void> {
    const { observations, killed, signal, failed } = this.#options;
    const setup = { ...this.#setup, killAtCommit };
    let dying = false;
    const process = new ServiceProcess('inventory', setup, (message) => {
      if (message.is === 'seen') observations.add(message.seen);
      if (message.is !== 'at-the-step') return;
      dying = true;
      process.kill().then(() => killed(message.messageId), failed);
    });
    this.#all.push(process);
    this.#watch(process, () => dying);
    await process.ready(signal);
  }

  place(order: Order): Promise<void> {
    return new Promise((resolve, reject) => {
      const { orderId } = order;
      this.#placing.set(orderId, [...(this.#placing.get(orderId) ?? []), { resolve, reject }]);
      this.#orders?.tell({ do: 'place', order });
    });
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#all.map((process) => process.close(this.#options.signal)));
  }

  #watch(process: ServiceProcess, isExpected: () => boolean): void {
    const { failed } = this.#options;
    process.exited.then(({ code, signal }) => {
      if (this.#closing || isExpected()) return;
      const error = new Error(`A service process ended by itself with ${signal ?? code}`);
      this.#giveUp(error);
      failed(error);
    }, failed);
  }

  #giveUp(error: Error): void {
    for (const { reject } of [...this.#placing.values()].flat()) reject(error);
    this.#placing.clear();
  }

  #placed(message: FromChild): void {
    if (message.is !== 'placed') return;
    const waiting = this.#placing.get(message.orderId) ?? [];
    this.#placing.delete(message.orderId);
    for (const { resolve, reject } of waiting) {
      if (message.error === undefined) resolve();
      else reject(new Error(`Placing ${message.orderId}: ${message.error}`));
    }
  }
}
