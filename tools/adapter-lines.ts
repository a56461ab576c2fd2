// `node tools/adapter-lines.ts`: lines of code per adapter, and broker names in core or postgres.
import { checkAdapters } from './steps/adapter-lines.ts';
import { StepFailed } from './steps/report.ts';

try {
  checkAdapters();
} catch (error) {
  if (!(error instanceof StepFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
