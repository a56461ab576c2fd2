import { randomBytes } from 'node:crypto';
import type { PostgresBroker } from '@ackord/conformance/launchers';
import { isVoid, type Pair } from './compare.ts';
import type { Figures } from './meter.ts';
import { runTrial } from './run-trial.ts';
import type { Contestant, Measurement, TrialOrder } from './trials/trial.ts';

/** Messages of a trial for each second asked for: about what one busy core does. */
const PER_SECOND: Readonly<Record<Measurement, number>> = {
  publish: 12_000,
  consume: 12_000,
  inbox: 1_200,
  core: 40_000,
};
/**
 * Messages before the measured ones, as a share of them, so that compiled code is measured: at
 * the pace of a database it takes about ten thousand messages until the compiler rests.
 */
const WARMUP: Readonly<Record<Measurement, number>> = {
  publish: 0.5,
  consume: 0.5,
  inbox: 5,
  core: 0.5,
};

export interface Brokers {
  readonly rabbitmqUrl: string;
  /** Undefined when nothing that is asked for needs a database. */
  readonly postgres: PostgresBroker | undefined;
}

export interface Measured {
  readonly measurement: Measurement;
  readonly pairs: readonly Pair[];
  /** Rounds with a lost or doubled message; they do not count. */
  readonly voids: readonly Pair[];
}

export interface MeasureOptions {
  readonly pairs: number;
  readonly seconds: number;
  readonly progress: (text: string) => void;
}

/** Rounds until enough of them count, at most twice as many as asked for. */
export async function runMeasurement(
  measurement: Measurement,
  brokers: Brokers,
  { pairs, seconds, progress }: MeasureOptions,
): Promise<Measured> {
  const good: Pair[] = [];
  const voids: Pair[] = [];
  while (good.length < pairs && good.length + voids.length < pairs * 2) {
    progress(`${measurement}: round ${good.length + 1} of ${pairs}`);
    const round = await runRound(measurement, brokers, { seconds, at: good.length });
    const list = Object.values(round).some(isVoid) ? voids : good;
    list.push(round);
  }
  return { measurement, pairs: good, voids };
}

/** The order rotates, so that no contestant always runs on a warm or a tired machine. */
async function runRound(
  measurement: Measurement,
  brokers: Brokers,
  { seconds, at }: { readonly seconds: number; readonly at: number },
): Promise<Pair> {
  const run = (contestant: Contestant): Promise<Figures> =>
    runOne(measurement, contestant, brokers, { seconds, profileInto: undefined });
  const found: Partial<Record<keyof Pair, Figures>> = {};
  const names = ['raw', 'ours', 'again'] as const;
  for (let turn = 0; turn < names.length; turn += 1) {
    const name = names[(turn + at) % names.length] ?? 'raw';
    found[name] = await run(name === 'ours' ? 'ours' : 'raw');
  }
  return found as Pair;
}

/** One trial with names and a database of its own. */
export async function runOne(
  measurement: Measurement,
  contestant: Contestant,
  { rabbitmqUrl, postgres }: Brokers,
  options: { readonly seconds: number; readonly profileInto: string | undefined },
): Promise<Figures> {
  const name = `bench_${randomBytes(5).toString('hex')}`;
  const measured = Math.max(1, Math.round(PER_SECOND[measurement] * options.seconds));
  const database = measurement === 'inbox' ? postgres : undefined;
  const order: TrialOrder = {
    measurement,
    contestant,
    name,
    brokerUrl: rabbitmqUrl,
    databaseUrl: await database?.createDatabase(name),
    warmup: Math.max(1, Math.round(measured * WARMUP[measurement])),
    measured,
  };
  try {
    return await runTrial(order, options.profileInto);
  } finally {
    await database?.dropDatabase(name);
  }
}
