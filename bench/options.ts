import { parseArgs } from 'node:util';
import { MEASUREMENTS, type Measurement } from './trials/trial.ts';

export interface SmokeOptions {
  readonly broker: 'rabbitmq';
  readonly pairs: number;
  /** About how long a trial measures. */
  readonly seconds: number;
  readonly only: readonly Measurement[];
  /** Where the raw data go besides `bench/results/`. */
  readonly json: string | undefined;
  /** Folder for CPU profiles of one more trial of each. */
  readonly profile: string | undefined;
  /** Exit code 1 when a gate fails. */
  readonly gate: boolean;
}

export const HELP: string = `npm run bench:smoke -- --broker rabbitmq [options]

Compares the library with loops written by hand (bench/raw-loops.mjs): CPU of the client's process
a message, as the median of interleaved pairs; each trial in a process of its own. The hand-written
loop runs twice in each round, and the distance of the two is the band that a limit may be over.

  --broker NAME    rabbitmq
  --pairs N        rounds that count, default 10
  --seconds N      about how long each trial measures, default 2
  --only A,B       some of ${MEASUREMENTS.join(', ')}
  --json FILE      writes the raw data there, too; they are always kept in bench/results/
  --profile DIR    adds one profiled trial of each contestant (open the files in a browser's tools)
  --gate           exit code 1 when a figure is over its limit
  --help           this text

Brokers: ACKORD_RABBITMQ_URL and ACKORD_POSTGRES_URL, else containers.
`;

/** Exit code of wrong input. */
export const USAGE_CODE = 2;

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @returns undefined when help is wanted. @throws UsageError naming what is wrong and what is known. */
export function readOptions(args: readonly string[]): SmokeOptions | undefined {
  const values = parse(args);
  if (values.help) return undefined;
  if (values.broker !== 'rabbitmq') {
    throw new UsageError(`--broker is ${values.broker ?? 'missing'}; give --broker rabbitmq.`);
  }
  const only = values.only?.split(',') ?? [...MEASUREMENTS];
  for (const name of only) {
    if (!isMeasurement(name)) {
      throw new UsageError(`--only names "${name}"; known are ${MEASUREMENTS.join(', ')}.`);
    }
  }
  return {
    broker: values.broker,
    pairs: number('--pairs', values.pairs, { least: 1, most: 1_000, whole: true }),
    seconds: number('--seconds', values.seconds, { least: 0.001, most: 600, whole: false }),
    only: only.filter(isMeasurement),
    json: values.json,
    profile: values.profile,
    gate: values.gate,
  };
}

interface Values {
  readonly broker?: string;
  readonly pairs: string;
  readonly seconds: string;
  readonly only?: string;
  readonly json?: string;
  readonly profile?: string;
  readonly gate: boolean;
  readonly help: boolean;
}

function parse(args: readonly string[]): Values {
  try {
    return parseArgs({
      args: [...args],
      options: {
        broker: { type: 'string' },
        pairs: { type: 'string', default: '10' },
        seconds: { type: 'string', default: '2' },
        only: { type: 'string' },
        json: { type: 'string' },
        profile: { type: 'string' },
        gate: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function number(
  flag: string,
  text: string,
  {
    least,
    most,
    whole,
  }: { readonly least: number; readonly most: number; readonly whole: boolean },
): number {
  const value = Number(text);
  if (
    text.trim() !== '' &&
    value >= least &&
    value <= most &&
    (!whole || Number.isInteger(value))
  ) {
    return value;
  }
  throw new UsageError(
    `${flag} is "${text}"; give a ${whole ? 'whole ' : ''}number from ${least} to ${most}.`,
  );
}

const isMeasurement = (name: string): name is Measurement =>
  (MEASUREMENTS as readonly string[]).includes(name);
