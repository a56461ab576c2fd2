import type {
  Assigned,
  Clock,
  CommitMark,
  Lane,
  LogReceiver,
  LogRecord,
  LogSink,
  Settled,
} from '@ackord/core/driver';
import { rawOf } from '../broker/stored-message.ts';
import type { ConsumerGroup, Member, Ownership } from './consumer-group.ts';
import type { LogServer } from './log-server.ts';
import type { GroupSettings } from './log-topology.ts';
import type { Entry, Partition } from './partition.ts';

/** Records of one batch at most. */
const BATCH_RECORDS = 50;

export interface LogReceiverOptions {
  readonly server: LogServer;
  readonly group: ConsumerGroup;
  readonly reads: GroupSettings;
  readonly clock: Clock;
  readonly start: 'earliest' | 'latest';
  /** Bytes of bodies in one batch at most; a single record may be larger. */
  readonly bytes: number;
  readonly onEnd: (receiver: MemoryLogReceiver) => void;
}

export class MemoryLogReceiver implements LogReceiver, Member {
  readonly owned: Map<Lane, Ownership> = new Map();
  readonly start: 'earliest' | 'latest';
  readonly #options: LogReceiverOptions;
  #sink: LogSink | undefined;
  #stopped = false;
  #over = false;
  #scheduled = false;

  constructor(options: LogReceiverOptions) {
    this.#options = options;
    this.start = options.start;
  }

  join(attach: (receiver: LogReceiver) => LogSink): void {
    this.#sink = attach(this);
    this.#options.group.join(this);
  }

  pause(lane: Lane, on: boolean): void {
    const own = this.owned.get(lane);
    if (!own) return;
    own.paused = on;
    this.wake();
  }

  seek(lane: Lane, position: bigint): void {
    const own = this.owned.get(lane);
    if (!own) return;
    own.at = position;
    this.wake();
  }

  commit(marks: readonly CommitMark[]): Promise<readonly Settled[]> {
    return Promise.resolve(this.#options.group.commit(this, marks));
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return Promise.resolve();
  }

  leave(): Promise<void> {
    this.end();
    return Promise.resolve();
  }

  /** Without a word to the sink: left by core, or lost with its session. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.group.leave(this);
    this.#options.onEnd(this);
  }

  topics(): readonly string[] {
    return this.#options.server.topicsOf(this.#options.reads);
  }

  assigned(at: Assigned): void {
    this.#sink?.assigned(at);
  }

  unsettled(lane: Lane, epoch: number): void {
    this.#sink?.unsettled(lane, epoch);
  }

  revoked(lane: Lane, epoch: number): void {
    this.#sink?.revoked(lane, epoch);
  }

  cancelled(topic: string): void {
    if (this.#over) return;
    this.end();
    this.#sink?.fault({ kind: 'missing', error: new Error(`Topic "${topic}" is gone`) }, true);
  }

  /** Fetches on the next turn of the event loop, never inside of a caller. */
  wake(): void {
    if (this.#scheduled || this.#over) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#fetch();
    });
  }

  #fetch(): void {
    let more = false;
    for (const own of [...this.owned.values()]) {
      if (this.#idle(own)) continue;
      const { partition, epoch, at: from } = own;
      const limit = { records: BATCH_RECORDS, bytes: this.#options.bytes };
      const { found, next } = partition.read(from, limit);
      own.at = next;
      more ||= next < partition.high;
      this.#sink?.delivered({
        lane: partition.lane,
        epoch,
        from,
        next,
        receivedAtMs: this.#options.clock.now(),
        records: found.map((entry) => this.#recordOf(partition, entry)),
      });
    }
    if (more) this.wake();
  }

  #idle(own: Ownership): boolean {
    if (this.#stopped || this.#over || own.paused || own.moving) return true;
    return this.owned.get(own.partition.lane) !== own || own.at >= own.partition.high;
  }

  #recordOf({ topic }: Partition, { position, message }: Entry): LogRecord {
    const { body, headers, key } = rawOf(message);
    const { retriesOf } = this.#options.reads;
    const delayMs = this.#options.server.topic(topic)?.settings.delayMs ?? 0;
    return {
      position,
      body,
      headers,
      brokerAtMs: message.storedAtMs,
      native: { subject: topic },
      ...(key === undefined ? {} : { key }),
      ...(retriesOf === undefined ? {} : { delayMs }),
    };
  }
}
