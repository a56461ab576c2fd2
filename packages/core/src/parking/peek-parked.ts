import type { Delivery, LogRecord } from '../driver/driver.ts';
import type { Plan } from '../driver/topology.ts';
import type { Session } from '../lifecycle/connection.ts';
import type { Clock } from '../time/clock.ts';
import { type ParkedRecord, readParkedRecord } from './parked-message.ts';

/** A parked message as it lies in the parking lot, original bytes included. */
export type ParkedMessage = ParkedRecord & { readonly body: Uint8Array };

export interface PeekOptions {
  readonly session: Session;
  readonly plan: Plan;
  readonly consumer: string;
  readonly limit: number;
  readonly clock: Clock;
}

/** Nothing more came for this long: the lot is read to its end. */
const QUIET_MS = 250;
const DEADLINE_MS = 10_000;

/** Takes deliveries from the parking lot and gives all of them back. */
export async function peekParked(options: PeekOptions): Promise<readonly ParkedMessage[]> {
  const { session, plan, consumer, limit, clock } = options;
  const source = plan.sources(consumer).find(({ feed }) => feed === 'parking');
  if (source === undefined || limit < 1) return [];
  const found: ParkedMessage[] = [];
  const quiet = new Quiet(clock);
  const take = (delivery: Pick<Delivery | LogRecord, 'body' | 'headers' | 'native'>): void => {
    if (found.length < limit) found.push(readParkedRecord(delivery));
    if (found.length >= limit) quiet.end();
    else quiet.again();
  };
  if (session.kind === 'queue') {
    const tokens: unknown[] = [];
    let receiver: Parameters<Parameters<typeof session.receive>[1]>[0] | undefined;
    await session.receive(source, (opened) => {
      receiver = opened;
      return {
        delivered: (deliveries) => {
          for (const delivery of deliveries) {
            tokens.push(delivery.token);
            take(delivery);
          }
        },
        fault: () => quiet.end(),
      };
    });
    receiver?.setWindow(limit);
    await quiet.done;
    await receiver?.stop();
    const release = { do: 'release' } as const;
    const batch = tokens.map((token) => ({ token, how: release }));
    await receiver?.settle(batch, AbortSignal.timeout(DEADLINE_MS));
    await receiver?.close();
    return found;
  }
  let log: Parameters<Parameters<typeof session.receive>[2]>[0] | undefined;
  await session.receive(source, { start: 'earliest', bytes: 1 << 20 }, (opened) => {
    log = opened;
    return {
      assigned: () => undefined,
      unsettled: () => undefined,
      revoked: () => undefined,
      delivered: ({ records }) => {
        for (const record of records) take(record);
      },
      fault: () => quiet.end(),
    };
  });
  await quiet.done;
  await log?.stop();
  await log?.leave();
  return found;
}

/** Resolves when nothing was noted for a while, or at the deadline. */
class Quiet {
  readonly done: Promise<void>;
  readonly end: () => void;
  readonly #clock: Clock;
  #cancel: () => void;

  constructor(clock: Clock) {
    this.#clock = clock;
    let resolve = (): void => undefined;
    this.done = new Promise((settled) => {
      resolve = settled;
    });
    const cancelDeadline = clock.after(DEADLINE_MS, () => this.end());
    this.end = () => {
      this.#cancel();
      cancelDeadline();
      resolve();
    };
    this.#cancel = clock.after(QUIET_MS * 4, this.end);
  }

  again(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(QUIET_MS, this.end);
  }
}
