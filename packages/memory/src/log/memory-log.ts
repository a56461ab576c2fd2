import { capabilitiesOf, type MemoryLimits } from '../broker/limits.ts';
import { MemoryBroker } from '../broker/memory-broker.ts';
import { createDriver, type MemoryDriver } from '../broker/memory-driver.ts';
import { MemoryLogSession } from './log-session.ts';
import { planLogs } from './log-topology.ts';

export interface MemoryLogOptions {
  /** The broker to connect to; several drivers on one are several processes. Default: a new one. */
  readonly broker?: MemoryBroker;
  /** Of every topic. Default 4. */
  readonly partitions?: number;
  readonly limits?: MemoryLimits;
}

/** Partitioned logs with consumer groups in this process. Profile `memory/log`. */
export function memoryLog(options: MemoryLogOptions = {}): MemoryDriver {
  const { broker = new MemoryBroker(), partitions = 4, limits } = options;
  const capabilities = capabilitiesOf(
    { delays: [{ by: 'held-log' }], nativeCount: 'none', lanes: 'partition' },
    limits,
  );
  return createDriver({
    broker,
    profile: 'memory/log',
    plan: (topology) => planLogs(topology, partitions),
    session: ({ plan, clock }) => new MemoryLogSession({ broker, plan, clock, capabilities }),
  });
}
