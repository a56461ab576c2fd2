import { readFileSync, writeFileSync } from 'node:fs';
import { readVerdicts } from '@ackord/conformance/verdicts';
import { type Step, StepFailed } from './report.ts';

interface Verdict {
  readonly verdict: string;
  readonly figures?: Readonly<Record<string, number>>;
}
type Verdicts = Readonly<Record<string, Readonly<Record<string, Verdict>>>>;

const README = 'README.md';
const START = '<!-- guarantees:start -->';
const END = '<!-- guarantees:end -->';

/** What a user may rely on, and the cases that show it. A case's variants (`S01b`) count with it. */
const GUARANTEES: readonly (readonly [guarantee: string, cases: string])[] = [
  [
    'Confirmed means stored and routed; any other outcome is told per message',
    'A01 A02 A03 A04 A05 A06 A10 A14 A15 A16',
  ],
  ['Order and event commit together; the outbox row goes after the confirm', 'G05 G06 G07 G08'],
  ['Nothing is acked before its outcome is durable', 'B01 B02 B03 B04 B05 B15 B21 G13'],
  ['One effect per consumer and message id', 'S01 S04 B17 B18 C02 D17 G01 G02 G03 G04'],
  ['A retry is never early, and reaches only the consumer that failed', 'D01 D02 D03 D04 C06'],
  [
    'Every failure ends: applied, retried within the budget, or parked and readable',
    'S02 S03 S05 S07 D09 D10 D11 D12 D13 D16 D18 E01 E02 E03',
  ],
  ['Under `latest` no effect runs backwards', 'F04 F05'],
  ['Stops, kills and reconnects lose nothing', 'H01 H02 H08 H09 H12'],
  ['A log commits only the contiguous prefix of what is done', 'B19 B20'],
];

/** The table in the README says what the committed verdicts say. */
export function guaranteesCheck(): Step {
  return {
    name: 'guarantees: README and verdicts agree',
    mend: 'run `npm run guarantees`',
    run: async () => {
      const readme = readFileSync(README, 'utf8');
      if (withTable(readme, table(readVerdicts())) !== readme) {
        throw new StepFailed(
          `The guarantee table in ${README} is not that of the committed verdicts.`,
        );
      }
      return undefined;
    },
  };
}

export function writeGuarantees(): void {
  writeFileSync(README, withTable(readFileSync(README, 'utf8'), table(readVerdicts())));
}

export function table(verdicts: Verdicts): string {
  const profiles = Object.keys(verdicts).sort();
  const rows = GUARANTEES.map(([guarantee, cases]) => {
    const cells = profiles.map((profile) => cell(verdicts[profile] ?? {}, cases.split(' ')));
    return `| ${guarantee} | ${cells.join(' | ')} |`;
  });
  const head = `| guarantee | ${profiles.map((profile) => `\`${profile}\``).join(' | ')} |`;
  return [head, `|---|${'---|'.repeat(profiles.length)}`, ...rows].join('\n');
}

/** Cases that passed of those that ran; skipped ones have a reason in the profile. */
function cell(verdicts: Readonly<Record<string, Verdict>>, cases: readonly string[]): string {
  let ran = 0;
  let passed = 0;
  for (const [id, { verdict }] of Object.entries(verdicts)) {
    if (!cases.includes(id.slice(0, 3)) || verdict === 'skipped') continue;
    ran += 1;
    if (verdict === 'passed') passed += 1;
  }
  return ran === 0 ? '–' : `${passed} of ${ran}`;
}

function withTable(readme: string, rows: string): string {
  const from = readme.indexOf(START);
  const to = readme.indexOf(END);
  if (from < 0 || to < from) throw new StepFailed(`${README} has no ${START} … ${END}.`);
  return `${readme.slice(0, from)}${START}\n${rows}\n${readme.slice(to)}`;
}
