import type { BrokerRun, CaseBroker, Place, Profile, RawBroker } from '@ackord/conformance';
import { delayLabel } from '@ackord/core/driver';
import type { RawMessage } from '../src/broker/stored-message.ts';
import { MemoryBroker, memoryLog } from '../src/index.ts';
import { faultsOf } from './conformance-faults.ts';

/** Profile `memory/log`: partitions and consumer groups in this process, effects in PGlite. */
export const memoryLogProfile: Profile = {
  name: 'memory/log',
  database: 'pglite',
  delaysMs: [60, 150, 400],
  kill: 'abandoned',
  lacks: {
    silence: 'there is no network between a bus and a broker in its own process',
    process: 'a broker in this process cannot be reached from another one',
    buckets: 'a retry topic keeps its records: there is no copy that leaves it when it is due',
  },
  start: async (): Promise<BrokerRun> => ({
    open: async (namespace) => openCase(namespace),
    close: async () => {},
  }),
};

function openCase(namespace: string): CaseBroker {
  const broker = new MemoryBroker();
  return {
    driver() {
      const driver = memoryLog({ broker });
      return { driver, kill: () => driver.kill() };
    },
    raw: rawOf(broker, namespace),
    ...faultsOf(broker),
    close: async () => broker.faults.clear(),
  };
}

/** A topic, and the group whose commits say what was read of it. */
interface Spot {
  readonly topic: string;
  readonly group: string | undefined;
}

function rawOf(broker: MemoryBroker, namespace: string): RawBroker {
  const spotOf = (place: Place): Spot => {
    const orders = `${namespace}.orders`;
    if (place.at === 'destination') return { topic: place.name ?? orders, group: undefined };
    const consumer = place.consumer ?? `${namespace}.reserve`;
    if (place.at === 'source') return { topic: orders, group: consumer };
    if (place.at === 'parking') return { topic: `${consumer}.parking`, group: undefined };
    const name = place.at === 'bucket' ? `retry.${delayLabel(place.delayMs)}` : 'redrive';
    return { topic: `${consumer}.${name}`, group: `${consumer}.retry` };
  };
  const kept = (place: Place): readonly RawMessage[] => {
    const spot = spotOf(place);
    const committed = committedOf(broker, spot.group);
    return (broker.logs.topic(spot.topic)?.partitions ?? []).flatMap(({ lane, entries }) =>
      entries
        .filter(({ position }) => position >= (committed.get(lane) ?? 0n))
        .map(({ message }) => message),
    );
  };
  return {
    publish: async (to, { id, body, headers, type }) =>
      broker.inject(spotOf(to).topic, {
        ...(body && { body }),
        ...(headers && { headers }),
        ...(id !== undefined && { nativeId: id }),
        ...(type !== undefined && { type }),
      }),
    dump: async (place) =>
      kept(place).map(({ body, headers, nativeId, type }) => ({
        body,
        headers,
        ...(nativeId !== undefined && { id: nativeId }),
        ...(type !== undefined && { type }),
      })),
    ready: async (place) => kept(place).length,
    purge: () => Promise.reject(new Error('The in-memory log has no purge.')),
    full: () => Promise.reject(new Error('The in-memory log is never full.')),
    remove: async (place) => broker.faults.remove(spotOf(place).topic),
    restore: async (place) => broker.faults.restore(spotOf(place).topic),
    buckets: async () => [...memoryLogProfile.delaysMs],
  };
}

function committedOf(broker: MemoryBroker, group: string | undefined): ReadonlyMap<string, bigint> {
  const commits = group === undefined ? [] : broker.commits(group);
  return new Map(commits.map(({ lane, next }) => [lane, next]));
}
