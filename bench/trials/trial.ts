import type { Figures, Load } from '../meter.ts';

export const MEASUREMENTS = ['publish', 'inbox', 'consume', 'core'] as const;
export type Measurement = (typeof MEASUREMENTS)[number];
export type Contestant = 'raw' | 'ours';

/** What a process of its own is asked to measure. */
export interface TrialOrder extends Load {
  readonly measurement: Measurement;
  readonly contestant: Contestant;
  /** Part of every name at the broker. */
  readonly name: string;
  readonly brokerUrl: string;
  /** An empty database of the trial; only the Inbox path needs one. */
  readonly databaseUrl: string | undefined;
}

export type Trial = (order: TrialOrder) => Promise<Figures>;

/** Longest wait for messages that should come. */
export const ARRIVAL_MS = 60_000;
