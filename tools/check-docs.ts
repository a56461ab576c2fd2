// `npm run docs:check`: code blocks, quick start, links and site.
import { docs } from './steps/docs.ts';
import { interrupt } from './steps/interrupt.ts';
import { Report } from './steps/report.ts';

const signal = interrupt();
const report = new Report();
await report.run(docs(), signal);
process.exit(report.close(signal));
