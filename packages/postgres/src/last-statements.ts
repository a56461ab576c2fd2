import type { Claim, Claimed, ClaimOutcome, CommitWork } from '@ackord/core/store';
import type { Statement } from './client.ts';
import type { Database } from './database.ts';
import { insertStatements } from './outbox-insert.ts';
import { DELETE_ATTEMPTS, SET_OUTCOMES, SET_VERSIONS } from './sql/inbox.sql.ts';

/** What goes before COMMIT: outbox rows, attempt rows of what has succeeded, versions, outcomes. */
export function lastStatements(
  database: Database,
  unit: { readonly claims: readonly Claim[]; readonly claimed: readonly Claimed[] },
  { outcomes, outbox }: CommitWork,
): Statement[] {
  const { claims, claimed } = unit;
  const statements = insertStatements(database, outbox);
  // Nearly always a message needs none of these.
  if (claimed.some(hasFailed)) {
    const failed = claims.filter((_, at) => claimed[at]?.attempts !== undefined);
    statements.push(...attemptStatements(database, failed));
  }
  if (outcomes.some(hasVersion)) {
    statements.push(...versionStatements(database, claims, outcomes));
  }
  if (outcomes.some(isToBeStored)) {
    statements.push(...outcomeStatements(database, claims, outcomes));
  }
  return statements;
}

const hasFailed = ({ attempts }: Claimed): boolean => attempts !== undefined;
const hasVersion = ({ version }: ClaimOutcome): boolean => version !== undefined;
const isToBeStored = ({ outcome }: ClaimOutcome): boolean =>
  outcome !== 'applied' && outcome !== 'duplicate';

function attemptStatements(database: Database, failed: readonly Claim[]): readonly Statement[] {
  if (failed.length === 0) return [];
  return [
    database.sql(
      DELETE_ATTEMPTS,
      failed.map((c) => c.consumer),
      failed.map((c) => c.messageId),
    ),
  ];
}

function versionStatements(
  database: Database,
  claims: readonly Claim[],
  outcomes: readonly ClaimOutcome[],
): readonly Statement[] {
  // One row may be updated only once in a statement: the highest version of each aggregate wins.
  const highest = new Map<string, readonly [string, string, string, number]>();
  claims.forEach(({ consumer, aggregate }, at) => {
    const version = outcomes[at]?.version;
    if (aggregate === undefined || version === undefined) return;
    const key = JSON.stringify([consumer, aggregate.type, aggregate.id]);
    if (version > (highest.get(key)?.[3] ?? -1)) {
      highest.set(key, [consumer, aggregate.type, aggregate.id, version]);
    }
  });
  if (highest.size === 0) return [];
  const rows = [...highest.values()];
  return [
    database.sql(
      SET_VERSIONS,
      rows.map((r) => r[0]),
      rows.map((r) => r[1]),
      rows.map((r) => r[2]),
      rows.map((r) => r[3]),
    ),
  ];
}

function outcomeStatements(
  database: Database,
  claims: readonly Claim[],
  outcomes: readonly ClaimOutcome[],
): readonly Statement[] {
  const other = claims.flatMap(({ consumer, messageId }, at) => {
    const outcome = outcomes[at]?.outcome ?? 'applied';
    return outcome === 'applied' || outcome === 'duplicate'
      ? []
      : [{ consumer, messageId, outcome }];
  });
  if (other.length === 0) return [];
  return [
    database.sql(
      SET_OUTCOMES,
      other.map((o) => o.consumer),
      other.map((o) => o.messageId),
      other.map((o) => o.outcome),
    ),
  ];
}
