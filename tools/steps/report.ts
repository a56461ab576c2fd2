import { closingLine, type Totals } from '../closing-line.ts';

/** Why a step failed: its last lines and what to do. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
}

export interface Step {
  readonly name: string;
  /** What to do when it fails. */
  readonly mend: string;
  /** Throws when it fails. Resolves to totals when it ran tests; otherwise it counts as one. */
  readonly run: (signal: AbortSignal) => Promise<Totals | undefined>;
}

/** Runs steps one after another, prints each with its duration, and adds the totals up. */
export class Report {
  readonly totals: Totals = { passed: 0, failed: 0, skipped: 0 };
  readonly #failures: string[] = [];
  readonly #startedAt = performance.now();

  /** A step that fails does not stop the ones after it; an aborted run starts no further one. */
  async run(steps: readonly Step[], signal: AbortSignal): Promise<void> {
    for (const step of steps) {
      if (signal.aborted) return;
      process.stdout.write(`▸ ${step.name}\n`);
      const startedAt = performance.now();
      const error = await this.#outcome(step, signal);
      if (signal.aborted) return;
      if (error === undefined) {
        process.stdout.write(`  ok, ${seconds(startedAt)}\n`);
        continue;
      }
      process.stdout.write(`${error}\n  FAILED, ${seconds(startedAt)}: ${step.mend}\n`);
      this.#failures.push(`${step.name}: ${step.mend}`);
    }
  }

  /** Prints what failed and the closing line; the exit code of the run. */
  close(signal: AbortSignal): number {
    process.stdout.write(`\nTook ${seconds(this.#startedAt)}.\n`);
    if (signal.aborted)
      process.stdout.write('Stopped before the end: the totals are not complete.\n');
    for (const failure of this.#failures) process.stdout.write(`FAILED ${failure}\n`);
    process.stdout.write(`${closingLine(this.totals)}\n`);
    if (signal.aborted) return 130;
    return this.totals.failed > 0 ? 1 : 0;
  }

  async #outcome(step: Step, signal: AbortSignal): Promise<string | undefined> {
    try {
      const ran = await step.run(signal);
      this.#add(ran ?? { passed: 1, failed: 0, skipped: 0 });
      return ran && ran.failed > 0 ? `  ${closingLine(ran)}` : undefined;
    } catch (error) {
      this.#add({ passed: 0, failed: 1, skipped: 0 });
      return error instanceof StepFailed ? error.message.trimEnd() : String((error as Error).stack);
    }
  }

  #add(ran: Totals): void {
    this.totals.passed += ran.passed;
    this.totals.failed += ran.failed;
    this.totals.skipped += ran.skipped;
  }
}

function seconds(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
}
