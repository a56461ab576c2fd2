import { indexOf } from './messages.ts';
import { startProfile } from './profiler.ts';

/** What one trial took. CPU is that of the whole process, garbage collection and compiler included. */
export interface Figures {
  readonly messages: number;
  readonly userMicros: number;
  readonly systemMicros: number;
  readonly wallMs: number;
  /** Ids of the trial, warm-up included, that never arrived. */
  readonly lost: number;
  /** Arrivals beyond the first of each id. */
  readonly doubled: number;
}

export interface Load {
  readonly warmup: number;
  readonly measured: number;
}

type Cost = Pick<Figures, 'userMicros' | 'systemMicros' | 'wallMs'>;

/** CPU and time between `start` and `stop`. The heap is collected before, so that trials begin alike. */
export class Meter {
  #cpu: NodeJS.CpuUsage | undefined;
  #at = 0;
  #endProfile: () => void = () => {};

  start(): void {
    globalThis.gc?.();
    this.#endProfile = startProfile();
    this.#at = performance.now();
    this.#cpu = process.cpuUsage();
  }

  stop(): Cost {
    const { user, system } = process.cpuUsage(this.#cpu);
    const wallMs = performance.now() - this.#at;
    this.#endProfile();
    return { userMicros: user, systemMicros: system, wallMs };
  }
}

/** Counts every id of a trial; nothing else tells a fast loop from one that loses. */
export class Tally {
  readonly #seen: Uint8Array;
  #arrived = 0;
  #strangers = 0;

  constructor(expected: number) {
    this.#seen = new Uint8Array(expected);
  }

  /** Arrivals so far, repeats included. */
  get arrived(): number {
    return this.#arrived;
  }

  add(id: string): void {
    const index = indexOf(id);
    this.#arrived += 1;
    const before = this.#seen[index];
    if (before === undefined) this.#strangers += 1;
    else this.#seen[index] = Math.min(before + 1, 255);
  }

  /** Strange ids count as doubled: they came on top. */
  result(): Pick<Figures, 'lost' | 'doubled'> {
    let lost = 0;
    let doubled = this.#strangers;
    for (const count of this.#seen) {
      if (count === 0) lost += 1;
      else doubled += count - 1;
    }
    return { lost, doubled };
  }
}

/** Measures consuming: from the end of the warm-up to the last message, by the count of a tally. */
export class Course {
  readonly tally: Tally;
  readonly #load: Load;
  readonly #meter = new Meter();
  readonly #done = Promise.withResolvers<Cost>();

  constructor(load: Load) {
    this.#load = load;
    this.tally = new Tally(load.warmup + load.measured);
  }

  /** Call it when a message was handled. */
  handled(id: string): void {
    this.tally.add(id);
    const { arrived } = this.tally;
    if (arrived === this.#load.warmup) this.#meter.start();
    if (arrived === this.#load.warmup + this.#load.measured) this.#done.resolve(this.#meter.stop());
  }

  /** Rejects when the messages do not arrive in time, which a loss looks like. */
  async finished(deadlineMs: number): Promise<Cost> {
    const timer = setTimeout(() => {
      const text = `${this.tally.arrived} messages came within ${deadlineMs} ms; ${JSON.stringify(this.tally.result())}`;
      this.#done.reject(new Error(text));
    }, deadlineMs);
    try {
      return await this.#done.promise;
    } finally {
      clearTimeout(timer);
    }
  }
}
