import { spawn } from 'node:child_process';

export interface CommandOptions {
  /** Shows the output while it comes; otherwise it is kept and comes back in the result. */
  readonly live?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Ends the command with SIGTERM. */
  readonly signal?: AbortSignal;
}

export interface Ended {
  /** Exit code; 127 when there is no such program, 128 and more when a signal ended it. */
  readonly code: number;
  /** Standard output; empty for a live command. */
  readonly stdout: string;
  /** Standard output and standard error as they came; empty for a live command. */
  readonly output: string;
}

/** Runs a program and resolves once it has ended, however it ends. */
export function command(line: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  const [program, ...args] = line as [string, ...string[]];
  return new Promise((ended) => {
    let stdout = '';
    let output = '';
    const child = spawn(program, args, {
      stdio: options.live ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    const end = (): boolean => child.kill('SIGTERM');
    options.signal?.addEventListener('abort', end);
    if (options.signal?.aborted) end();
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      output += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const done = (code: number): void => {
      options.signal?.removeEventListener('abort', end);
      ended({ code, stdout, output });
    };
    child.on('error', (error) => {
      output += `${program}: ${error.message}\n`;
      done(127);
    });
    child.on('close', (code) => done(code ?? 143));
  });
}
