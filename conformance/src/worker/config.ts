import type { Entry } from '../history/entry.ts';
import type { ProcessSpec } from '../process/process-spec.ts';
import type { WorkerDriver } from '../profile.ts';

/** What a worker process is told, as JSON in its first argument. */
export interface WorkerConfig {
  readonly name: string;
  readonly namespace: string;
  readonly schema: string;
  readonly databaseUrl: string;
  readonly driver: WorkerDriver;
  readonly delaysMs: readonly number[];
  readonly spec: ProcessSpec;
}

/** Lines that a worker writes to its standard output. */
export type WorkerLine =
  | { readonly is: 'ready' | 'reached' }
  | { readonly is: 'entry'; readonly entry: Entry };
