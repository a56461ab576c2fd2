const units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** The delay as it stands in names: `5s`, `5m`, `200ms`. Exact, so two delays never share a label. */
export function delayLabel(delayMs: number): string {
  for (const [unit, ms] of units)
    if (delayMs >= ms && delayMs % ms === 0) return `${delayMs / ms}${unit}`;
  return `${delayMs}ms`;
}
