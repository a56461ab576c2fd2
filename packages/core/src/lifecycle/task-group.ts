/** Owner of promises that nobody awaits one by one: none is lost, and close waits for all. */
export class TaskGroup {
  readonly #tasks = new Set<Promise<void>>();
  readonly #failed: (error: unknown) => void;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  run(work: () => Promise<void>): void {
    const task = work()
      .catch(this.#failed)
      .finally(() => {
        this.#tasks.delete(task);
      });
    this.#tasks.add(task);
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** Resolves when nothing runs any more, tasks started meanwhile included. */
  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }
}
