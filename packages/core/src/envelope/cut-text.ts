/** Longest error text that leaves the process, in UTF-16 units. */
export const MAX_ERROR_TEXT = 512;

/** The first `max` UTF-16 units of a text, never half of a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const splits = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, Math.max(splits ? max - 1 : max, 0));
}
