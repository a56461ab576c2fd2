import { Buffer } from 'node:buffer';
import type { Outcome, Outgoing, RejectKind } from './driver.ts';

/** An outcome that no resending changes. `text` says what is wrong and what to do. */
export function rejected(kind: RejectKind, text: string, cause?: unknown): Outcome {
  return { is: 'rejected', kind, error: new Error(text, { cause }) };
}

/** Limits of a broker that the client or the server answers at the expense of neighbours. */
export interface OutgoingLimits {
  readonly bodyBytes: number;
  /** Where `bodyBytes` is set, for the text. */
  readonly bodySetting: string;
  /** Bytes of UTF-8 of id, type, correlation id and content type, each. */
  readonly mirrorBytes: number;
}

/** The refusal of a message that is over a limit, found before anything is sent. */
export function refuseOutgoing(
  { body, mirror, to }: Outgoing,
  { bodyBytes, bodySetting, mirrorBytes }: OutgoingLimits,
): Outcome | undefined {
  if (body.byteLength > bodyBytes) {
    return rejected(
      'too-large',
      `body of ${body.byteLength} bytes for ${to} is over the ${bodyBytes} bytes of ${bodySetting}. ` +
        'Send a reference to the data, or raise the limit of server and driver.',
    );
  }
  // No UTF-16 unit needs more than three bytes, so most texts are not measured.
  const shortChars = Math.floor(mirrorBytes / 3);
  const { id, type, correlationId = '', contentType } = mirror;
  const longest = Math.max(id.length, type.length, correlationId.length, contentType.length);
  if (longest <= shortChars) return undefined;
  for (const field of MIRRORED) {
    const bytes = Buffer.byteLength(mirror[field] ?? '');
    if (bytes > mirrorBytes) {
      return rejected(
        'invalid',
        `${field} of ${bytes} bytes for ${to} is over the ${mirrorBytes} bytes that the broker carries. Shorten it.`,
      );
    }
  }
  return undefined;
}

const MIRRORED = ['id', 'type', 'correlationId', 'contentType'] as const;
