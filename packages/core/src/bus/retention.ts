import type { ConsumerSettings } from '../consume/consumer-options.ts';
import type { EventOutlet } from '../observe/events.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import type { Clock } from '../time/clock.ts';

export interface RetentionOptions {
  readonly inbox: Pick<InboxStore<never>, 'purge'>;
  readonly consumers: readonly ConsumerSettings[];
  readonly clock: Clock;
  readonly events: EventOutlet;
}

const EVERY_MS = 3_600_000;

/** Removes Inbox rows past the dedupe window, once an hour. */
export class Retention {
  readonly #options: RetentionOptions;
  readonly #stopping = new AbortController();
  #cancel: (() => void) | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#cancel = this.#options.clock.after(EVERY_MS, () => {
      this.#running = this.#purge().finally(() => {
        if (!this.#stopping.signal.aborted) this.start();
      });
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    this.#cancel?.();
    await this.#running;
  }

  async #purge(): Promise<void> {
    const { inbox, consumers, events } = this.#options;
    for (const { name, dedupeWindowMs, withoutInbox } of consumers) {
      if (withoutInbox !== undefined) continue;
      try {
        const signal = this.#stopping.signal;
        await inbox.purge({ consumer: name, olderThanMs: dedupeWindowMs, signal });
      } catch (error) {
        events.emit({ event: 'store.failed', during: 'removing old Inbox rows', error });
      }
    }
  }
}
