import type { Capabilities, Fault, Outcome, Outgoing } from '@ackord/core/driver';
import type { MemoryBroker } from './memory-broker.ts';
import { MemoryBrokerError } from './memory-broker-error.ts';
import { SendPath, type SendTarget } from './send-path.ts';

export interface LifeOptions {
  readonly broker: MemoryBroker;
  readonly target: SendTarget;
  readonly capabilities: Capabilities;
  /** Ends the receivers, without a word to their sinks. */
  readonly onEnd: () => void;
}

/** What queue and log sessions share: open, sending, lost, closed. */
export class SessionLife {
  readonly id: number;
  readonly lost: Promise<Fault>;
  readonly #options: LifeOptions;
  readonly #sends: SendPath;
  #over = false;

  constructor(options: LifeOptions) {
    const { promise, resolve } = Promise.withResolvers<Fault>();
    this.lost = promise;
    this.#options = options;
    this.#sends = new SendPath(options.target, options.capabilities);
    this.id = options.broker.joined(this, (fault) => {
      this.#end(fault.error);
      resolve(fault);
    });
  }

  /** Throws when the session is over. */
  check(): void {
    if (this.#over) throw new MemoryBrokerError('connection', 'The session is over');
  }

  send(
    batch: readonly Outgoing[],
    options: { readonly signal: AbortSignal; readonly alone?: boolean },
    done: (index: number, outcome: Outcome) => void,
  ): void {
    this.#sends.send(batch, options, done);
  }

  close(): void {
    if (this.#over) return;
    this.#options.broker.left(this);
    this.#end(new MemoryBrokerError('connection', 'The session is closed'));
  }

  #end(error: unknown): void {
    this.#over = true;
    this.#options.onEnd();
    this.#sends.end(error);
  }
}
