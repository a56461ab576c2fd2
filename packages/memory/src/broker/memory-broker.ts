import { type Clock, type Fault, type FaultKind, systemClock } from '@ackord/core/driver';
import { QueueServer } from '../queue/queue-server.ts';
import { MemoryFaults } from './faults.ts';
import { MemoryBrokerError } from './memory-broker-error.ts';
import { type RawMessage, rawOf, storedFromRaw } from './stored-message.ts';

export interface MemoryBrokerOptions {
  /** Times delays, leases and rebalances. Default: the system's clock. */
  readonly clock?: Clock;
}

/** The smallest part of a session that the broker must know. */
export interface MemberSession {
  readonly id: number;
}

/**
 * The server behind the in-memory drivers: it outlives their sessions, and drivers that share one
 * are processes on the same broker. Use it with queue drivers or with log drivers, not with both.
 *
 * Everything but the constructor is for tests.
 */
export class MemoryBroker {
  readonly faults: MemoryFaults;
  /** @internal */
  readonly queues: QueueServer;
  readonly #clock: Clock;
  readonly #sessions = new Map<MemberSession, (fault: Fault) => void>();
  #ids = 0;

  constructor(options: MemoryBrokerOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.faults = new MemoryFaults((address) => this.queues.cancel(address));
    this.queues = new QueueServer(this.#clock, this.faults);
  }

  /** Ids of the open sessions, oldest first. */
  sessions(): readonly number[] {
    return [...this.#sessions.keys()].map((session) => session.id);
  }

  /** Cuts one session off, or every one: its deliveries come again, its open sends are unknown. */
  loseSession(id?: number, kind: FaultKind = 'connection'): void {
    for (const [session, lose] of [...this.#sessions]) {
      if (id !== undefined && session.id !== id) continue;
      this.#sessions.delete(session);
      lose({ kind, error: new MemoryBrokerError(kind, 'The broker ended the session') });
    }
  }

  /** What an address keeps, whoever holds it, oldest first; nothing is consumed. */
  dump(address: string): readonly RawMessage[] {
    return this.queues.messages(address).map(rawOf);
  }

  /** How many messages an address keeps, ready or held. */
  depth(address: string): number {
    return this.queues.messages(address).length;
  }

  /** Puts a foreign message in, past every check. Throws when nothing has that address. */
  inject(address: string, message: Partial<RawMessage>): void {
    if (!this.queues.has(address)) throw new Error(`Nothing is called "${address}".`);
    this.queues.put(address, storedFromRaw(address, message, this.#clock.now()));
  }

  /** @internal */
  admit(): void {
    const refusal = this.faults.takeOpenRefusal();
    if (refusal) throw refusal;
  }

  /** @internal Answers the session's id. */
  joined(session: MemberSession, lose: (fault: Fault) => void): number {
    this.#sessions.set(session, lose);
    return ++this.#ids;
  }

  /** @internal */
  left(session: MemberSession): void {
    this.#sessions.delete(session);
  }
}
