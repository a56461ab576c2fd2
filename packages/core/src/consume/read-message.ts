import { createHash } from 'node:crypto';
import type { Envelope } from '../envelope/envelope.ts';
import { readWireHeaders, type WireHeaders } from '../envelope/wire-headers.ts';
import { contractNoId } from '../errors/create.ts';
import type { ConsumerSettings } from './consumer-options.ts';
import type { Incoming, Judged } from './incoming.ts';

/** What the bytes said. `unreadable` is permanent: the same bytes fail again. */
export type Read =
  | { readonly is: 'message'; readonly judged: Judged & { readonly envelope: Envelope } }
  | { readonly is: 'unreadable'; readonly judged: Judged; readonly error: unknown };

/** Never throws. A message without any id gets one from its place or its bytes, and is unreadable. */
export function readMessage(incoming: Incoming, { codec }: ConsumerSettings): Read {
  const headers = readWireHeaders(incoming.headers);
  try {
    const envelope = codec.decode(incoming);
    if (envelope.id === '') {
      const judged = judgedOf(fallbackId(incoming), incoming, headers, undefined);
      return { is: 'unreadable', judged, error: contractNoId({ id: judged.id }) };
    }
    return { is: 'message', judged: judgedOf(envelope.id, incoming, headers, envelope) };
  } catch (error) {
    const id = incoming.native.id ?? fallbackId(incoming);
    return { is: 'unreadable', judged: judgedOf(id, incoming, headers, undefined), error };
  }
}

function judgedOf<E extends Envelope | undefined>(
  id: string,
  incoming: Incoming,
  headers: WireHeaders,
  envelope: E,
): Judged & { readonly envelope: E } {
  return { id, incoming, headers, envelope, attempt: headers.attempt, unknowns: headers.unknowns };
}

/** The same bytes at the same place give the same id, so that a redelivery parks under it again. */
function fallbackId({ place, body }: Incoming): string {
  const hash = createHash('sha256').update(place).update('\0').update(body).digest('hex');
  return `unnamed:${hash.slice(0, 32)}`;
}
