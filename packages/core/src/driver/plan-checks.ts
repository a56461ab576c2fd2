import { Buffer } from 'node:buffer';
import { configDelayTooLong, configInvalid } from '../errors/create-config.ts';
import type { Resource } from './topology.ts';

/**
 * Two roles in one place would read each other's messages: `a.retry` beside `a`, or a careless override.
 * @throws MSG_CONFIG_INVALID naming the place
 */
export function refuseSharedNames(resources: readonly Resource[], kind: string): void {
  const seen = new Set<string>();
  for (const { name } of resources.filter((resource) => resource.kind === kind)) {
    if (seen.has(name)) {
      throw configInvalid({
        option: `${kind} name`,
        value: name,
        expected: `one role for each ${kind}, and two consumers need this one`,
        fix:
          'What follows the name of a consumer, like .retry and .parking, is taken; ' +
          'rename one or give it an override in names.',
      });
    }
    seen.add(name);
  }
}

/**
 * A retry delay for which no bucket or topic can be made.
 * @throws MSG_CONFIG_DELAY_TOO_LONG over `maxMs`; MSG_CONFIG_INVALID below `minMs` or no whole number
 */
export function refuseDelay(
  consumer: string,
  delayMs: number,
  at: { readonly profile: string; readonly minMs: number; readonly maxMs: number },
): void {
  const { profile, minMs, maxMs } = at;
  if (Number.isInteger(delayMs) && delayMs >= minMs && delayMs <= maxMs) return;
  if (Number.isInteger(delayMs) && delayMs > maxMs) {
    throw configDelayTooLong({ profile, consumer, askedMs: delayMs, maxMs });
  }
  throw configInvalid({
    option: `retry delay of "${consumer}"`,
    value: `${delayMs} ms`,
    expected: `the whole milliseconds from ${minMs} to ${maxMs} that a bucket holds`,
    fix: 'Change its retry policy.',
  });
}

/** @throws MSG_CONFIG_INVALID a message type that does not fit into a routing key or subject */
export function refuseLongType(consumer: string, type: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(type);
  if (bytes <= maxBytes) return;
  throw configInvalid({
    option: `type of "${consumer}"`,
    value: type,
    expected: `at most the ${maxBytes} bytes of a routing key, and this has ${bytes} bytes`,
    fix: 'Shorten it.',
  });
}
