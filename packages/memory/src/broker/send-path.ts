import type { Capabilities, Outcome, Outgoing, RejectKind } from '@ackord/core/driver';
import type { DedupWindow } from './dedup-window.ts';
import type { MemoryFaults, Refusal } from './faults.ts';
import { MemoryBrokerError } from './memory-broker-error.ts';
import type { SendCounter } from './send-counter.ts';

/** Where messages go: the queues or the logs of the broker. */
export interface SendTarget {
  accepts(message: Outgoing): boolean;
  store(message: Outgoing): void;
  readonly dedup: DedupWindow;
  readonly faults: MemoryFaults;
  readonly counter: SendCounter;
}

interface Pending {
  readonly index: number;
  readonly done: (index: number, outcome: Outcome) => void;
}

/** The sending half of a session: stores at once, answers later, each item once. */
export class SendPath {
  readonly #target: SendTarget;
  readonly #capabilities: Capabilities;
  readonly #pending = new Set<Pending>();
  #ended: unknown;

  constructor(target: SendTarget, capabilities: Capabilities) {
    this.#target = target;
    this.#capabilities = capabilities;
  }

  send(
    batch: readonly Outgoing[],
    options: { readonly signal: AbortSignal; readonly alone?: boolean },
    done: (index: number, outcome: Outcome) => void,
  ): void {
    const { signal } = options;
    const nothing = this.#sendsNothing(signal);
    if (nothing) {
      queueMicrotask(() => {
        for (const index of batch.keys()) done(index, nothing);
      });
      return;
    }
    const outcomes = this.#outcomes(batch, options.alone ?? false);
    const open: Pending[] = batch.map((_, index) => ({ index, done }));
    for (const each of open) this.#pending.add(each);
    const aborted = (): void => {
      const outcome = unknown('aborted', signal.reason);
      queueMicrotask(() => {
        for (const each of open) this.#end(each, outcome);
      });
    };
    signal.addEventListener('abort', aborted, { once: true });
    this.#target.faults.answer(() => {
      signal.removeEventListener('abort', aborted);
      for (const each of open) this.#end(each, outcomes[each.index] as Outcome);
    });
  }

  /** Everything that is still open, and everything sent later, ends as unknown. */
  end(error: unknown): void {
    this.#ended ??= error;
    const open = [...this.#pending];
    queueMicrotask(() => {
      for (const each of open) this.#end(each, unknown('session', error));
    });
  }

  #end(pending: Pending, outcome: Outcome): void {
    if (this.#pending.delete(pending)) pending.done(pending.index, outcome);
  }

  #sendsNothing(signal: AbortSignal): Outcome | undefined {
    if (signal.aborted) return unknown('aborted', signal.reason);
    return this.#ended === undefined ? undefined : unknown('session', this.#ended);
  }

  #outcomes(batch: readonly Outgoing[], alone: boolean): readonly Outcome[] {
    for (const { to } of batch) this.#target.counter.add(to);
    const refusals = batch.map((message) => this.#refusal(message));
    const spreading =
      alone || batch.length === 1 ? undefined : refusals.find((refusal) => refusal?.together);
    if (spreading?.together) {
      const { kind, together: stored, error } = spreading;
      if (stored === 'unknown')
        for (const [i, m] of batch.entries()) if (!refusals[i]) this.#store(m);
      return batch.map(() => ({ is: 'together', kind, stored, error }));
    }
    return batch.map((message, i): Outcome => {
      const refusal = refusals[i];
      return refusal
        ? { is: 'rejected', kind: refusal.kind, error: refusal.error }
        : this.#store(message);
    });
  }

  #store(message: Outgoing): Outcome {
    const why = this.#target.faults.takeLostConfirm(message);
    const duplicate = this.#target.dedup.repeats(message, this.#capabilities.dedupWindowMs);
    if (!duplicate) this.#target.store(message);
    if (why) return unknown(why, new MemoryBrokerError('connection', 'The confirm was lost'));
    return duplicate ? { is: 'confirmed', duplicate: true } : { is: 'confirmed' };
  }

  #refusal(message: Outgoing): Refusal | undefined {
    const injected = this.#target.faults.takeRefusal(message);
    if (injected) return injected;
    const { bodyBytes, idChars } = this.#capabilities;
    const bytes = this.#capabilities.sizeOf(message);
    if (bytes > bodyBytes) return refusal('too-large', `${bytes} bytes, limit ${bodyBytes}`);
    if (message.dedupId.length > idChars) return refusal('invalid', `dedup id over ${idChars}`);
    if (!this.#target.accepts(message)) return refusal('unroutable', `nothing at ${message.to}`);
    return undefined;
  }
}

function refusal(kind: RejectKind, text: string): Refusal {
  return { kind, together: undefined, error: new MemoryBrokerError(kind, text) };
}

function unknown(why: 'session' | 'aborted', error: unknown): Outcome {
  return { is: 'unknown', why, error };
}
