import { Buffer } from 'node:buffer';
import type { Evidence } from './check.ts';

/** I5. Every copy at the broker has the bytes that were sent under its id: all fields are in them. */
export function sameBytes({ history, kept, parked }: Evidence): readonly string[] {
  const sent = new Map<string, Uint8Array>();
  for (const { id, body } of [...history.of('sent'), ...history.of('outboxed')]) sent.set(id, body);
  const changed: string[] = [];
  for (const [consumer, messages] of [...kept, ...parked]) {
    for (const { id, body } of messages) {
      const before = id === undefined ? undefined : sent.get(id);
      if (before === undefined || Buffer.from(before).equals(body)) continue;
      changed.push(
        `the body of ${id} at ${consumer} changed to ${Buffer.from(body).toString().slice(0, 200)}`,
      );
    }
  }
  return changed;
}
