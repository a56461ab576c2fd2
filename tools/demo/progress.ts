/** Without a terminal a line is written this often. */
const LINE_EVERY_MS = 2_000;

/** One line that is rewritten on a terminal; elsewhere a line now and then. Always on standard error. */
export class Progress {
  readonly #tty = process.stderr.isTTY === true;
  #shown = '';
  #writtenAtMs = 0;

  /** Replaces the line. */
  update(text: string): void {
    if (text === this.#shown) return;
    const nowMs = Date.now();
    if (this.#tty) {
      const width = (process.stderr.columns ?? 80) - 1;
      process.stderr.write(`\r\u001b[K${text.slice(0, width)}`);
    } else if (nowMs - this.#writtenAtMs >= LINE_EVERY_MS) {
      process.stderr.write(`${text}\n`);
      this.#writtenAtMs = nowMs;
    } else return;
    this.#shown = text;
  }

  /** A line that stays. */
  note(text: string): void {
    this.end();
    process.stderr.write(`${text}\n`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#tty && this.#shown !== '') process.stderr.write('\r\u001b[K');
    this.#shown = '';
  }
}
