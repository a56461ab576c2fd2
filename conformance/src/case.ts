import type { CaseContext } from './case-context.ts';

/**
 * What a case cannot do without. `server`: a broker of its own that it may stop. `database`: a
 * database of its own that it may stop. `silence`: a line that takes bytes and passes nothing.
 * `buckets`: a place per retry delay. `process`: real processes. `log`: lanes whose positions are committed.
 */
export type Need = 'server' | 'database' | 'silence' | 'buckets' | 'process' | 'log';

/** One behaviour that every profile must show. One file each, at most 80 lines. */
export interface ConformanceCase {
  /** As in the list of cases: a letter and two digits. */
  readonly id: string;
  /** Says the behaviour, not the fault. */
  readonly title: string;
  readonly needs?: readonly Need[];
  /** Measures time: runs last and by itself. */
  readonly alone?: boolean;
  /** Longest run, checker not included. Default 30 s. */
  readonly timeoutMs?: number;
  run(context: CaseContext): Promise<void>;
}
