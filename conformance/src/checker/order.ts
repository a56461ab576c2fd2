import type { Evidence } from './check.ts';

/** I11. Under a policy, effects of an aggregate never run backwards. */
export function order({ effects, consumers }: Evidence): readonly string[] {
  const ordered = new Set(
    consumers.filter((consumer) => consumer.order !== 'none').map(({ name }) => name),
  );
  const last = new Map<string, number>();
  return effects.flatMap(({ consumer, aggregateId, aggregateVersion }) => {
    if (!ordered.has(consumer) || aggregateId === null || aggregateVersion === null) return [];
    const key = `${consumer} ${aggregateId}`;
    const before = last.get(key) ?? -1;
    last.set(key, aggregateVersion);
    if (aggregateVersion > before) return [];
    return [`version ${aggregateVersion} of ${key} was applied after ${before}`];
  });
}
