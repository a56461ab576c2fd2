import type { Outcome, RejectKind } from '../driver/driver.ts';

/** What became of one message. `sent` false: nothing of it reached the driver. */
export type SendOutcome =
  | { readonly is: 'confirmed'; readonly duplicate: boolean }
  | { readonly is: 'rejected'; readonly kind: RejectKind; readonly error: unknown }
  | {
      readonly is: 'unknown';
      readonly why: 'session' | 'deadline' | 'aborted' | 'closed';
      readonly sent: boolean;
      readonly error: unknown;
    };

export function final(outcome: Outcome): SendOutcome {
  switch (outcome.is) {
    case 'confirmed':
      return outcome.duplicate === true ? DUPLICATE : CONFIRMED;
    case 'rejected':
      return outcome;
    case 'together':
      return { is: 'rejected', kind: outcome.kind, error: outcome.error };
    case 'unknown':
      return unknown(outcome.why, outcome.error);
  }
}

const CONFIRMED: SendOutcome = Object.freeze({ is: 'confirmed', duplicate: false });
const DUPLICATE: SendOutcome = Object.freeze({ is: 'confirmed', duplicate: true });

export const unknown = (
  why: 'session' | 'deadline' | 'aborted' | 'closed',
  error: unknown,
): SendOutcome => ({ is: 'unknown', why, sent: true, error });

export const notSent = (why: 'deadline' | 'aborted' | 'closed', error: unknown): SendOutcome => ({
  is: 'unknown',
  why,
  sent: false,
  error,
});
