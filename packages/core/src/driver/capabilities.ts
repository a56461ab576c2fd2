import type { Outgoing } from './driver.ts';

/** How a delay can be held. Core picks by policy and rounds up. */
export type Delay =
  /** JetStream nak, SQS visibility: the delivery goes back with its delay. */
  | {
      readonly by: 'return';
      readonly stepMs: number;
      readonly maxMs: number;
      readonly holdsSlot: boolean;
      readonly blocksLane: boolean;
    }
  /** RabbitMQ 4.3 delayed retry: the broker picks, core predicts. */
  | { readonly by: 'return-linear'; readonly minMs: number; readonly maxMs: number }
  /** RabbitMQ TTL: the consumer's own delays, made by `plan()`. */
  | { readonly by: 'bucket'; readonly minMs: number; readonly maxMs: number }
  /** JetStream schedule, SQS DelaySeconds: a copy that is not delivered before a time. */
  | {
      readonly by: 'copy-at';
      readonly minMs: number;
      readonly stepMs: number;
      readonly maxMs: number;
    }
  /** Kafka: core holds the head of the retry topic until it is due. */
  | { readonly by: 'held-log' };

/** What a broker can do, as data. Each adapter states the source of every figure. */
export interface Capabilities {
  readonly delays: readonly Delay[];
  /** A release raises the first kind. Only ever a hint. */
  readonly nativeCount: 'every-delivery' | 'failures' | 'none';
  /** Unit of ordering that the broker hands out. */
  readonly lanes: 'none' | 'one' | 'partition' | 'group';
  readonly fanOut: 'broker' | 'publisher';
  /** 0: the broker drops no repeated dedup id. */
  readonly dedupWindowMs: number;
  readonly idChars: number;
  readonly headers: { readonly count: number; readonly bytes: number };
  readonly bodyBytes: number;
  /** Bounds `send()` and `settle()` alike. */
  readonly batch: {
    readonly items: number;
    readonly bytes: number;
    readonly oneAddress: boolean;
  };
  /** `xml`: only characters that XML allows. */
  readonly text: 'any' | 'xml';
  /** Pure. What counts toward `bodyBytes` and `batch.bytes`. */
  sizeOf(message: Outgoing): number;
}
