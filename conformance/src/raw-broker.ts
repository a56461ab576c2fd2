/** A physical place of the broker. `consumer` is the full name; default: the case's `reserve`. */
export type Place =
  | { readonly at: 'destination'; readonly name?: string }
  | { readonly at: 'source' | 'retry' | 'parking'; readonly consumer?: string }
  | { readonly at: 'bucket'; readonly delayMs: number; readonly consumer?: string };

/** A message as any client of the broker sees it. */
export interface RawMessage {
  readonly body: Uint8Array;
  /** As text, the broker's own included. */
  readonly headers: Readonly<Record<string, string>>;
  /** Native message id. */
  readonly id?: string;
  readonly type?: string;
}

/** The broker's own client, out of the band of the adapter under test. */
export interface RawBroker {
  /** Writes as a foreign producer would; `type` routes at a destination. */
  publish(to: Place, message: Partial<RawMessage>): Promise<void>;
  /**
   * Everything that is ready there, oldest first; it stays there. Empty when the place is missing.
   * A broker may count it as a delivery: ask `ready` first where you poll, above all at buckets.
   */
  dump(place: Place): Promise<readonly RawMessage[]>;
  /** Messages that wait there, those that a consumer holds not included. 0 when it is missing. */
  ready(place: Place): Promise<number>;
  purge(place: Place): Promise<void>;
  /** Takes a place away with everything in it. */
  remove(place: Place): Promise<void>;
  /** Makes a removed place as it was, empty. */
  restore(place: Place): Promise<void>;
  /** A place that is full refuses messages; a broker may take a few more before it does. */
  full(place: Place, isFull: boolean): Promise<void>;
  /** Delays of buckets (or retry topics) that exist for the consumer. */
  buckets(consumer?: string): Promise<readonly number[]>;
}
