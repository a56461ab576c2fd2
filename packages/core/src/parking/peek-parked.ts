import type {
  LogReceiver,
  LogSession,
  QueueReceiver,
  QueueSession,
  Token,
} from '../driver/driver.ts';
import type { Plan, Source } from '../driver/topology.ts';
import { configInvalid } from '../errors/create.ts';
import { describeError } from '../failure/describe-error.ts';
import type { Session } from '../lifecycle/connection.ts';
import type { Clock } from '../time/clock.ts';
import {
  fingerprintOf,
  type ParkedDelivery,
  type ParkedRecord,
  readParkedRecord,
} from './parked-message.ts';

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
const PEEK_BYTES = 1 << 20;

/** Takes deliveries from the parking lot and gives all of them back. */
export async function peekParked(options: PeekOptions): Promise<readonly ParkedMessage[]> {
  const { session, plan, consumer, limit, clock } = options;
  const source = plan.sources(consumer).find(({ feed }) => feed === 'parking');
  // An empty answer would say that nothing is parked.
  if (source === undefined) {
    const expected = 'the name of a consumer of this bus';
    throw configInvalid({ option: 'parked(consumer)', value: consumer, expected });
  }
  if (!(limit >= 1)) return [];
  const lot = new Lot(consumer, limit, clock);
  if (session.kind === 'queue') await peekQueue(session, source, lot);
  else await peekLog(session, source, lot);
  return lot.found;
}

async function peekQueue(session: QueueSession, source: Source, lot: Lot): Promise<void> {
  const tokens: Token[] = [];
  const [receiver] = await attached<QueueReceiver>((attach) =>
    session.receive(source, (opened) => {
      attach(opened);
      return {
        delivered: (deliveries) => {
          for (const delivery of deliveries) {
            tokens.push(delivery.token);
            lot.take(delivery);
          }
        },
        fault: () => lot.end(),
      };
    }),
  );
  if (receiver === undefined) return;
  receiver.setWindow(lot.limit);
  await lot.read;
  await receiver.stop();
  const batch = tokens.map((token) => ({ token, how: { do: 'release' } as const }));
  await receiver.settle(batch, AbortSignal.timeout(DEADLINE_MS));
  await receiver.close();
}

async function peekLog(session: LogSession, source: Source, lot: Lot): Promise<void> {
  const [receiver] = await attached<LogReceiver>((attach) =>
    session.receive(source, { start: 'earliest', bytes: PEEK_BYTES }, (opened) => {
      attach(opened);
      return {
        assigned: () => undefined,
        unsettled: () => undefined,
        revoked: () => undefined,
        delivered: ({ records }) => {
          for (const record of records) lot.take(record);
        },
        fault: () => lot.end(),
      };
    }),
  );
  if (receiver === undefined) return;
  await lot.read;
  await receiver.stop();
  await receiver.leave();
}

/** The receiver that an opening handed over; it is used once the opening has succeeded. */
async function attached<R>(open: (attach: (receiver: R) => void) => Promise<void>): Promise<R[]> {
  const receivers: R[] = [];
  await open((receiver) => receivers.push(receiver));
  return receivers;
}

/** What was read so far; the end is when nothing more came for a while. */
class Lot {
  readonly found: ParkedMessage[] = [];
  readonly limit: number;
  readonly #consumer: string;
  readonly #clock: Clock;
  readonly #quiet: Quiet;

  constructor(consumer: string, limit: number, clock: Clock) {
    this.#consumer = consumer;
    this.limit = limit;
    this.#clock = clock;
    this.#quiet = new Quiet(clock);
  }

  get read(): Promise<void> {
    return this.#quiet.done;
  }

  take(delivery: ParkedDelivery): void {
    if (this.found.length < this.limit) this.found.push(this.#parked(delivery));
    if (this.found.length >= this.limit) this.end();
    else this.#quiet.again();
  }

  end(): void {
    this.#quiet.end();
  }

  /** Somebody else's message in the lot is shown too; it has no record. */
  #parked(delivery: ParkedDelivery): ParkedMessage {
    try {
      return readParkedRecord(delivery);
    } catch (error) {
      const { type: errorType, text: errorText, code } = describeError(error);
      return {
        messageId: delivery.native.id ?? '',
        reason: 'native',
        attempts: 0,
        totalAttempts: 0,
        lastFailedAtMs: 0,
        errorType,
        errorText,
        ...(code !== undefined && { errorCode: code }),
        fingerprint: fingerprintOf({ reason: 'native', errorType, errorText }),
        consumer: this.#consumer,
        cycle: 0,
        parkedAtMs: this.#clock.now(),
        body: delivery.body,
      };
    }
  }
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
