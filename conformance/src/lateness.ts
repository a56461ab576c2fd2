import type { CaseContext } from './case-context.ts';

/** Ladder of the cases that measure time; every profile holds it, so that figures compare. */
export const LADDER: readonly number[] = [200, 1_000, 3_000];

/** Starts of handlers after their due time in ms, ascending, by the delay that was told. */
export function latenessByDelay({ history }: CaseContext): ReadonlyMap<number, readonly number[]> {
  const retried = history.events('message.retried');
  const found = new Map<number, number[]>();
  for (const { id, consumer, attempt, atMs } of history.runs()) {
    const told = retried.find(
      (event) =>
        event.messageId === id && event.consumer === consumer && event.attempt === attempt - 1,
    );
    if (told === undefined) continue;
    const delayMs = Number(told['delayMs']);
    const list = found.get(delayMs) ?? [];
    found.set(delayMs, list);
    list.push(atMs - Number(told['dueAtMs']));
  }
  for (const list of found.values()) list.sort((a, b) => a - b);
  return new Map([...found].toSorted(([a], [b]) => a - b));
}

/** `ascending` must not be empty; `share` from 0 to 1. */
export function quantile(ascending: readonly number[], share: number): number {
  const index = Math.max(0, Math.ceil(share * ascending.length) - 1);
  return ascending[index] ?? Number.NaN;
}

/** Of fewer samples a p99 would say nothing. */
const ENOUGH = 100;

/** Writes the histogram of each delay into the figures of the case. */
export function tellLateness(ctx: CaseContext): void {
  for (const [delayMs, list] of latenessByDelay(ctx)) {
    const at = `lateness after ${delayMs} ms`;
    ctx.figures[`${at}: samples`] = list.length;
    ctx.figures[`${at}: earliest in ms`] = quantile(list, 0);
    ctx.figures[`${at}: max in ms`] = quantile(list, 1);
    if (list.length < ENOUGH) continue;
    ctx.figures[`${at}: p50 in ms`] = quantile(list, 0.5);
    ctx.figures[`${at}: p99 in ms`] = quantile(list, 0.99);
  }
}
