// `npm run demo`: the order example with injected trouble, and a count of what became of every order.
import { memoryWorld } from './demo/memory-world.ts';
import { type DemoOptions, HELP, readOptions } from './demo/options.ts';
import { Progress } from './demo/progress.ts';
import { rabbitmqWorld } from './demo/rabbitmq-world.ts';
import { type InputLine, readOrders } from './demo/read-orders.ts';
import { parkedText, table, verdictText } from './demo/report-table.ts';
import { run } from './demo/run.ts';
import { UsageError } from './demo/usage-error.ts';
import { interrupt } from './steps/interrupt.ts';

/** Bad lines that are named before the rest is only counted. */
const MAX_BAD_LINES = 10;

const signal = interrupt();
process.exit(await main());

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options.help) {
      process.stdout.write(HELP);
      return 0;
    }
    return await demo(options, readOrders(options.orders));
  } catch (error) {
    if (signal.aborted) {
      process.stderr.write('Stopped; what was started is removed.\n');
      return 130;
    }
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

async function demo(options: DemoOptions, lines: readonly InputLine[]): Promise<number> {
  const { withoutInbox, json, showParked, orders } = options;
  const progress = new Progress();
  for (const text of badLines(lines, orders)) progress.note(text);
  const open = options.broker === 'memory' ? memoryWorld : rabbitmqWorld;
  const outcome = await run({ lines, withoutInbox, open, progress, signal });
  if (json) process.stdout.write(`${JSON.stringify(outcome, null, 2)}\n`);
  else {
    process.stdout.write(`\n${table(outcome)}`);
    process.stdout.write(parkedText(outcome.tally.parked, showParked));
    process.stdout.write(`\n${verdictText(outcome.broken, withoutInbox)}`);
  }
  return outcome.broken.length === 0 ? 0 : 1;
}

function badLines(lines: readonly InputLine[], path: string): readonly string[] {
  const bad = lines.flatMap((line) => (line.kind === 'bad' ? [line] : []));
  const name = path.split('/').at(-1);
  const shown = bad.slice(0, MAX_BAD_LINES).map(({ line, wrong }) => `${name}:${line} is ${wrong}`);
  if (bad.length > shown.length) shown.push(`… and ${bad.length - shown.length} more bad lines`);
  return bad.length === 0 ? [] : [...shown, 'Bad lines are put on the broker as they are.'];
}
