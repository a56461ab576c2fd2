import type { FaultKind, Outgoing, RejectKind, Settled } from '@ackord/core/driver';
import { MemoryBrokerError } from './memory-broker-error.ts';

/** Which sends a fault meets: an address, or a test of the message. Default: all. */
export type SendFilter = string | ((message: Outgoing) => boolean);

export interface RejectOptions {
  readonly on?: SendFilter;
  /**
   * The refusal takes along whatever is sent in the same batch, as on brokers that close a channel
   * or refuse a batch whole: `no` stores nothing of it, `unknown` stores all but the refused.
   */
  readonly together?: 'no' | 'unknown';
}

interface Counted {
  left: number;
  readonly matches: (message: Outgoing) => boolean;
}
interface Reject extends Counted {
  readonly kind: RejectKind;
  readonly together: 'no' | 'unknown' | undefined;
}
interface LostConfirm extends Counted {
  readonly why: 'session' | 'aborted';
}

export interface Refusal {
  readonly kind: RejectKind;
  readonly together: 'no' | 'unknown' | undefined;
  readonly error: MemoryBrokerError;
}

/**
 * Faults that a test injects into a `MemoryBroker`. For tests only.
 * Every counted fault takes `n = Infinity` for "until `clear()`".
 */
export class MemoryFaults {
  readonly #missing = new Set<string>();
  #rejects: Reject[] = [];
  #lostConfirms: LostConfirm[] = [];
  #settles: { left: number; answer: Settled } = { left: 0, answer: 'unknown' };
  #opens: { left: number; kind: FaultKind } = { left: 0, kind: 'connection' };
  #duplicates = 0;
  #held: (() => void)[] | undefined;
  readonly #onMissing: (address: string) => void;

  constructor(onMissing: (address: string) => void) {
    this.#onMissing = onMissing;
  }

  /** The next `n` matching sends are stored, but their outcome is unknown. */
  loseConfirms(n = 1, options: { on?: SendFilter; why?: 'session' | 'aborted' } = {}): void {
    const { on, why = 'session' } = options;
    this.#lostConfirms.push({ left: n, matches: matcher(on), why });
  }

  /** The next `n` matching sends are refused and not stored. */
  rejectSends(n: number, kind: RejectKind, options: RejectOptions = {}): void {
    const { on, together } = options;
    this.#rejects.push({ left: n, matches: matcher(on), kind, together });
  }

  /** The next `n` settles (log: commit marks) have no effect and get `answer`, default `unknown`. */
  loseSettles(n = 1, answer: Settled = 'unknown'): void {
    this.#settles = { left: n, answer };
  }

  /** The next `n` sessions are refused. */
  refuseOpen(kind: FaultKind, n: number = Number.POSITIVE_INFINITY): void {
    this.#opens = { left: n, kind };
  }

  /** The next `n` deliveries of a queue happen twice, each with a token of its own. */
  duplicateDeliveries(n = 1): void {
    this.#duplicates += n;
  }

  /** Sends are stored and answered only after the function that comes back was called. */
  holdConfirms(): () => void {
    const held = this.#held ?? [];
    this.#held = held;
    return () => {
      if (this.#held === held) this.#held = undefined;
      for (const answer of held.splice(0)) answer();
    };
  }

  /**
   * Takes an address (destination, bucket, retry queue, parking, topic) away until `restore()`:
   * sends are unroutable, receivers end with a fault, new ones fail as `missing`. What it holds
   * stays, and `apply()` does not bring it back.
   */
  remove(address: string): void {
    this.#missing.add(address);
    this.#onMissing(address);
  }

  restore(address: string): void {
    this.#missing.delete(address);
  }

  /** Ends every fault; what was held back is answered. */
  clear(): void {
    this.#missing.clear();
    this.#rejects = [];
    this.#lostConfirms = [];
    this.#settles.left = 0;
    this.#opens.left = 0;
    this.#duplicates = 0;
    const held = this.#held?.splice(0) ?? [];
    this.#held = undefined;
    for (const answer of held) answer();
  }

  /** @internal */
  isMissing(address: string): boolean {
    return this.#missing.has(address);
  }

  /** @internal */
  takeRefusal(message: Outgoing): Refusal | undefined {
    const fault = take(this.#rejects, message);
    if (!fault) return undefined;
    const error = new MemoryBrokerError(fault.kind, `${message.to} refused the message`);
    return { kind: fault.kind, together: fault.together, error };
  }

  /** @internal */
  takeLostConfirm(message: Outgoing): 'session' | 'aborted' | undefined {
    return take(this.#lostConfirms, message)?.why;
  }

  /** @internal */
  takeLostSettle(): Settled | undefined {
    if (this.#settles.left <= 0) return undefined;
    this.#settles.left--;
    return this.#settles.answer;
  }

  /** @internal */
  takeOpenRefusal(): MemoryBrokerError | undefined {
    if (this.#opens.left <= 0) return undefined;
    this.#opens.left--;
    return new MemoryBrokerError(this.#opens.kind, 'The in-memory broker refuses sessions');
  }

  /** @internal */
  takeDuplicate(): boolean {
    if (this.#duplicates <= 0) return false;
    this.#duplicates--;
    return true;
  }

  /** @internal */
  answer(run: () => void): void {
    if (this.#held) this.#held.push(run);
    else queueMicrotask(run);
  }
}

function matcher(on: SendFilter | undefined): (message: Outgoing) => boolean {
  if (on === undefined) return () => true;
  return typeof on === 'string' ? (message) => message.to === on : on;
}

function take<F extends Counted>(faults: readonly F[], message: Outgoing): F | undefined {
  const fault = faults.find((each) => each.left > 0 && each.matches(message));
  if (fault) fault.left--;
  return fault;
}
