/** Rejections that nobody waited for while cases ran; which of them caused one cannot be told. */
export class LostPromises {
  readonly texts: string[] = [];
  readonly #listener = (reason: unknown): void => {
    this.texts.push(reason instanceof Error ? (reason.stack ?? reason.message) : String(reason));
  };

  constructor() {
    process.on('unhandledRejection', this.#listener);
  }

  stop(): void {
    process.off('unhandledRejection', this.#listener);
  }
}
