import type { Drift, Finding } from '../driver/driver.ts';
import type { FailureClass } from '../failure/failure-class.ts';
import type { ParkReason } from '../parking/parked-message.ts';

/** Where a delivery stands; part of every event about one message. */
export interface MessageRef {
  readonly consumer: string;
  readonly messageId: string;
  readonly type?: string;
  readonly attempt: number;
}

/** Everything a bus tells about itself: the only outlet for logs and metrics. Instants are ms since the epoch. */
export type BusEvent =
  | { readonly event: 'connection.opened'; readonly broker: string; readonly session: number }
  | { readonly event: 'connection.lost'; readonly broker: string; readonly error: unknown }
  | {
      readonly event: 'connection.failed';
      readonly broker: string;
      readonly error: unknown;
      readonly tries: number;
      readonly nextTryInMs: number;
    }
  | { readonly event: 'connection.blocked' | 'connection.unblocked'; readonly broker: string }
  | {
      readonly event: 'topology.drift';
      readonly broker: string;
      readonly drift: readonly Drift[];
    }
  /** A destination could not be declared at its first use; it is tried again at the next. */
  | {
      readonly event: 'topology.failed';
      readonly broker: string;
      readonly destination: string;
      readonly error: unknown;
    }
  /** Messages found no way, and the topology could not be applied again. */
  | { readonly event: 'topology.unrepaired'; readonly error: unknown }
  | { readonly event: 'preflight.finding'; readonly source: string; readonly finding: Finding }
  | {
      readonly event: 'publish.failed';
      readonly broker: string;
      readonly messageId: string;
      readonly outcome: string;
      readonly error: unknown;
    }
  | ({ readonly event: 'message.applied'; readonly durationMs: number } & MessageRef)
  | ({ readonly event: 'message.duplicate' | 'message.stale' | 'message.expired' } & MessageRef)
  | ({ readonly event: 'message.rejected'; readonly reason: string } & MessageRef)
  | ({ readonly event: 'message.unhandled' } & MessageRef)
  | ({
      readonly event: 'message.failed';
      readonly failure: FailureClass;
      readonly error: unknown;
      /** The store could not record this failure: the weaker bound holds. */
      readonly unrecorded: boolean;
    } & MessageRef)
  | ({
      readonly event: 'message.retried';
      readonly dueAtMs: number;
      readonly delayMs: number;
    } & MessageRef)
  | ({ readonly event: 'message.deferred'; readonly dueAtMs: number } & MessageRef)
  | ({ readonly event: 'message.late'; readonly latenessMs: number } & MessageRef)
  | ({
      readonly event: 'message.parked';
      readonly reason: ParkReason;
      readonly error?: unknown;
    } & MessageRef)
  | ({
      readonly event: 'copy.failed';
      readonly to: 'retry' | 'parking';
      readonly error: unknown;
      readonly tries: number;
      readonly nextTryInMs: number;
    } & MessageRef)
  | ({ readonly event: 'settle.lost'; readonly how: string; readonly result: string } & MessageRef)
  | { readonly event: 'handler.stuck'; readonly consumer: string; readonly messageId: string }
  | {
      readonly event: 'intake.fault';
      readonly consumer: string;
      readonly source: string;
      readonly kind: string;
      readonly error: unknown;
    }
  | {
      readonly event: 'log.gap';
      readonly consumer: string;
      readonly lane: string;
      readonly committed: bigint;
      readonly low: bigint;
    }
  | { readonly event: 'store.failed'; readonly during: string; readonly error: unknown }
  | { readonly event: 'outbox.sent'; readonly count: number; readonly oldestMs: number }
  | {
      readonly event: 'outbox.refused';
      readonly messageId: string;
      readonly kind: string;
      readonly error: unknown;
    }
  | { readonly event: 'outbox.delayed'; readonly messageId: string; readonly error: unknown }
  | {
      readonly event: 'shutdown.leftovers';
      readonly consumer: string;
      readonly running: number;
      readonly unsettled: number;
    };

export type Listener = (event: BusEvent) => void;

/** Hands events to listeners. A listener that throws is dropped from the call, never from the bus. */
export class EventOutlet {
  readonly #listeners = new Set<Listener>();

  on(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** False on the hot path lets callers skip building an event. */
  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  emit(event: BusEvent): void {
    for (const listener of this.#listeners) {
      try {
        const answer: unknown = listener(event);
        if (answer instanceof Promise) answer.catch(ignore);
      } catch {
        // A broken listener must not break delivery; it has no other outlet than itself.
      }
    }
  }
}

/** The same of an asynchronous listener: without this it would end the process. */
const ignore = (): void => undefined;
