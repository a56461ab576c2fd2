import type { Contract, Draft } from '../contract/contract.ts';
import type { Aggregate } from '../envelope/envelope.ts';

/** A message as a handler sees it: validated and upcast to the contract's version. */
export interface Message<D = unknown> {
  /** Names the fact; the idempotency key for calls outside the transaction. */
  readonly id: string;
  readonly type: string;
  readonly schemaVersion: number;
  readonly occurredAt: string;
  readonly producer: string;
  readonly correlationId: string;
  readonly causationId?: string | undefined;
  readonly aggregate?: Aggregate | undefined;
  readonly data: D;
}

/** Adds messages in the handler's transaction; they carry its correlation and causation. */
export interface HandlerOutbox {
  /**
   * Resolves once the message will be part of the commit. Nothing is sent when the handler fails;
   * a message that cannot be added fails the run, awaited or not.
   */
  add(...drafts: readonly Draft[]): Promise<void>;
}

export interface HandlerContext<Tx = unknown> {
  /** The Inbox transaction: effects made through it happen once. Rejects after the handler's end. */
  readonly tx: Tx;
  readonly outbox: HandlerOutbox;
  /** Aborts at the handler timeout and at the deadline of a shutdown. */
  readonly signal: AbortSignal;
  /** Number of this run, first = 1. */
  readonly attempt: number;
  readonly consumer: string;
}

export type HandlerFunction<D, Tx> = (
  message: Message<D>,
  context: HandlerContext<Tx>,
) => void | Promise<void>;

export interface Handler<Tx = unknown> {
  readonly contract: Contract;
  readonly run: HandlerFunction<unknown, Tx>;
}

/** Binds a handler to a contract; the list of a consumer's handlers is its filter. */
export function on<In, Out, Tx>(
  contract: Contract<In, Out>,
  run: HandlerFunction<Out, Tx>,
): Handler<Tx> {
  return { contract: contract as Contract, run: run as HandlerFunction<unknown, Tx> };
}

/** True for what `on` makes. */
export function isHandler(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { contract, run } = value as Partial<Handler>;
  return typeof contract === 'function' && typeof run === 'function';
}
