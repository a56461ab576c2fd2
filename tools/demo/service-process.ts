import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ChildSetup, childEnv, type FromChild, type ToChild } from './child-setup.ts';

const START_MS = 60_000;
/** Longer than a service takes to close. */
const CLOSE_MS = 8_000;

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A service in a process of its own. */
export class ServiceProcess {
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #name: string;
  #exit: Exit | undefined;

  constructor(name: string, setup: ChildSetup, told: (message: FromChild) => void) {
    this.#name = name;
    const file = fileURLToPath(new URL(`${name}-process.ts`, import.meta.url));
    this.#child = fork(file, [], {
      env: childEnv(setup),
      execArgv: ['--conditions=@ackord/source'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', told);
    this.exited = once(this.#child, 'exit').then(([code, signal]) => {
      this.#exit = { code, signal };
      return this.#exit;
    });
  }

  /** Resolves once the service runs. Rejects when it ends before, with what it said. */
  async ready(signal: AbortSignal): Promise<void> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(START_MS)]);
    const said = new Promise<FromChild>((resolve) => {
      this.#child.on('message', (message: FromChild) => {
        if (message.is === 'ready' || message.is === 'failed') resolve(message);
      });
    });
    const aborted = new Promise<never>((_, reject) => {
      deadline.addEventListener('abort', () => reject(deadline.reason), { once: true });
    });
    const first = await Promise.race([said, this.exited, aborted]);
    if ('is' in first && first.is === 'ready') return;
    const why = 'is' in first && first.is === 'failed' ? `: ${first.text}` : '';
    throw new Error(`The ${this.#name} process did not start${why}`);
  }

  tell(message: ToChild): void {
    if (this.#child.connected) this.#child.send(message);
  }

  /** SIGKILL. Rejects when the process ended in any other way. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    const { code, signal } = await this.exited;
    if (signal === 'SIGKILL') return;
    throw new Error(`The ${this.#name} process ended with ${signal ?? code}, not by SIGKILL`);
  }

  /** In good order, and by SIGKILL when that takes too long or the signal aborts. */
  async close(signal: AbortSignal): Promise<void> {
    if (this.#exit !== undefined) return;
    this.tell({ do: 'close' });
    // An abort ends the waiting, not the close.
    const patience = sleep(CLOSE_MS, undefined, { ref: false, signal }).catch(() => undefined);
    await Promise.race([this.exited, patience]);
    if (this.#exit === undefined) this.#child.kill('SIGKILL');
    await this.exited;
  }
}
