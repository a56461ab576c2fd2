import type {
  Driver,
  LogSession,
  Outcome,
  Outgoing,
  QueueSession,
  Topology,
} from '@ackord/core/driver';
import type { ManualClock } from '@ackord/core/testing';

export const topology: Topology = {
  destinations: [{ name: 'orders' }, { name: 'stock' }],
  consumers: [
    {
      name: 'reserve',
      from: ['orders'],
      types: ['order.created'],
      delaysMs: [200, 5_000, 60_000],
    },
    { name: 'audit', from: ['orders', 'stock'], types: [], delaysMs: [] },
  ],
};

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (body: Uint8Array): string => new TextDecoder().decode(body);

export function outgoing(to: string, body: string, more: Partial<Outgoing> = {}): Outgoing {
  return {
    to,
    body: bytes(body),
    mirror: { id: `id-${body}`, type: 'order.created', contentType: 'application/json' },
    headers: {},
    dedupId: `id-${body}`,
    ...more,
  };
}

export async function open<K extends 'queue' | 'log'>(
  kind: K,
  driver: Driver,
  clock: ManualClock,
): Promise<K extends 'queue' ? QueueSession : LogSession> {
  const plan = driver.plan(topology);
  const session = await driver.open({
    plan,
    clock,
    signal: new AbortController().signal,
    notice: () => undefined,
  });
  if (session.kind !== kind) throw new Error(`The driver opened a ${session.kind} session.`);
  await session.apply(plan.resources, 'create');
  return session as K extends 'queue' ? QueueSession : LogSession;
}

/** Sends and waits for every outcome. */
export function send(
  session: QueueSession | LogSession,
  batch: readonly Outgoing[],
  options: { signal?: AbortSignal; alone?: boolean } = {},
): Promise<readonly Outcome[]> {
  const { signal = new AbortController().signal, alone = false } = options;
  const outcomes: Outcome[] = [];
  let left = batch.length;
  return new Promise((resolve) => {
    session.send(batch, { signal, alone }, (index, outcome) => {
      outcomes[index] = outcome;
      left--;
      if (left === 0) resolve(outcomes);
    });
  });
}
