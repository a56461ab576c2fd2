/** What is looked at when a failure is judged, recorded or reported. */
const LOOKED_AT = [
  'name',
  'message',
  'code',
  'cause',
  'status',
  'statusCode',
  'headers',
  'response',
  'constraint',
  'severity',
  Symbol.for('@ackord/failure'),
  Symbol.for('@ackord/business-rejection'),
  Symbol.for('@ackord/messaging-error'),
] as const;

/** Causes are followed no further by whoever judges a failure. */
const MAX_CAUSES = 5;

/**
 * A thrown value that can be judged: the value itself, or an `Error` in the place of one whose
 * getters throw (a proxy, an error of another realm or of a mocking library). Never throws.
 */
export function readableError(thrown: unknown): unknown {
  try {
    let link: unknown = thrown;
    for (let depth = 0; depth <= MAX_CAUSES && isObject(link); depth += 1) {
      for (const key of LOOKED_AT) void Reflect.get(link, key);
      void (link instanceof Error);
      link = Reflect.get(link, 'cause');
    }
    return thrown;
  } catch {
    // What it threw while it was looked at says nothing about the failure.
    return new Error('a thrown value that cannot be read');
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
