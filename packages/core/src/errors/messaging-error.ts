import type { FailureClass } from '../failure/failure-class.ts';
import { ERROR_CODES, type ErrorCode } from './codes.ts';

/** Found by symbol, since `instanceof` fails when two copies of core are loaded. */
const BRAND: symbol = Symbol.for('@ackord/messaging-error');

export interface MessagingErrorOptions {
  /** Broker, profile or store that it is about. */
  readonly broker?: string | undefined;
  /** Figures behind the text, for logs. Never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
  /** Default: the class of the code. */
  readonly failure?: FailureClass | undefined;
}

/** Every error of the library. Tell them apart by `code`. */
export class MessagingError extends Error {
  static {
    Object.defineProperty(MessagingError.prototype, BRAND, { value: true });
    Object.defineProperty(MessagingError.prototype, 'name', { value: 'MessagingError' });
  }

  readonly code: ErrorCode;
  /** What it means for a message whose handler threw it; undefined: nothing. */
  readonly failure: FailureClass | undefined;
  readonly broker?: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, text: string, options: MessagingErrorOptions = {}) {
    super(text, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.failure = options.failure ?? ERROR_CODES[code].failure;
    if (options.broker !== undefined) this.broker = options.broker;
    this.details = options.details ?? {};
  }

  /** True for errors of this library, of `code` when given; also across copies of core. */
  static is(error: unknown, code?: ErrorCode): error is MessagingError {
    if (typeof error !== 'object' || error === null) return false;
    const candidate = error as { readonly [BRAND]?: unknown; readonly code?: unknown };
    return candidate[BRAND] === true && (code === undefined || candidate.code === code);
  }
}
