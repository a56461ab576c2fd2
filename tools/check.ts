// `npm run check`: the checks without tests.
import { checks } from './steps/checks.ts';
import { interrupt } from './steps/interrupt.ts';
import { Report } from './steps/report.ts';

const signal = interrupt();
const report = new Report();
await report.run(checks(), signal);
process.exit(report.close(signal));
