/** What the services tell the demo. Instants are ms since the epoch, of this host's clock. */
export type Observation =
  /** A run began; the due gate is behind it. */
  | { readonly saw: 'run'; readonly id: string; readonly attempt: number; readonly atMs: number }
  /** The next run is due then. */
  | {
      readonly saw: 'retry';
      readonly id: string;
      readonly attempt: number;
      readonly dueAtMs: number;
    }
  | { readonly saw: 'duplicate'; readonly id: string };

/** Time from due to run, ms, in ascending order; a negative one came too early. */
export interface Lateness {
  readonly count: number;
  readonly earliestMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Collects observations and sets the run of a retry against its due time. */
export class Observations {
  duplicates = 0;
  retries = 0;
  readonly #due = new Map<string, number>();
  readonly #runs = new Map<string, number>();

  add(seen: Observation): void {
    if (seen.saw === 'duplicate') this.duplicates += 1;
    else if (seen.saw === 'retry') {
      this.retries += 1;
      // A crash between copy and ack may leave two copies: each has to keep to the earlier time.
      const key = `${seen.id} ${seen.attempt + 1}`;
      this.#due.set(key, Math.min(seen.dueAtMs, this.#due.get(key) ?? Number.POSITIVE_INFINITY));
    } else {
      const key = `${seen.id} ${seen.attempt}`;
      this.#runs.set(key, Math.min(seen.atMs, this.#runs.get(key) ?? Number.POSITIVE_INFINITY));
    }
  }

  /** Undefined when nothing was retried. */
  lateness(): Lateness | undefined {
    const late: number[] = [];
    for (const [key, dueAtMs] of this.#due) {
      const atMs = this.#runs.get(key);
      if (atMs !== undefined) late.push(atMs - dueAtMs);
    }
    late.sort((a, b) => a - b);
    const at = (share: number): number =>
      late[Math.min(late.length - 1, Math.floor(share * late.length))] ?? 0;
    if (late.length === 0) return undefined;
    return { count: late.length, earliestMs: at(0), p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  }
}
