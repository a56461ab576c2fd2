import type {
  Clock,
  CommitMark,
  Driver,
  LogReceiver,
  LogSession,
  LogSink,
  Outcome,
  Outgoing,
  QueueReceiver,
  QueueSession,
  QueueSink,
  Settled,
  Source,
  Token,
} from '@ackord/core/driver';
import { idOfBody } from './messages.ts';

/** One message that core handed to a driver. */
export interface Sent {
  readonly id: string;
  /** Another than the id: a copy. */
  readonly dedupId: string;
  readonly to: string;
  readonly body: Uint8Array;
  readonly atMs: number;
  outcome: Outcome['is'] | 'open';
}

interface ReadRecord {
  readonly id: string;
  readonly position: bigint;
  readonly readAtMs: number;
}

export interface WitnessOptions {
  readonly clock: Clock;
  /** The broker was told that a consumer is done with a message. */
  readonly acked: (consumer: string, id: string, readAtMs: number) => void;
  readonly sending: (sent: Sent) => void;
}

/** Stands between core and the drivers of all processes: what was sent, delivered, acked, committed. */
export class Witness {
  readonly sent: Sent[] = [];
  deliveries = 0;
  readonly #options: WitnessOptions;
  /** By consumer and lane: read and not yet seen committed, whoever read it. */
  readonly #read = new Map<string, Map<bigint, ReadRecord>>();

  constructor(options: WitnessOptions) {
    this.#options = options;
  }

  driver<D extends Driver>(driver: D): Driver {
    return {
      profile: driver.profile,
      broker: driver.broker,
      plan: (topology) => driver.plan(topology),
      classify: (error) => driver.classify(error),
      open: async (io) => {
        const session = await driver.open(io);
        return session.kind === 'queue' ? this.#queue(session) : this.#log(session);
      },
    };
  }

  #queue(session: QueueSession): QueueSession {
    return over(session, {
      send: this.#send(session),
      receive: (from: Source, attach: (receiver: QueueReceiver) => QueueSink) =>
        session.receive(from, (receiver) => this.#attachQueue(from, receiver, attach)),
    });
  }

  #log(session: LogSession): LogSession {
    return over(session, {
      send: this.#send(session),
      receive: (
        from: Source,
        options: Parameters<LogSession['receive']>[1],
        attach: (receiver: LogReceiver) => LogSink,
      ) => session.receive(from, options, (receiver) => this.#attachLog(from, receiver, attach)),
    });
  }

  #send(session: QueueSession | LogSession): QueueSession['send'] {
    return (batch, options, done) => {
      const sent = batch.map((message) => this.#sending(message));
      session.send(batch, options, (index, outcome) => {
        const one = sent[index];
        if (one !== undefined) one.outcome = outcome.is;
        done(index, outcome);
      });
    };
  }

  #sending({ mirror, dedupId, to, body }: Outgoing): Sent {
    const atMs = this.#options.clock.now();
    const id = idOfBody(body).startsWith('junk') ? idOfBody(body) : mirror.id;
    const sent: Sent = { id, dedupId, to, body: new Uint8Array(body), atMs, outcome: 'open' };
    this.#options.sending(sent);
    this.sent.push(sent);
    return sent;
  }

  #attachQueue(
    { consumer }: Source,
    receiver: QueueReceiver,
    attach: (receiver: QueueReceiver) => QueueSink,
  ): QueueSink {
    const { clock } = this.#options;
    const read = new Map<Token, { id: string; readAtMs: number }>();
    const settle: QueueReceiver['settle'] = async (batch, signal) => {
      const answers = await receiver.settle(batch, signal);
      for (const [index, { token, how }] of batch.entries()) {
        const at = read.get(token);
        if (how.do !== 'ack' || answers[index] !== 'ok' || at === undefined) continue;
        this.#options.acked(consumer, at.id, at.readAtMs);
      }
      return answers;
    };
    const sink = attach(over(receiver, { settle }));
    return {
      delivered: (deliveries) => {
        this.deliveries += deliveries.length;
        for (const { token, body } of deliveries) {
          read.set(token, { id: idOfBody(body), readAtMs: clock.now() });
        }
        sink.delivered(deliveries);
      },
      fault: (fault, ended) => sink.fault(fault, ended),
    };
  }

  #attachLog(
    source: Source,
    receiver: LogReceiver,
    attach: (receiver: LogReceiver) => LogSink,
  ): LogSink {
    const commit = async (marks: readonly CommitMark[]): Promise<readonly Settled[]> => {
      const answers = await receiver.commit(marks);
      for (const [index, { lane, next }] of marks.entries()) {
        if (answers[index] === 'ok') this.#committed(source, lane, next);
      }
      return answers;
    };
    const sink = attach(over(receiver, { commit }));
    return {
      ...over(sink, {}),
      delivered: (batch) => {
        this.deliveries += batch.records.length;
        const read = this.#readOf(source, batch.lane);
        for (const { position, body } of batch.records) {
          if (read.has(position)) continue;
          read.set(position, { id: idOfBody(body), position, readAtMs: batch.receivedAtMs });
        }
        sink.delivered(batch);
      },
    };
  }

  #committed(source: Source, lane: string, next: bigint): void {
    const read = this.#readOf(source, lane);
    for (const { id, position, readAtMs } of [...read.values()]) {
      if (position >= next) continue;
      read.delete(position);
      this.#options.acked(source.consumer, id, readAtMs);
    }
  }

  #readOf({ address }: Source, lane: string): Map<bigint, ReadRecord> {
    const key = `${address} ${lane}`;
    const read = this.#read.get(key) ?? new Map<bigint, ReadRecord>();
    this.#read.set(key, read);
    return read;
  }
}

/** The same object with some members replaced; the others keep their `this`. */
function over<T extends object>(target: T, members: Partial<Record<keyof T, unknown>>): T {
  return new Proxy(target, {
    get(of, name) {
      if (name in members) return members[name as keyof T];
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === 'function' ? (value.bind(of) as unknown) : value;
    },
  });
}
