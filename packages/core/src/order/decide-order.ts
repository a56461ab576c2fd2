/** `none`: retries may reorder. `latest`: the highest version wins, a lower one is stale. */
export type OrderPolicy = 'none' | 'latest';

export interface Versions {
  /** Aggregate version of the message. */
  readonly version?: number | undefined;
  /** Highest version applied so far. */
  readonly lastVersion?: number | undefined;
}

/** Whether a message still counts. Without a version there is nothing to compare: it is applied. */
export function decideOrder(policy: OrderPolicy, versions: Versions): 'apply' | 'stale' {
  const { version, lastVersion } = versions;
  if (policy === 'none' || version === undefined || lastVersion === undefined) return 'apply';
  return version <= lastVersion ? 'stale' : 'apply';
}
