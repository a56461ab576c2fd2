import type { Driver } from '@ackord/core/driver';
import type { Need } from './case.ts';
import type { RawBroker } from './raw-broker.ts';

/** One broker with one mechanism, as the suite meets it. Lives in the test folder of its driver. */
export interface Profile {
  /** As in `Driver.profile`. */
  readonly name: string;
  /** Where effects, Inbox and Outbox live. */
  readonly database: 'pglite' | 'postgres';
  /** Default retry delays of the cases, ascending, scaled down to what the broker can hold. */
  readonly delaysMs: readonly [number, number, number];
  /** `abandoned`: there are no processes, so a kill is a bus left behind at a step, its sessions cut. */
  readonly kill: 'process' | 'abandoned';
  /** What it does not have, each with the reason: cases that need it are skipped. */
  readonly lacks?: Partial<Record<Need, string>>;
  /** Cases that make no sense here. */
  readonly skips?: readonly Deviation[];
  /** Cases that are known to fail. They run, and one that passes fails the run. */
  readonly deviations?: readonly Deviation[];
  /** `isolated`: a server of its own, for cases that stop it. */
  start(options: { readonly isolated: boolean }): Promise<BrokerRun>;
}

export interface Deviation {
  readonly cases: readonly string[];
  readonly reason: string;
  /** Document or measurement that the reason rests on. */
  readonly source: string;
}

/** A server that cases run against, side by side. */
export interface BrokerRun {
  /** Everything that a case names starts with `namespace`. */
  open(namespace: string): Promise<CaseBroker>;
  /** Closes what was started; removes a server of its own. */
  close(): Promise<void>;
}

/** The broker of one case. */
export interface CaseBroker {
  /**
   * A driver of its own, as another process would have one. It goes through `line`. `intruder`: its
   * credentials are refused.
   */
  driver(as?: 'intruder'): ProcessDriver;
  /** How a worker process makes its driver; absent where a kill is an abandoned bus. */
  readonly worker?: WorkerDriver;
  /** Reads and writes without the code under test. */
  readonly raw: RawBroker;
  /** The way from the case's buses and processes to the server. */
  readonly line: Line;
  /** Faults of the whole server; for cases with `needs: ['server']`. */
  readonly server: ServerFaults;
  /** Removes everything of the namespace. */
  close(): Promise<void>;
}

export interface ProcessDriver {
  readonly driver: Driver;
  /** Cuts its sessions off as the death of its process would, and lets it open no other. */
  kill(): void;
}

/** Must be JSON. */
export interface WorkerDriver {
  /** URL of a module. */
  readonly module: string;
  /** Its function that makes a driver of `options`. */
  readonly export: string;
  readonly options: unknown;
}

/** Faults of the network between this case and its broker; others do not notice. */
export interface Line {
  /** The broker's answers are kept back until `release`; what is sent to it arrives. */
  hold(): void;
  release(): void;
  /** Every connection breaks at once. New ones are taken. */
  cut(): void;
  /** No new connection is taken until `accept`. */
  refuse(): void;
  accept(): Promise<void>;
  /** Connections stay open and nothing passes; `release` resets them. */
  silence(): void;
}

export interface ServerFaults {
  stop(): Promise<void>;
  /** Resolves once it answers again. */
  start(): Promise<void>;
  /** SIGKILL, nothing flushed. */
  kill(): Promise<void>;
  /** Frozen: connections stay open, nothing answers. */
  pause(): Promise<void>;
  unpause(): Promise<void>;
}
