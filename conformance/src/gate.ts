/** Holds handlers until a case lets them go. Opens once, for good. */
export class Gate {
  readonly #opened = Promise.withResolvers<void>();

  opened(): Promise<void> {
    return this.#opened.promise;
  }

  open(): void {
    this.#opened.resolve();
  }
}
