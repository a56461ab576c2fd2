import type { Evidence } from './check.ts';

/** I2. Rows of the effects table, which has no unique key, and the stock that they add up to. */
export function oneEffect({ effects, stock }: Evidence): readonly string[] {
  const counts = new Map<string, number>();
  const sums = new Map<string, number>();
  for (const { consumer, messageId, sku, count } of effects) {
    const key = `${consumer} ${messageId}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    sums.set(sku, (sums.get(sku) ?? 0) + count);
  }
  const doubles = [...counts].filter(([, count]) => count > 1);
  const wrong = [...stock].filter(([sku, reserved]) => (sums.get(sku) ?? 0) !== reserved);
  return [
    ...doubles.map(([key, count]) => `${count} effects of ${key}`),
    ...wrong.map(
      ([sku, reserved]) => `${reserved} of ${sku} reserved, effects say ${sums.get(sku) ?? 0}`,
    ),
  ];
}
