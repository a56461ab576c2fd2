import type { AttemptFailure, Claim } from '@ackord/core/store';
import type { Statement } from './client.ts';
import type { Database } from './database.ts';
import { RECORD_FAILURES } from './sql/inbox.sql.ts';

/** The upsert of the attempt rows; none when nothing is to be recorded. */
export function recordFailures(
  database: Database,
  claims: readonly Claim[],
  failures: readonly (AttemptFailure | undefined)[],
): readonly Statement[] {
  const rows = new Map<string, { readonly claim: Claim; readonly failure: AttemptFailure }>();
  claims.forEach((claim, at) => {
    const failure = failures[at];
    // A row can be written only once in a statement: a message that came twice counts once.
    if (failure) rows.set(JSON.stringify([claim.consumer, claim.messageId]), { claim, failure });
  });
  if (rows.size === 0) return [];
  const all = [...rows.values()].sort((a, b) => compareClaims(a.claim, b.claim));
  return [
    database.sql(
      RECORD_FAILURES,
      all.map((r) => r.claim.consumer),
      all.map((r) => r.claim.messageId),
      all.map((r) => r.failure.attempt),
      all.map((r) => (r.failure.unknown ? 1 : 0)),
      all.map((r) => r.failure.cycle),
      all.map((r) => iso(r.failure.atMs)),
      all.map((r) => iso(r.failure.dueAtMs)),
      all.map((r) => storable(r.failure.errorType)),
      all.map((r) => storable(r.failure.errorText)),
    ),
  ];
}

/** One order for everybody, so that two batches with the same messages do not deadlock. */
export function compareClaims(a: Claim, b: Claim): number {
  return compare(a.consumer, b.consumer) || compare(a.messageId, b.messageId);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function iso(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/** PostgreSQL text takes no zero byte, and an error text must not keep its record from being stored. */
function storable(text: string | undefined): string | null {
  return text === undefined ? null : text.replaceAll('\0', '\uFFFD').toWellFormed();
}
