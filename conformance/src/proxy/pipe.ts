import type { Socket } from 'node:net';

/** Client to server, or server to client. */
export type Direction = 'up' | 'down';

/** What holds for all connections of a proxy in one direction. Changed while pipes run. */
export interface PipeRules {
  held: boolean;
  swallowed: boolean;
  delayMs: number;
  /** Bytes until the connection is closed; `undefined` for no limit. */
  left: number | undefined;
  /** Bytes passed on so far. */
  passed: number;
}

/** A chunk, or the end of the stream, and when it may pass. */
interface Waiting {
  readonly chunk: Buffer | undefined;
  readonly dueAtMs: number;
}

/** One direction of one connection: passes chunks on in order as the rules allow. */
export class Pipe {
  readonly #from: Socket;
  readonly #to: Socket | undefined;
  readonly #rules: PipeRules;
  readonly #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(from: Socket, to: Socket | undefined, rules: PipeRules) {
    this.#from = from;
    this.#to = to;
    this.#rules = rules;
    from.on('data', (chunk: Buffer) => this.#take(chunk));
    from.on('end', () => this.#take(undefined));
    // The `close` event that follows tells the proxy; without a listener the process would end.
    from.on('error', () => {});
    to?.on('drain', () => from.resume());
  }

  /** Passes on what may pass now. */
  pump(): void {
    clearTimeout(this.#timer);
    while (!this.#rules.held) {
      const next = this.#waiting[0];
      if (next === undefined) return;
      const earlyMs = next.dueAtMs - performance.now();
      if (earlyMs > 0) {
        this.#timer = setTimeout(() => this.pump(), Math.ceil(earlyMs));
        return;
      }
      this.#waiting.shift();
      this.#pass(next.chunk);
    }
  }

  /** Forgets what waits. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#waiting.length = 0;
  }

  #take(chunk: Buffer | undefined): void {
    if (this.#rules.swallowed || this.#to === undefined) return;
    this.#waiting.push({ chunk, dueAtMs: performance.now() + this.#rules.delayMs });
    this.pump();
  }

  #pass(chunk: Buffer | undefined): void {
    const to = this.#to;
    if (to === undefined || to.destroyed || to.writableEnded) return;
    if (chunk === undefined) {
      to.end();
      return;
    }
    const { left } = this.#rules;
    if (left !== undefined && chunk.length >= left) {
      this.#passLast(to, chunk.subarray(0, left));
      return;
    }
    if (left !== undefined) this.#rules.left = left - chunk.length;
    this.#rules.passed += chunk.length;
    if (!to.write(chunk)) this.#from.pause();
  }

  #passLast(to: Socket, chunk: Buffer): void {
    this.#rules.left = undefined;
    this.#rules.passed += chunk.length;
    this.drop();
    // A reset could overtake the bytes at the receiver, so it gets an orderly end; the sender gets the reset.
    to.removeAllListeners('data');
    to.resume();
    to.end(chunk, () => to.destroySoon());
    this.#from.resetAndDestroy();
  }
}
