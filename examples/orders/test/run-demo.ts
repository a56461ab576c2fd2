import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the demo prints with `--json`, as far as tests look. */
export interface Result {
  readonly tally: {
    readonly ordersIn: number;
    readonly injected: Readonly<Record<'again' | 'older' | 'bad', number>>;
    readonly effects: number;
    readonly rejections: number;
    readonly parked: readonly { readonly id: string; readonly reason: string }[];
    readonly duplicatesDropped: number;
    readonly lateness?: { readonly count: number; readonly earliestMs: number };
    readonly lost: readonly string[];
    readonly doubleEffects: number;
  };
  readonly dead?: { readonly messageId: string; readonly effects: number };
  readonly outage: string;
  readonly broken: readonly string[];
}

const DEMO = fileURLToPath(new URL('../../../tools/demo.ts', import.meta.url));

/** Thirteen orders, one of them in version 1, two of them sent again, and three bad lines. */
export const SMALL: string = fileURLToPath(new URL('small.jsonl', import.meta.url));

/** Runs the demo as `npm run demo` does and resolves however it ends. */
export function runDemo(...args: readonly string[]): Promise<Ran> {
  const line = ['--conditions=@ackord/source', DEMO, ...args];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, line, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? 1, stdout, stderr });
    });
  });
}

export const resultOf = ({ stdout }: Ran): Result => JSON.parse(stdout) as Result;

/** Message ids by the reason for which they were parked. */
export function parkedBy({ tally }: Result): Record<string, readonly string[]> {
  const groups = Object.groupBy(tally.parked, ({ reason }) => reason);
  return Object.fromEntries(
    Object.entries(groups).map(([reason, found = []]) => [
      reason,
      found.map(({ id }) => id).sort(),
    ]),
  );
}
