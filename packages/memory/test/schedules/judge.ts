import { CONSUMERS, idOfBody, type Made, RETRY, SUBSCRIBERS } from './messages.ts';
import type { World } from './world.ts';

/** Everything that is wrong after a schedule was healed and has come to rest, by invariant. */
export function judge(world: World): readonly string[] {
  return [
    ...world.recorder.violations,
    ...world.unended().map((open) => `I1: ${open} has no end`),
    ...world.circulating().map((open) => `I1: ${open} still goes round`),
    ...[...world.accepted.values()].flatMap((made) =>
      SUBSCRIBERS.orders.flatMap((consumer) => judgeMessage(world, made, consumer)),
    ),
    ...effects(world),
    ...bytes(world),
    ...versions(world),
    ...promises(world),
    ...heat(world),
  ];
}

function judgeMessage(world: World, made: Made, consumer: string): readonly string[] {
  const { id, kind, fails } = made;
  const at = `${consumer} ${id} (${kind} ${fails})`;
  const wrong: string[] = [];
  const recorded = world.recorder.runsOf(consumer, id).filter(({ isRecorded }) => isRecorded);
  if (recorded.length > RETRY.maxAttempts) wrong.push(`I7: ${at} failed ${recorded.length} times`);
  const outcome = world.outcomeOf(consumer, id);
  const isParked = world.isParked(consumer, id);
  const effects = world.database.effects(`effect ${consumer} ${id}`);
  if ((outcome === 'applied') !== effects > 0) {
    wrong.push(`I2: ${at} ended as ${outcome} with ${effects} effects`);
  }
  if (kind === 'permanent' && recorded.length > 1) wrong.push(`I8: ${at} was retried`);
  if (!world.isStoreTroubled && made.body === 'envelope') {
    const expected = ends(made);
    const seen = isParked ? 'parked' : (outcome ?? 'none');
    const isStale = seen === 'stale' && consumer === 'totals';
    if (seen !== expected && !isStale) wrong.push(`I8: ${at} ended as ${seen}, not ${expected}`);
    if (isParked && outcome !== undefined) wrong.push(`I8: ${at} is parked and ${outcome}`);
  }
  return wrong;
}

function ends({ kind, fails }: Made): string {
  if (kind === 'permanent') return 'parked';
  if (kind === 'reject') return 'rejected';
  if (kind === 'transient' || kind === 'hang')
    return fails < RETRY.maxAttempts ? 'applied' : 'parked';
  if (kind === 'unknown') return fails < RETRY.unknown.maxAttempts ? 'applied' : 'parked';
  return 'applied';
}

function effects({ database }: World): readonly string[] {
  return [...database.allEffects().keys()]
    .filter((key) => key.startsWith('effect ') && database.effects(key) !== 1)
    .map((key) => `I2: ${key} happened ${database.effects(key)} times`);
}

/** I5: every copy has the bytes of the first; parked ones, too. */
function bytes({ witness, broker }: World): readonly string[] {
  const first = new Map<string, Uint8Array>();
  const copies = [
    ...witness.sent,
    ...CONSUMERS.flatMap((consumer) =>
      broker.dump(`${consumer}.parking`).map(({ nativeId = '', body }) => ({
        id: idOfBody(body).startsWith('junk') ? idOfBody(body) : nativeId,
        body,
      })),
    ),
  ];
  const wrong = new Set<string>();
  for (const { id, body } of copies) {
    const original = first.get(id);
    if (original === undefined) first.set(id, body);
    else if (Buffer.compare(original, body) !== 0) wrong.add(`I5: the bytes of ${id} changed`);
  }
  return [...wrong];
}

/** I11, for the consumer that keeps the latest version. */
function versions({ database }: World): readonly string[] {
  return [...database.allEffects()].flatMap(([key, value]) => {
    if (!key.startsWith('versions ')) return [];
    const applied = value as readonly number[];
    const isAscending = applied.every(
      (version, at) => at === 0 || version > (applied[at - 1] ?? 0),
    );
    return isAscending ? [] : [`I11: ${key} were applied as ${applied.join(', ')}`];
  });
}

function promises({ publishes, processes }: World): readonly string[] {
  const open = publishes.filter((each) => each.settledAtMs === undefined && !each.process.isKilled);
  const unclosed = processes.filter(
    ({ closing, isClosed, isKilled }) => closing !== undefined && !isClosed && !isKilled,
  );
  return [
    ...open.map(({ made }) => `I12: the publish of ${made.id} never settled`),
    ...unclosed.map(() => 'I12: a close never settled'),
  ];
}

/** I10: faults that last cost a delivery per back-off, not a loop. */
function heat({ witness, accepted, clock }: World): readonly string[] {
  const seconds = (clock.now() - START_MS) / 1_000;
  const limit = MOST_DELIVERIES * (accepted.size + 10) + seconds;
  return witness.deliveries <= limit
    ? []
    : [`I10: ${witness.deliveries} deliveries in ${seconds} s`];
}

const START_MS = Date.UTC(2026, 0, 1);
const MOST_DELIVERIES = 15;
