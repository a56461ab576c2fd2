import type { SeededBug } from './seeded-bug.ts';

const COPY = 'packages/core/src/consume/copy.ts';
const DECIDE = 'packages/core/src/retry/decide-retry.ts';
const PROFILE = 'rabbitmq/ttl-buckets';

/** Copies, delays and budgets that are wrong. */
export const retryBugs: readonly SeededBug[] = [
  {
    id: 'retry-by-shared-exchange',
    title: 'a retry comes back through the exchange that all consumers share',
    file: 'packages/rabbitmq/src/topology.ts',
    find: 'function queuesOf({ name, delaysMs }: TopologyConsumer, naming: Naming): Resource[] {',
    replace: `function queuesOf(consumer: TopologyConsumer, naming: Naming): Resource[] {
  const { name, delaysMs, from, types } = consumer;
  const bucket = (delayMs: number): Readonly<Record<string, unknown>> => ({
    'x-queue-type': 'quorum',
    'x-message-ttl': delayMs,
    'x-dead-letter-exchange': naming.destination(from[0] ?? ''),
    'x-dead-letter-routing-key': types[0],
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
  });`,
    profile: PROFILE,
    cases: ['C06'],
  },
  {
    id: 'new-id-on-copy',
    title: 'a copy gets an id of its own',
    file: COPY,
    find: `function copyOf(message: Judged, headers: WireHeaders, dedupId: string): Copy {
  const { incoming, envelope } = message;`,
    replace: `function copyOf(original: Judged, headers: WireHeaders, dedupId: string): Copy {
  const id = crypto.randomUUID();
  const fields = JSON.parse(Buffer.from(original.incoming.body).toString()) as object;
  const body = Buffer.from(JSON.stringify({ ...fields, id }));
  const message = { ...original, id, incoming: { ...original.incoming, body } };
  const { incoming, envelope } = message;`,
    profile: PROFILE,
    cases: ['S04'],
  },
  {
    id: 'body-written-again',
    title: 'a copy has the same fields in other bytes',
    file: COPY,
    find: '    body: incoming.body,',
    replace:
      '    body: Buffer.from(JSON.stringify(JSON.parse(Buffer.from(incoming.body).toString()), undefined, 1)),',
    profile: PROFILE,
    cases: ['B14'],
  },
  {
    id: 'early-delay',
    title: 'a copy that comes before its due time is run at once',
    file: 'packages/core/src/consume/pipeline.ts',
    find: 'if (dueAtMs > clock.now()) {',
    replace: 'if (dueAtMs > clock.now() + 3_600_000) {',
    profile: PROFILE,
    cases: ['D02b'],
  },
  {
    id: 'first-delay-only',
    title: 'every retry waits for the first delay, so that later ones are early',
    file: DECIDE,
    find: 'const delayMs = delaysMs[index] ?? 0;',
    replace: 'const delayMs = delaysMs[index * 0] ?? 0;',
    profile: PROFILE,
    cases: ['C06'],
  },
  {
    id: 'permanent-retried',
    title: 'a permanent failure is retried',
    file: DECIDE,
    find: `  if (failure === 'permanent') return park('permanent');\n`,
    replace: '',
    profile: PROFILE,
    cases: ['D11'],
  },
  {
    id: 'attempt-not-recorded',
    title: 'a failed attempt is not counted in the database',
    file: 'packages/postgres/src/record-failures.ts',
    find: 'if (rows.size === 0) return [];',
    replace: 'if (rows.size >= 0) return [];',
    profile: PROFILE,
    cases: ['S04'],
  },
  {
    id: 'attempt-not-carried',
    title: 'a retry copy does not count the attempt',
    file: COPY,
    find: 'const next = attempt + 1;',
    replace: 'const next = attempt;',
    profile: PROFILE,
    cases: ['D16'],
  },
  {
    id: 'unknown-budget-ignored',
    title: 'unknown failures are retried as often as transient ones',
    file: DECIDE,
    find: 'failed.unknowns >= policy.unknownMaxAttempts',
    replace: 'failed.unknowns >= policy.maxAttempts',
    profile: PROFILE,
    cases: ['D13'],
  },
  {
    id: 'age-ignored',
    title: 'a message is retried past its age',
    file: DECIDE,
    find: `  if (isOver(dueAtMs - failed.occurredAtMs, policy.maxAgeMs)) return park('age');\n`,
    replace: '',
    profile: PROFILE,
    cases: ['D09'],
  },
];
