import type { StepInfo, StepName } from '@ackord/core';
import type { BusSpec } from '../bus-spec.ts';

/** A bus in a process of its own that may be killed. */
export interface ProcessSpec extends BusSpec {
  /** Kills itself with SIGKILL when it comes to this step. */
  readonly dieAt?: StepName;
  /** Stands still at this step until it is killed. */
  readonly haltAt?: StepName;
  /** Counts only steps of this message. */
  readonly on?: string;
  /** Counts only the n-th time. Default 1. */
  readonly nth?: number;
}

export interface SuiteProcess {
  readonly name: string;
  /** Resolves once it stands at its step. */
  readonly reached: Promise<void>;
  /** Resolves once it is dead by SIGKILL; rejects when it ended in any other way. */
  readonly died: Promise<void>;
  /** SIGKILL now; resolves once it is dead. */
  kill(): Promise<void>;
  /** SIGTERM: the bus is closed in good order. */
  stop(): Promise<void>;
}

/** Tells when the step of a specification has come. */
export class StopPoint {
  readonly #spec: ProcessSpec;
  #seen = 0;

  constructor(spec: ProcessSpec) {
    this.#spec = spec;
  }

  at(step: StepName, { messageId }: StepInfo): 'die' | 'halt' | undefined {
    const { dieAt, haltAt, on, nth = 1 } = this.#spec;
    if (step !== dieAt && step !== haltAt) return undefined;
    if (on !== undefined && on !== messageId) return undefined;
    this.#seen += 1;
    if (this.#seen !== nth) return undefined;
    return step === dieAt ? 'die' : 'halt';
  }
}
