import type { Finding } from '../driver/driver.ts';
import { storeUnavailable } from '../errors/create.ts';
import { MessagingError } from '../errors/messaging-error.ts';
import { backoffMs } from '../lifecycle/backoff.ts';
import type { EventOutlet } from '../observe/events.ts';
import type { Store } from '../store/store.ts';
import { withDeadline } from '../time/deadline.ts';
import { wait } from '../time/wait.ts';
import type { BusSettings } from './bus-options.ts';

/**
 * Opens the store, with back-off while it cannot be reached.
 *
 * @param stopping - Aborts when the bus is closed meanwhile.
 * @throws MSG_STORE_SCHEMA at once, MSG_STORE_UNAVAILABLE after the connect timeout
 */
export async function openStore<Tx>(
  settings: BusSettings<Tx>,
  events: EventOutlet,
  stopping: AbortSignal,
): Promise<void> {
  const { store, clock, startTimeoutMs } = settings;
  if (store === undefined) return;
  const findings = await withDeadline(clock, startTimeoutMs, 'opening the store', (late) =>
    opened(store, settings, events, { late, stopping }),
  );
  for (const finding of findings) {
    events.emit({ event: 'preflight.finding', source: store.name, finding });
  }
}

async function opened<Tx>(
  store: Store<Tx>,
  { clock, random, backoff, startTimeoutMs }: BusSettings<Tx>,
  events: EventOutlet,
  { late, stopping }: { readonly late: AbortSignal; readonly stopping: AbortSignal },
): Promise<readonly Finding[]> {
  const giveUpAtMs = clock.now() + startTimeoutMs;
  const signal = AbortSignal.any([late, stopping]);
  for (let tries = 0; ; tries += 1) {
    try {
      await store.open(signal);
      // It can go down between the two.
      return await store.doctor();
    } catch (error) {
      stopping.throwIfAborted();
      if (MessagingError.is(error, 'MSG_STORE_SCHEMA')) throw error;
      const pauseMs = backoffMs(tries, random(), backoff);
      if (store.classify(error) !== 'down' || clock.now() + pauseMs > giveUpAtMs) {
        throw storeUnavailable({ store: store.name, cause: error });
      }
      events.emit({ event: 'store.failed', during: 'the start', error });
      await wait(clock, pauseMs, signal);
    }
  }
}
