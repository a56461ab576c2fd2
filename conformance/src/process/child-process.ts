import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { History } from '../history/history.ts';
import type { WorkerConfig, WorkerLine } from '../worker/config.ts';
import type { SuiteProcess } from './process-spec.ts';

const MAIN = fileURLToPath(new URL('../worker/main.ts', import.meta.url));
const START_MS = 30_000;

/** Starts a worker process and resolves once its bus has started. */
export async function startChild(config: WorkerConfig, history: History): Promise<SuiteProcess> {
  const child = new Child(config, history);
  await child.ready();
  history.add({ what: 'started', who: config.name });
  return child;
}

class Child implements SuiteProcess {
  readonly name: string;
  readonly reached: Promise<void>;
  readonly died: Promise<void>;
  readonly #child: ChildProcess;
  readonly #history: History;
  readonly #isReady = Promise.withResolvers<void>();
  readonly #hasReached = Promise.withResolvers<void>();
  readonly #ended: Promise<string>;
  #errors = '';

  constructor(config: WorkerConfig, history: History) {
    this.name = config.name;
    this.#history = history;
    const args = ['--conditions=@ackord/source', MAIN, JSON.stringify(config)];
    this.#child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stdin?.on('error', () => undefined);
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
    if (this.#child.stdout)
      createInterface(this.#child.stdout).on('line', (line) => this.#read(line));
    this.reached = this.#hasReached.promise;
    // `close`, not `exit`: all that it wrote has been read then.
    this.#ended = new Promise((ended) => {
      this.#child.on('close', (code, signal) => ended(signal ?? `exit code ${code}`));
    });
    this.died = this.#ended.then((how) => {
      history.add({ what: 'died', who: this.name, how });
      if (how !== 'SIGKILL') throw this.#unexpected(how);
    });
    for (const promise of [this.died, this.reached, this.#isReady.promise])
      promise.catch(() => undefined);
    void this.#ended.then((how) => {
      this.#isReady.reject(this.#unexpected(how));
      if (how !== 'SIGKILL') this.#hasReached.reject(this.#unexpected(how));
    });
  }

  async ready(): Promise<void> {
    const timer = setTimeout(() => {
      this.#isReady.reject(
        new Error(`${this.name} was not ready in ${START_MS} ms. ${this.#errors}`),
      );
    }, START_MS);
    try {
      await this.#isReady.promise;
    } catch (error) {
      this.#child.kill('SIGKILL');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.died;
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const how = await this.#ended;
    if (how !== 'exit code 0' && how !== 'SIGKILL') throw this.#unexpected(how);
  }

  #read(line: string): void {
    let read: WorkerLine;
    try {
      read = JSON.parse(line) as WorkerLine;
    } catch {
      // Not one of ours: a print of a library.
      this.#history.add({ what: 'note', who: this.name, text: line });
      return;
    }
    if (read.is === 'entry') this.#history.add(read.entry);
    else if (read.is === 'reached') this.#hasReached.resolve();
    else this.#isReady.resolve();
  }

  #unexpected(how: string): Error {
    return new Error(`${this.name} ended with ${how}, not by SIGKILL.\n${this.#errors}`);
  }
}
