import type { Effect, InboxRow } from '../database/queries.ts';
import type { History } from '../history/history.ts';
import type { RawMessage } from '../raw-broker.ts';
import { ackAfterDurable } from './ack-after-durable.ts';
import { budget } from './budget.ts';
import { dueTimes } from './due-times.ts';
import { noHotLoop } from './no-hot-loop.ts';
import { noLoss } from './no-loss.ts';
import { oneEffect } from './one-effect.ts';
import { order } from './order.ts';
import { sameBytes } from './same-bytes.ts';
import { settled } from './settled.ts';

/**
 * What is judged: I1 is number 1 of `docs/explanation/delivery-guarantees.md`, and so on. I4 is judged with I1: a row
 * that was committed and is gone must have an end.
 */
type Invariant = 'I1' | 'I2' | 'I3' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9' | 'I10' | 'I11' | 'I12';

/** What a case may set before its end. */
export interface Limits {
  /** Hand-overs of one message to one consumer within any second. Default 20. */
  deliveriesPerSecond: number;
  /** Connects of one bus or process within any second, failed ones included. Default 20. */
  connectsPerSecond: number;
  /** Decisions beyond `maxAttempts` that the profile's documented weaker bound allows. Default 0. */
  extraRuns: number;
  /** Invariants that the case breaks on purpose, with the reason. */
  skip: Partial<Record<Invariant, string>>;
}

export interface Consumer {
  readonly name: string;
  readonly reads: string;
  /** Messages that were sent before it existed are not owed to it. */
  readonly sinceMs: number;
  readonly maxAttempts: number;
  readonly delaysMs: readonly number[];
  readonly order: string;
  readonly inbox: boolean;
  /** Its handler is the test handler and writes effects. */
  readonly effects: boolean;
}

/** Everything that is judged: what was seen, and what database and broker hold at the end. */
export interface Evidence {
  readonly history: History;
  readonly limits: Limits;
  readonly consumers: readonly Consumer[];
  readonly orders: string;
  readonly effects: readonly Effect[];
  readonly stock: ReadonlyMap<string, number>;
  readonly inbox: readonly InboxRow[];
  readonly outbox: readonly string[];
  /** What the broker keeps, by full name of the consumer. */
  readonly kept: ReadonlyMap<string, readonly RawMessage[]>;
  readonly parked: ReadonlyMap<string, readonly RawMessage[]>;
  readonly lostPromises: readonly string[];
}

/** A rule answers with one readable line per violation. */
export type Rule = (evidence: Evidence) => readonly string[];

const RULES: readonly (readonly [Invariant, Rule])[] = [
  ['I1', noLoss],
  ['I2', oneEffect],
  ['I3', ackAfterDurable],
  ['I5', sameBytes],
  ['I6', dueTimes],
  ['I7', budget.runs],
  ['I8', budget.permanent],
  ['I9', budget.onlyWhoFailed],
  ['I10', noHotLoop],
  ['I11', order],
  ['I12', settled],
];

/** Every violation, each beginning with its invariant. */
export function check(evidence: Evidence): readonly string[] {
  return RULES.filter(([invariant]) => evidence.limits.skip[invariant] === undefined).flatMap(
    ([invariant, rule]) => rule(evidence).map((violation) => `${invariant}: ${violation}`),
  );
}
