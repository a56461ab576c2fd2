// `npm run conformance -- --profile rabbitmq/ttl-buckets --case S01`: chosen conformance cases.
import { parseArgs } from 'node:util';
import { BrokerUnavailable } from '@ackord/conformance/launchers';
import { writeVerdicts } from '@ackord/conformance/verdicts';
import { type RunBrokers, startBrokers } from './steps/brokers.ts';
import { command } from './steps/command.ts';
import { interrupt } from './steps/interrupt.ts';
import {
  CONFORMANCE_FILES,
  type Listed,
  listCases,
  profilesText,
  titlesText,
} from './steps/list-cases.ts';
import { StepFailed } from './steps/report.ts';

const HELP = `npm run conformance [-- [--profile NAME] [--case ID] [--list] [--write-verdicts]]

Runs the conformance cases, by default all of them, and prints the history of a case that fails.

  --profile NAME  only this profile, such as memory/queue or rabbitmq/ttl-buckets
  --case ID       only this case, such as S01 with its variants S01b, …; several: S01,S04
  --list          prints the known profiles and what each case shows, and runs nothing
  --write-verdicts  puts the verdicts of the profiles that ran into conformance/verdicts.json
  --help          this text
`;

const signal = interrupt();
try {
  process.exit(await main());
} catch (error) {
  if (!(error instanceof StepFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

async function main(): Promise<number> {
  const chosen = parse();
  const listed = await listCases(signal);
  const refusal = refuse(listed, chosen);
  if (chosen.list || refusal) {
    if (refusal) process.stderr.write(`${refusal}\n${profilesText(listed)}`);
    else process.stdout.write(`${profilesText(listed)}\nWhat they show:\n${titlesText(listed)}`);
    return refusal ? 2 : 0;
  }
  const profiles = chosen.profile ? [chosen.profile] : [...listed.keys()];
  const brokers = await brokersFor(profiles);
  if (brokers === undefined) return 1;
  try {
    const { code } = await command(
      [
        'vitest',
        'run',
        '--reporter=verbose',
        '--reporter=./tools/closing-line.ts',
        ...CONFORMANCE_FILES,
      ],
      {
        live: true,
        signal,
        env: {
          ...brokers.env,
          ...(chosen.profile ? { ACKORD_PROFILE: chosen.profile } : {}),
          ...(chosen.id ? { ACKORD_CASE: chosen.id } : {}),
        },
      },
    );
    if (code === 0 && chosen.write) writeVerdicts(profiles);
    return code;
  } finally {
    await brokers.remove();
  }
}

/** Profiles in memory need no broker, so none is started for them alone. */
async function brokersFor(profiles: readonly string[]): Promise<RunBrokers | undefined> {
  if (profiles.every((profile) => profile.startsWith('memory/'))) {
    return { env: {}, remove: async () => {} };
  }
  try {
    return await startBrokers(signal);
  } catch (error) {
    if (!(error instanceof BrokerUnavailable)) throw error;
    process.stderr.write(`${error.message}\n`);
    return undefined;
  }
}

interface Chosen {
  readonly profile: string | undefined;
  readonly id: string | undefined;
  readonly list: boolean;
  readonly write: boolean;
}

function refuse(listed: Listed, { profile, id, write }: Chosen): string | undefined {
  if (id && write) return '--write-verdicts is for whole profiles: leave --case out.';
  if (profile && !listed.has(profile)) return `There is no profile "${profile}".`;
  const cases = profile
    ? listed.get(profile)
    : new Set([...listed.values()].flatMap((each) => [...each.keys()]));
  const absent = id?.split(',').find((each) => !cases?.has(each));
  if (absent === undefined) return undefined;
  return `There is no case "${absent}"${profile ? ` for ${profile}` : ''}.`;
}

function parse(): Chosen {
  try {
    const { values } = parseArgs({
      options: {
        profile: { type: 'string' },
        case: { type: 'string' },
        list: { type: 'boolean' },
        'write-verdicts': { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    return {
      profile: values.profile,
      id: values.case?.toUpperCase(),
      list: values.list ?? false,
      write: values['write-verdicts'] ?? false,
    };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
}
