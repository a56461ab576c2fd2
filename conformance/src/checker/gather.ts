import type { CaseContext } from '../case-context.ts';
import type { Place, RawMessage } from '../raw-broker.ts';
import { check, type Evidence } from './check.ts';

/** What was acked late or came back late is looked for this long before it counts as lost. */
const SETTLE_MS = 3_000;
const AGAIN_MS = 100;

/** Reads database and broker and judges the history. Buses and processes are closed by then. */
export async function judge(
  context: CaseContext,
  lostPromises: readonly string[],
): Promise<readonly string[]> {
  const endAt = Date.now() + SETTLE_MS;
  for (;;) {
    const violations = check(await gather(context, lostPromises));
    const mayHeal = violations.some((text) => text.startsWith('I1:'));
    if (!mayHeal || Date.now() > endAt) return violations;
    await new Promise((again) => setTimeout(again, AGAIN_MS));
  }
}

async function gather(
  { history, limits, cast, sql, raw, contracts }: CaseContext,
  lostPromises: readonly string[],
): Promise<Evidence> {
  const consumers = [...cast.consumers.values()];
  const kept = new Map<string, readonly RawMessage[]>();
  const parked = new Map<string, readonly RawMessage[]>();
  const places = await cast.places();
  for (const { name } of consumers) {
    const own = places.filter((place) => 'consumer' in place && place.consumer === name);
    kept.set(name, (await Promise.all(own.map((place: Place) => raw.dump(place)))).flat());
    parked.set(name, await raw.dump({ at: 'parking', consumer: name }));
  }
  return {
    history,
    limits,
    consumers,
    orders: contracts.OrderCreated.destination,
    effects: await sql.effects(),
    stock: await sql.stock(),
    inbox: await sql.inbox(),
    outbox: (await sql.outbox()).map(({ messageId }) => messageId),
    kept,
    parked,
    lostPromises,
  };
}
