import type { Native, RawHeaders } from '../driver/driver.ts';
import type { Envelope } from '../envelope/envelope.ts';
import type { WireHeaders } from '../envelope/wire-headers.ts';
import type { ParkedRecord } from '../parking/parked-message.ts';

/** One message as a source handed it over, whatever kind of source that was. */
export interface Incoming {
  readonly body: Uint8Array;
  readonly headers: RawHeaders;
  readonly native: Native;
  /** Lane key of the transport, where it has one. */
  readonly key?: string | undefined;
  readonly receivedAtMs: number;
  readonly brokerAtMs?: number | undefined;
  readonly redelivered: boolean;
  /** Deliveries the broker counted, this one included; only a hint. */
  readonly nativeCount?: number | undefined;
  /** Names a message that has no id at all; the same at every delivery where the broker allows it. */
  readonly place: string;
  /** Not before this time by the place it was read from (a retry topic). */
  readonly heldUntilMs?: number | undefined;
}

/** What the pipeline decided; acting on it is the business of `settle`. */
export type Verdict =
  | { readonly step: 'ack' }
  /** The same attempt later: it came before its due time. */
  | { readonly step: 'defer'; readonly message: Judged; readonly dueAtMs: number }
  | {
      readonly step: 'retry';
      readonly message: Judged;
      readonly dueAtMs: number;
      readonly delayMs: number;
      readonly error: unknown;
    }
  | { readonly step: 'park'; readonly message: Judged; readonly record: ParkedRecord }
  /** Nothing is known to be durable: the source keeps the message. */
  | { readonly step: 'keep'; readonly error: unknown };

/** What is known of a message once it was read. */
export interface Judged {
  readonly id: string;
  readonly incoming: Incoming;
  readonly headers: WireHeaders;
  readonly envelope?: Envelope | undefined;
  /** Number of the run that was judged, first = 1. */
  readonly attempt: number;
  readonly unknowns: number;
}

export interface PipelineResult {
  readonly verdict: Verdict;
  /** Set when a handler ignored its signal: its slot stays taken until it returns. */
  readonly lingering?: Promise<void> | undefined;
}
