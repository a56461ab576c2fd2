import { BrokerUnavailable } from './broker.ts';

/** A started broker, or why there is none. */
export type Launched<B> =
  | { readonly broker: B; readonly absent?: never }
  | { readonly absent: string; readonly broker?: never };

/**
 * Starts a broker for a test file.
 *
 * Resolves to the reason when there is none, for a visible skip; with `CI=true` it throws instead, unless a fault case
 * is left out by design because the brokers came from outside.
 */
export async function launch<B>(start: () => Promise<B>): Promise<Launched<B>> {
  try {
    return { broker: await start() };
  } catch (error) {
    if (!(error instanceof BrokerUnavailable)) throw error;
    if (process.env['CI'] === 'true' && !error.byDesign) throw error;
    return { absent: error.message };
  }
}
