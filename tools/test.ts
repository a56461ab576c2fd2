// `npm test`: everything that has to hold, cheap checks first.
import { parseArgs } from 'node:util';
import { BrokerUnavailable } from '@ackord/conformance/launchers';
import { type RunBrokers, startBrokers } from './steps/brokers.ts';
import { checks, program } from './steps/checks.ts';
import { interrupt } from './steps/interrupt.ts';
import { packs } from './steps/packs.ts';
import { Report, type Step, StepFailed } from './steps/report.ts';
import { tests } from './steps/tests.ts';
import { forgetResults, verdicts } from './steps/verdicts.ts';

const GROUPS = ['checks', 'unit', 'packs', 'broker', 'examples'] as const;
type Group = (typeof GROUPS)[number];

const HELP = `npm test [-- --only GROUP]…

Runs every check and test, each step with its duration, and ends with one line:
  N passed, N failed, N skipped
Each test counts as one; each step without tests (a linter, a pack, the demo) counts as one too.

  --only GROUP   one of ${GROUPS.join(', ')}; may be given more than once
  --help         this text

Brokers come from ACKORD_RABBITMQ_URL, ACKORD_RABBITMQ_MANAGEMENT_URL and ACKORD_POSTGRES_URL if set, else from
containers, which are started once and removed at the end. Without a container engine this installs one when it runs as
root on Debian; without a registry of images it builds one image from packages (90 s). With CI=true a missing broker is
a failure, otherwise the broker tests are skipped with the reason.
`;

const groups = parse();
const signal = interrupt();
const report = new Report();
let brokers: RunBrokers | undefined;
try {
  forgetResults();
  await report.run(GROUPS.filter((group) => groups.has(group)).flatMap(steps), signal);
} finally {
  await brokers?.remove();
}
process.exit(report.close(signal));

function steps(group: Group): Step[] {
  switch (group) {
    case 'checks':
      return checks();
    case 'unit':
      return [tests('unit', 'run one file with `npm run vitest -- FILE`'), verdicts('memory')];
    case 'packs':
      return packs();
    case 'broker':
      return [
        brokersUp(),
        tests('broker', 'run one case with `npm run conformance`', () => brokers?.env ?? {}),
        verdicts('broker', () => brokers === undefined),
      ];
    case 'examples':
      return [
        program('examples (the demo)', ['node', '--conditions=@ackord/source', 'tools/demo.ts'], {
          mend: 'run `npm run demo`, which prints what broke',
        }),
      ];
  }
}

function brokersUp(): Step {
  return {
    name: 'brokers up',
    mend: 'give an engine or URLs (CONTRIBUTING.md, "Brokers")',
    run: async () => {
      try {
        brokers = await startBrokers(signal);
      } catch (error) {
        if (!(error instanceof BrokerUnavailable)) throw error;
        if (process.env['CI'] === 'true') throw new StepFailed(`  ${error.message}`);
        process.stdout.write(`  NO BROKERS, their tests will be skipped: ${error.message}\n`);
        return { passed: 0, failed: 0, skipped: 1 };
      }
      return undefined;
    },
  };
}

function parse(): ReadonlySet<Group> {
  try {
    const { values } = parseArgs({
      options: { only: { type: 'string', multiple: true }, help: { type: 'boolean' } },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    const unknown = values.only?.find((name) => !GROUPS.some((group) => group === name));
    if (unknown !== undefined) {
      throw new Error(`--only ${unknown} is unknown; known are ${GROUPS.join(', ')}.`);
    }
    return new Set((values.only as Group[] | undefined) ?? GROUPS);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
}
