import type { Clock } from '../time/clock.ts';
import type { Capabilities } from './capabilities.ts';
import type { Address, Plan, Resource, Source, Topology } from './topology.ts';

/**
 * What a broker adapter implements. A driver translates: every call maps to a few client calls.
 * It never retries, counts, logs, sleeps or decides; core owns retry, attempts, parking, leases,
 * the offset ledger, chunking, reconnect, drain and all timers.
 */
export interface Driver {
  /** Broker and mechanism, for example `rabbitmq/ttl-buckets`. */
  readonly profile: string;
  /** Default of the `broker` column of the outbox and of the error's `broker` field. */
  readonly broker: string;
  /** Pure. @throws MSG_CONFIG_INVALID, MSG_CONFIG_DELAY_TOO_LONG: a name, a type or a delay cannot be mapped. */
  plan(topology: Topology): Plan;
  /** Opens one session. Rejects with the raw client error; core classifies it by `classify`. */
  open(io: OpenOptions): Promise<QueueSession | LogSession>;
  /** The kind of what `open`, `apply`, `receive` or `inspect` threw; never of an `Outcome`. */
  classify(error: unknown): FaultKind;
}

export interface OpenOptions {
  readonly plan: Plan;
  /** Aborts the opening; the session that was opened lives on. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly notice: (notice: Notice) => void;
}

export type RejectKind = 'unroutable' | 'too-large' | 'invalid' | 'refused' | 'throttled' | 'auth';
export type FaultKind = RejectKind | 'connection' | 'missing' | 'cancelled' | 'unknown';

export interface Fault {
  readonly kind: FaultKind;
  readonly error?: unknown;
  readonly lane?: Lane;
}

/** Something core should know while the session lives on. */
export interface Notice {
  readonly kind: 'blocked' | 'unblocked';
  readonly error?: unknown;
}

/** A setting that differs from the plan. `actual` is `missing` when the resource does not exist, undefined when the broker does not report it. */
export interface Drift {
  readonly resource: string;
  readonly expected: string;
  readonly actual: string | undefined;
}

/** Result of a preflight check; `code` is stable and documented. */
export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly fix?: string;
}

/** `held`: in flight, returned or scheduled; no broker tells these apart. */
export interface Depth {
  readonly ready: number;
  readonly held: number;
  readonly asOfMs: number;
  readonly oldestAtMs?: number;
}

/** Dies as a whole; core opens the next one. */
export interface BaseSession {
  readonly id: number;
  /** Known only after the handshake. */
  readonly capabilities: Capabilities;
  /** Stays pending after `close()`. Receivers of a lost session report nothing of their own. */
  readonly lost: Promise<Fault>;
  apply(resources: readonly Resource[], mode: 'create' | 'verify'): Promise<readonly Drift[]>;
  /**
   * Calls `done` once per item, in any order, never before it returns; never throws.
   * `alone`: cannot hurt what is sent beside it (RabbitMQ: a channel of its own).
   */
  send(
    batch: readonly Outgoing[],
    options: { readonly signal: AbortSignal; readonly alone?: boolean },
    done: (index: number, outcome: Outcome) => void,
  ): void;
  inspect(source: Source): Promise<Depth>;
  doctor(topology: Topology): Promise<readonly Finding[]>;
  /** Core has drained; flushes what `settle` accepted, then closes. Repeated calls are harmless. */
  close(): Promise<void>;
}

export interface QueueSession extends BaseSession {
  readonly kind: 'queue';
  /** `attach` runs before the first delivery. Rejects, or reports by fault or lost, never both. */
  receive(from: Source, attach: (receiver: QueueReceiver) => QueueSink): Promise<void>;
}

export interface LogSession extends BaseSession {
  readonly kind: 'log';
  /**
   * `start` counts only where nothing was committed. The retry feed covers every retry topic of
   * the consumer that exists, also of delays that are no longer configured.
   */
  receive(
    from: Source,
    options: { readonly start: 'earliest' | 'latest'; readonly bytes: number },
    attach: (receiver: LogReceiver) => LogSink,
  ): Promise<void>;
}

export type Token = unknown;
export type Lane = string;
/** Broker headers as text; reading them never throws. */
export type RawHeaders = Readonly<Record<string, string>>;

/** What a broker shows natively of a message. */
export interface Mirror {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly correlationId?: string;
  readonly occurredAtMs?: number;
}

export interface Outgoing {
  readonly to: Address;
  readonly body: Uint8Array;
  readonly mirror: Mirror;
  readonly headers: RawHeaders;
  /** Orders and routes (aggregate id). */
  readonly key?: string;
  /** For the transport's own dedup window; another suffix for every copy. */
  readonly dedupId: string;
  readonly notBeforeMs?: number;
}

