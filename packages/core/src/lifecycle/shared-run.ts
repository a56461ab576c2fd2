/**
 * One piece of work, one run at a time. Who asks while it runs shares the next run: the running one
 * may have passed already what they ask for.
 */
export class SharedRun {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Settles with the first run that began after the call. */
  ask(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#start();
    const start = (): Promise<void> => this.#start();
    this.#next = this.#running.then(start, start);
    return this.#next;
  }

  #start(): Promise<void> {
    this.#next = undefined;
    const run = this.#work().finally(() => {
      this.#running = undefined;
    });
    this.#running = run;
    return run;
  }
}
