import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';

/** Set in a trial's process: file for a CPU profile of what is measured, and of nothing else. */
export const PROFILE_FILE = 'ACKORD_BENCH_PROFILE';

/** Starts a profile when one is wanted; the answer ends it and writes its file. */
export function startProfile(): () => void {
  const file = process.env[PROFILE_FILE];
  if (file === undefined) return () => {};
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.start');
  return () => {
    session.post('Profiler.stop', (error, answer) => {
      if (error) throw error;
      writeFileSync(file, JSON.stringify(answer.profile));
    });
    session.disconnect();
  };
}