export type Outcome =
  | { readonly is: 'confirmed'; readonly duplicate?: true }
  | { readonly is: 'rejected'; readonly kind: RejectKind; readonly error: unknown }
  | { readonly is: 'unknown'; readonly why: 'session' | 'aborted'; readonly error: unknown }
  /**
   * Refused or taken along together with others: this one may be innocent, core sends it apart.
   * Once it was sent alone, the verdict is `kind`.
   */
  | {
      readonly is: 'together';
      readonly kind: RejectKind;
      readonly stored: 'no' | 'unknown';
      readonly error: unknown;
    };

export type Settle =
  | { readonly do: 'ack' }
  /** To other instances; never counted as a failure; an open request of this receiver must not take it again. */
  | { readonly do: 'release' }
  | { readonly do: 'return'; readonly delayMs: number }
  | { readonly do: 'extend'; readonly ms: number }
  /** No broker call, frees the window: after the lease nothing may be said. */
  | { readonly do: 'drop' };

/** `ok`: handed over in order. `stale`: belongs to an older session or an expired lease; nothing was sent. */
export type Settled = 'ok' | 'stale' | 'unknown';

export interface QueueReceiver {
  /** Belongs to the queue or durable, so it is known per receiver. */
  readonly lease?: { readonly ms: number; readonly extendable: boolean; readonly maxMs: number };
  /** What a delay with `holdsSlot` uses up, over all instances. */
  readonly slots?: number;
  /** A target for the unsettled; intake begins with the first n > 0; 0 = pause. */
  setWindow(n: number): void;
  /** Lists, for multiple-ack and batched deletes; settles by its signal, never rejects. */
  settle(
    batch: readonly { readonly token: Token; readonly how: Settle }[],
    signal: AbortSignal,
  ): Promise<readonly Settled[]>;
  /** Intake only; resolves when nothing can arrive any more, which takes as long as an open poll. */
  stop(): Promise<void>;
  /** After the last settle; the session lives on. */
  close(): Promise<void>;
}

/** Synchronous: a driver never waits for a handler. */
export interface QueueSink {
  delivered(deliveries: readonly Delivery[]): void;
  /** `ended`: the receiver is gone, core opens another after its back-off. */
  fault(fault: Fault, ended: boolean): void;
}

/** For messages without an envelope and for the parked record. */
export interface Native {
  readonly id?: string;
  readonly type?: string;
  readonly subject?: string;
}

export interface Delivery {
  readonly token: Token;
  readonly lane?: Lane;
  readonly body: Uint8Array;
  readonly headers: RawHeaders;
  readonly native: Native;
  readonly receivedAtMs: number;
  readonly brokerAtMs?: number;
  readonly leaseUntilMs?: number;
  readonly redelivered: boolean;
  /** 1 on the first delivery; only a hint. */
  readonly nativeCount?: number;
  /** Arrived after `stop()`. */
  readonly late?: true;
}

export interface CommitMark {
  readonly lane: Lane;
  readonly epoch: number;
  /** First position that is not done. */
  readonly next: bigint;
  readonly note?: string;
}

export interface LogReceiver {
  /** A new assignment starts unpaused. */
  pause(lane: Lane, on: boolean): void;
  seek(lane: Lane, position: bigint): void;
  /** Monotonic and single-flight by core; the driver never repeats one. `stale` also means "not now". */
  commit(marks: readonly CommitMark[]): Promise<readonly Settled[]>;
  stop(): Promise<void>;
  /** Gives the lanes up; the session lives on. */
  leave(): Promise<void>;
}

export interface Assigned {
  readonly lane: Lane;
  readonly epoch: number;
  readonly committed?: bigint;
  readonly note?: string;
  /** First position that exists, and the one after the last. */
  readonly low: bigint;
  readonly high: bigint;
}

export interface LogSink {
  /** Called again with a new epoch when a lane is kept. */
  assigned(at: Assigned): void;
  /** It may move: commit now. */
  unsettled(lane: Lane, epoch: number): void;
  revoked(lane: Lane, epoch: number): void;
  delivered(batch: LogBatch): void;
  fault(fault: Fault, ended: boolean): void;
}

/** Covers [from, next): legal gaps are inside, so a hole shows. */
export interface LogBatch {
  readonly lane: Lane;
  readonly epoch: number;
  readonly from: bigint;
  readonly next: bigint;
  readonly receivedAtMs: number;
  readonly records: readonly LogRecord[];
}

export interface LogRecord {
  readonly position: bigint;
  readonly key?: string;
  readonly body: Uint8Array;
  readonly headers: RawHeaders;
  readonly brokerAtMs: number;
  readonly native: Native;
  /** Only on the retry feed: how long the record's topic holds it. */
  readonly delayMs?: number;
}
