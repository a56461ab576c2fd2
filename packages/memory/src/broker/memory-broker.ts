import {
  type Clock,
  type Fault,
  type FaultKind,
  type Lane,
  systemClock,
} from '@ackord/core/driver';
import type { Commit } from '../log/consumer-group.ts';
import { LogServer } from '../log/log-server.ts';
import { QueueServer } from '../queue/queue-server.ts';
import { MemoryFaults } from './faults.ts';
import { MemoryBrokerError } from './memory-broker-error.ts';
import { SendCounter } from './send-counter.ts';
import { type RawMessage, rawOf, type StoredMessage, storedFromRaw } from './stored-message.ts';

export interface MemoryBrokerOptions {
  /** Times delays, leases and rebalances. Default: the system's clock. */
  readonly clock?: Clock;
  /** Logs: how long a rebalance takes, in ms. Default 20. */
  readonly rebalanceMs?: number;
  /** Logs: after every n-th record two positions stay without one. Default 7; 0: never. */
  readonly gapEvery?: number;
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
  /** @internal */
  readonly logs: LogServer;
  readonly #counter = new SendCounter();
  readonly #clock: Clock;
  readonly #sessions = new Map<MemberSession, (fault: Fault) => void>();
  #ids = 0;

  constructor(options: MemoryBrokerOptions = {}) {
    const { clock = systemClock, rebalanceMs = 20, gapEvery = 7 } = options;
    const counter = this.#counter;
    const faults = new MemoryFaults((address) => {
      this.queues.cancel(address);
      this.logs.cancel(address);
    });
    this.#clock = clock;
    this.faults = faults;
    this.queues = new QueueServer(clock, faults, counter);
    this.logs = new LogServer({ clock, faults, counter, rebalanceMs, gapEvery });
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

  /** How many messages were sent to an address, or to all, whatever became of them. */
  sent(address?: string): number {
    return this.#counter.count(address);
  }

  /** What an address keeps, whoever holds it, oldest first; nothing is consumed. A topic: all records. */
  dump(address: string): readonly RawMessage[] {
    return this.#messages(address).map(rawOf);
  }

  /** How many messages an address keeps, ready or held. */
  depth(address: string): number {
    return this.#messages(address).length;
  }

  /** Puts a foreign message in, past every check. Throws when nothing has that address. */
  inject(address: string, message: Partial<RawMessage>): void {
    const stored = storedFromRaw(address, message, this.#clock.now());
    if (this.logs.has(address)) this.logs.append(address, stored);
    else if (this.queues.has(address)) this.queues.put(address, stored);
    else throw new Error(`Nothing is called "${address}".`);
  }

  /** Logs: starts a rebalance of a consumer group; by default lanes move where they can. */
  rebalance(group: string, options: { move?: boolean } = {}): void {
    this.logs.group(group).rebalance(options.move ?? true);
  }

  /** Logs: every commit that a consumer group accepted, in order. */
  commits(group: string): readonly Commit[] {
    return this.logs.group(group).history;
  }

  /** Logs: drops the records of a lane below a position, as retention does. */
  trim(lane: Lane, before: bigint): void {
    this.logs.partition(lane)?.trim(before);
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

  #messages(address: string): readonly StoredMessage[] {
    return this.logs.has(address) ? this.logs.messages(address) : this.queues.messages(address);
  }
}
