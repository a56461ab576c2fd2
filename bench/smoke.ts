// `npm run bench:smoke -- --broker rabbitmq`: what the library costs beside loops written by hand.
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { BrokerUnavailable, startPostgres, startRabbitmq } from '@ackord/conformance/launchers';
import { type Comparison, compare } from './compare.ts';
import { HELP, readOptions, type SmokeOptions, USAGE_CODE, UsageError } from './options.ts';
import { type Brokers, type Measured, runMeasurement, runOne } from './run-measurement.ts';
import { table } from './table.ts';

const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));

try {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) process.stdout.write(HELP);
  else process.exitCode = await main(options);
} catch (error) {
  if (!(error instanceof UsageError || error instanceof BrokerUnavailable)) throw error;
  process.stderr.write(`${error.message}\n${error instanceof UsageError ? `\n${HELP}` : ''}`);
  process.exitCode = error instanceof UsageError ? USAGE_CODE : 1;
}

async function main(options: SmokeOptions): Promise<number> {
  const needsBroker = options.only.some((name) => name !== 'core');
  const rabbit = needsBroker ? await startRabbitmq() : undefined;
  try {
    const postgres = options.only.includes('inbox') ? await startPostgres() : undefined;
    try {
      return await measureAll(options, { rabbitmqUrl: rabbit?.url ?? '', postgres });
    } finally {
      await postgres?.remove();
    }
  } finally {
    await rabbit?.remove();
  }
}

async function measureAll(options: SmokeOptions, brokers: Brokers): Promise<number> {
  const { pairs, seconds } = options;
  const measured: Measured[] = [];
  for (const name of options.only) {
    measured.push(await runMeasurement(name, brokers, { pairs, seconds, progress }));
  }
  progress('');
  const whole = measured.filter((each) => each.pairs.length > 0);
  const comparisons = whole.map((each) => compare(each.measurement, each.pairs));
  process.stdout.write(`\n${table(comparisons)}${voids(measured)}`);
  const file = await keep(options, measured, comparisons);
  process.stdout.write(
    `CPU of the client's process a message; medians of ${pairs} rounds. Raw data: ${file}\n`,
  );
  if (options.profile !== undefined) await profile(options, brokers, options.profile);
  const nothing = whole.length < measured.length;
  const over = options.gate && comparisons.some(({ pass }) => pass === false);
  return nothing || over ? 1 : 0;
}

/** What was thrown away, so that a loss is never silent. */
function voids(measured: readonly Measured[]): string {
  return measured
    .flatMap(({ measurement, voids: rounds }) =>
      rounds.map((round) => {
        const sum = (key: 'lost' | 'doubled'): number =>
          round.raw[key] + round.again[key] + round.ours[key];
        return `void round of ${measurement}: lost ${sum('lost')}, doubled ${sum('doubled')} (ours: ${round.ours.lost}, ${round.ours.doubled})\n`;
      }),
    )
    .join('');
}

async function keep(
  options: SmokeOptions,
  measured: readonly Measured[],
  comparisons: readonly Comparison[],
): Promise<string> {
  const at = new Date().toISOString();
  const machine = { cpus: cpus().map(({ model }) => model), node: process.version };
  const text = `${JSON.stringify({ at, machine, options, comparisons, measured }, undefined, 1)}\n`;
  await mkdir(RESULTS, { recursive: true });
  const name = `${at.replaceAll(/[:.]/g, '-')}.json`;
  await writeFile(`${RESULTS}${name}`, text);
  if (options.json !== undefined) await writeFile(options.json, text);
  return `bench/results/${name}`;
}

async function profile(options: SmokeOptions, brokers: Brokers, into: string): Promise<void> {
  await mkdir(into, { recursive: true });
  for (const measurement of options.only) {
    for (const contestant of ['raw', 'ours'] as const) {
      const { seconds } = options;
      await runOne(measurement, contestant, brokers, { seconds, profileInto: into });
    }
  }
  process.stdout.write(`CPU profiles: ${into}\n`);
}

/** One line that is written over on a terminal, a line each where output is a file. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else if (text !== '') process.stderr.write(`${text}\n`);
}
