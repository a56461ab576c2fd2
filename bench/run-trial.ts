import { fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figures } from './meter.ts';
import { PROFILE_FILE } from './profiler.ts';
import { ARRIVAL_MS, type TrialOrder } from './trials/trial.ts';

const PROCESS = fileURLToPath(new URL('./trials/trial-process.ts', import.meta.url));
/** Set-up, filling and clean-up come on top of waiting for the messages. */
const LONGEST_MS = ARRIVAL_MS + 60_000;

/**
 * Measures in a process of its own, so that no trial inherits heap, compiled code or caches.
 * `profileInto`: folder that exists, for a CPU profile of what is measured.
 */
export function runTrial(order: TrialOrder, profileInto: string | undefined): Promise<Figures> {
  const label = `${order.measurement}, ${order.contestant}`;
  const profile =
    profileInto === undefined
      ? {}
      : {
          [PROFILE_FILE]: join(profileInto, `${order.measurement}-${order.contestant}.cpuprofile`),
        };
  const child = fork(PROCESS, [JSON.stringify(order)], {
    execArgv: ['--conditions=@ackord/source', '--expose-gc'],
    env: { ...process.env, ...profile },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  return new Promise<Figures>((resolve, reject) => {
    let figures: Figures | undefined;
    child.on('message', (message) => {
      figures = message as Figures;
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      if (figures !== undefined && code === 0) resolve(figures);
      else reject(new Error(`The trial "${label}" ended without figures (${signal ?? code}).`));
    });
  });
}
