import type { Figures } from './meter.ts';
import type { Measurement } from './trials/trial.ts';

/** One round: the hand-written loop, the same loop again, and the library. */
export interface Pair {
  readonly raw: Figures;
  readonly again: Figures;
  readonly ours: Figures;
}

export type Gate =
  /** Ours may take this many times the CPU of the hand-written loop. */
  | { readonly by: 'ratio'; readonly limit: number }
  /** Ours may take this much more, in µs of CPU a message. */
  | { readonly by: 'micros'; readonly limit: number };

export const GATES: Readonly<Partial<Record<Measurement, Gate>>> = {
  publish: { by: 'ratio', limit: 1.8 },
  inbox: { by: 'ratio', limit: 1.15 },
  core: { by: 'micros', limit: 10 },
};

export interface Comparison {
  readonly measurement: Measurement;
  readonly pairs: number;
  /** Medians, µs of CPU a message. */
  readonly rawMicros: number;
  readonly oursMicros: number;
  /** Medians, messages a second. */
  readonly rawRate: number;
  readonly oursRate: number;
  /** Medians over the pairs, ours against the mean of the two hand-written runs. */
  readonly ratio: number;
  readonly moreMicros: number;
  /** Median distance of the two hand-written runs of a pair: as a share, and in µs. */
  readonly band: number;
  readonly bandMicros: number;
  readonly gate: Gate | undefined;
  /** Undefined without a gate. */
  readonly pass: boolean | undefined;
}

/** @param pairs - At least one, none of them void. */
export function compare(measurement: Measurement, pairs: readonly Pair[]): Comparison {
  const cpu = pairs.map(({ raw, again, ours }) => {
    const first = cpuMicros(raw);
    const second = cpuMicros(again);
    return { first, second, base: (first + second) / 2, ours: cpuMicros(ours) };
  });
  const ratio = median(cpu.map(({ ours, base }) => ours / base));
  const moreMicros = median(cpu.map(({ ours, base }) => ours - base));
  const band = median(cpu.map(({ first, second, base }) => Math.abs(second - first) / base));
  const bandMicros = median(cpu.map(({ first, second }) => Math.abs(second - first)));
  const gate = GATES[measurement];
  return {
    measurement,
    pairs: pairs.length,
    rawMicros: median(cpu.map(({ base }) => base)),
    oursMicros: median(cpu.map(({ ours }) => ours)),
    rawRate: median(pairs.flatMap(({ raw, again }) => [rate(raw), rate(again)])),
    oursRate: median(pairs.map(({ ours }) => rate(ours))),
    ratio,
    moreMicros,
    band,
    bandMicros,
    gate,
    pass: gate && passes(gate, { ratio, moreMicros, band, bandMicros }),
  };
}

export function isVoid({ lost, doubled }: Figures): boolean {
  return lost > 0 || doubled > 0;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The band counts for the limit: a ratio of 1.85 with a band of 6 % passes 1.8. */
function passes(
  gate: Gate,
  found: Pick<Comparison, 'ratio' | 'moreMicros' | 'band' | 'bandMicros'>,
): boolean {
  return gate.by === 'ratio'
    ? found.ratio <= gate.limit + found.band
    : found.moreMicros <= gate.limit + found.bandMicros;
}

const cpuMicros = ({ userMicros, systemMicros, messages }: Figures): number =>
  (userMicros + systemMicros) / messages;

const rate = ({ messages, wallMs }: Figures): number => (messages / wallMs) * 1_000;
