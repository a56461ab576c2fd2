import { randomUUID } from 'node:crypto';

/**
 * A UUID of version 7 (RFC 9562): 48 bits of time, then 74 random bits. Sorts by time to the
 * millisecond.
 *
 * @param nowMs - Milliseconds since the epoch.
 * @param random - Numbers in [0, 1). Default: the system's secure generator.
 */
export function createMessageId(nowMs: number, random?: () => number): string {
  const time = Math.floor(nowMs).toString(16).padStart(12, '0');
  const noise = random === undefined ? randomUUID() : uuidFrom(random);
  // What follows the version digit of a UUID v4 is random and carries the variant already.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${noise.slice(15)}`;
}

function uuidFrom(random: () => number): string {
  const digits = (count: number): string => {
    let text = '';
    for (let i = 0; i < count; i++) text += Math.floor(random() * 16).toString(16);
    return text;
  };
  const variant = '89ab'.charAt(Math.floor(random() * 4));
  return `00000000-0000-4${digits(3)}-${variant}${digits(3)}-${digits(12)}`;
}
