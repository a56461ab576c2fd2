/** Stable and printable (SQS: queue name, not URL): outbox rows are keyed by it. */
export type Address = string;

/** What a bus needs of its broker, without any broker's words. */
export interface Topology {
  readonly destinations: readonly TopologyDestination[];
  readonly consumers: readonly TopologyConsumer[];
}

export interface TopologyDestination {
  readonly name: string;
  /** Consumers of it; read only where the publisher fans out. */
  readonly subscribers?: readonly string[];
}

export interface TopologyConsumer {
  readonly name: string;
  /** Destinations it reads. */
  readonly from: readonly string[];
  /** Message types it handles, for brokers that filter. Empty: every type. */
  readonly types: readonly string[];
  /** Retry delays, ascending; each is a place of its own on brokers with buckets. */
  readonly delaysMs: readonly number[];
  readonly lanes?: number;
}

/** What core sends to. */
export type Target =
  /** `type`: routing key, subject token. */
  | { readonly at: 'destination'; readonly name: string; readonly type?: string }
  /** `delayMs` only where the delay is part of the place (buckets, retry topics). */
  | { readonly at: 'retry'; readonly consumer: string; readonly delayMs?: number }
  | { readonly at: 'redrive' | 'parking'; readonly consumer: string };

/** What core reads: one receiver each. */
export interface Source {
  readonly address: Address;
  readonly consumer: string;
  readonly feed: 'live' | 'retry' | 'parking' | 'nativeDlq';
}

export interface Resource {
  readonly kind: string;
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Pure, printable, diffable. */
export interface Plan {
  readonly resources: readonly Resource[];
  /** Several only for publisher fan-out; none = unroutable. */
  address(target: Target): readonly Address[];
  sources(consumer: string): readonly Source[];
}
