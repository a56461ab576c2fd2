import type { BrokerRun, CaseBroker, Place, Profile, RawBroker } from '@ackord/conformance';
import type { Driver, Resource } from '@ackord/core/driver';
import { MemoryBroker, memoryQueue } from '../src/index.ts';
import { faultsOf } from './conformance-faults.ts';

/** Profile `memory/queue`: queues with buckets in this process, effects in PGlite. */
export const memoryQueueProfile: Profile = {
  name: 'memory/queue',
  database: 'pglite',
  delaysMs: [60, 150, 400],
  kill: 'abandoned',
  lacks: {
    silence: 'there is no network between a bus and a broker in its own process',
    process: 'a broker in this process cannot be reached from another one',
    log: 'a queue settles each message by itself: there is no position to commit',
  },
  start: async (): Promise<BrokerRun> => ({
    open: async (namespace) => openCase(namespace),
    close: async () => {},
  }),
};

/** A broker of its own for each case. */
function openCase(namespace: string): CaseBroker {
  const broker = new MemoryBroker();
  const buckets = new Map<string, number>();
  const closed = new MemoryBroker();
  closed.faults.refuseOpen('auth');
  return {
    driver(as) {
      const driver = memoryQueue({ broker: as === 'intruder' ? closed : broker });
      return { driver: noting(driver, buckets), kill: () => driver.kill() };
    },
    raw: rawOf(broker, namespace, buckets),
    ...faultsOf(broker),
    close: async () => broker.faults.clear(),
  };
}

/** Notes the buckets of a plan: the broker has no list of what exists. */
function noting(driver: Driver, buckets: Map<string, number>): Driver {
  return {
    ...driver,
    plan: (topology) => {
      const plan = driver.plan(topology);
      for (const { kind, name, settings } of plan.resources as readonly Resource[]) {
        if (kind === 'bucket') buckets.set(name, Number(settings['delayMs']));
      }
      return plan;
    },
  };
}

function rawOf(
  broker: MemoryBroker,
  namespace: string,
  buckets: ReadonlyMap<string, number>,
): RawBroker {
  const full = new Set<string>();
  // A destination has no room of its own: it refuses when the queue behind it is full.
  const behind = (to: string): string =>
    to === `${namespace}.orders` ? `${namespace}.reserve` : to;
  const isFull = ({ to }: { readonly to: string }): boolean => full.has(behind(to));
  broker.faults.rejectSends(Number.POSITIVE_INFINITY, 'throttled', { on: isFull });
  const addressOf = (place: Place): string => {
    if (place.at === 'destination') return place.name ?? `${namespace}.orders`;
    const consumer = place.consumer ?? `${namespace}.reserve`;
    if (place.at === 'source') return consumer;
    if (place.at !== 'bucket') return `${consumer}.${place.at}`;
    const found = [...buckets].find(
      ([name, delayMs]) => name.startsWith(`${consumer}.retry.`) && delayMs === place.delayMs,
    );
    return found?.[0] ?? `${consumer}.retry.${place.delayMs}ms`;
  };
  return {
    publish: async (to, { id, body, headers, type }) =>
      broker.inject(addressOf(to), {
        ...(body && { body }),
        ...(headers && { headers }),
        ...(id !== undefined && { nativeId: id }),
        ...(type !== undefined && { type }),
      }),
    dump: async (place) =>
      broker.dump(addressOf(place)).map(({ body, headers, nativeId, type }) => ({
        body,
        headers,
        ...(nativeId !== undefined && { id: nativeId }),
        ...(type !== undefined && { type }),
      })),
    ready: async (place) => {
      const address = addressOf(place);
      return place.at === 'bucket'
        ? broker.depth(address)
        : (broker.queues.queue(address)?.ready ?? 0);
    },
    purge: async () => {
      throw new Error('The in-memory broker has no purge.');
    },
    remove: async (place) => broker.faults.remove(addressOf(place)),
    restore: async (place) => broker.faults.restore(addressOf(place)),
    full: async (place, isNowFull) => {
      if (isNowFull) full.add(addressOf(place));
      else full.delete(addressOf(place));
    },
    buckets: async (consumer = `${namespace}.reserve`) =>
      [...buckets]
        .filter(([name]) => name.startsWith(`${consumer}.retry.`))
        .map(([, delayMs]) => delayMs),
  };
}
