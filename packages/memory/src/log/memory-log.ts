import type { Driver } from '@ackord/core/driver';
import { capabilitiesOf, type MemoryLimits } from '../broker/limits.ts';
import { MemoryBroker } from '../broker/memory-broker.ts';
import { classifyMemoryError } from '../broker/memory-broker-error.ts';
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
export function memoryLog(options: MemoryLogOptions = {}): Driver {
  const { broker = new MemoryBroker(), partitions = 4, limits } = options;
  const capabilities = capabilitiesOf(
    { delays: [{ by: 'held-log' }], nativeCount: 'none', lanes: 'partition' },
    limits,
  );
  return {
    profile: 'memory/log',
    broker: 'memory',
    plan: (topology) => planLogs(topology, partitions),
    async open({ plan, clock, signal }) {
      signal.throwIfAborted();
      broker.admit();
      return new MemoryLogSession({ broker, plan, clock, capabilities });
    },
    classify: classifyMemoryError,
  };
}
