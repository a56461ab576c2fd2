export type { MemoryFaults, RejectOptions, SendFilter } from './broker/faults.ts';
export type { MemoryLimits } from './broker/limits.ts';
export { MemoryBroker, type MemoryBrokerOptions } from './broker/memory-broker.ts';
export { MemoryBrokerError } from './broker/memory-broker-error.ts';
export type { RawMessage } from './broker/stored-message.ts';
export type { Commit } from './log/consumer-group.ts';
export { type MemoryLogOptions, memoryLog } from './log/memory-log.ts';
export { type MemoryQueueOptions, memoryQueue } from './queue/memory-queue.ts';
