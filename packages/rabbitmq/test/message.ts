import { randomUUID } from 'node:crypto';
import type { Outgoing } from '@ackord/core/driver';

export function outgoing(to: string, change: Partial<Outgoing> = {}): Outgoing {
  const id = randomUUID();
  return {
    to,
    body: Buffer.from('{}'),
    mirror: { id, type: 'order.created', contentType: 'application/json' },
    headers: {},
    dedupId: id,
    ...change,
  };
}
