import { type Draft, validateDraft } from '../contract/contract.ts';
import type { RejectKind } from '../driver/driver.ts';
import type { Plan } from '../driver/topology.ts';
import {
  configInvalid,
  type PublishSubject,
  publishAborted,
  publishAuth,
  publishClosed,
  publishInvalid,
  publishRefused,
  publishThrottled,
  publishTooLarge,
  publishUnconfirmed,
  publishUnroutable,
} from '../errors/create.ts';
import { MessagingError } from '../errors/messaging-error.ts';
import type { EventOutlet } from '../observe/events.ts';
import { refuseNextVersion } from '../outbox/outbox-writer.ts';
import type { Clock } from '../time/clock.ts';
import { settledWithin } from '../time/wait.ts';
import { addressed, compose } from './compose.ts';
import type { Sender, SendOutcome } from './sender.ts';

export interface PublishOptions {
  /** Longest wait for the broker's confirm, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number;
  /** Before anything was sent: nothing is sent. Afterwards the outcome is unknown. */
  readonly signal?: AbortSignal;
}

/** What became of one message of a batch. */
export type PublishResult =
  | { readonly id: string; readonly outcome: 'confirmed' }
  | { readonly id: string; readonly outcome: 'rejected'; readonly error: MessagingError }
  /** May or may not be stored: publish the same draft again. */
  | { readonly id: string; readonly outcome: 'unknown'; readonly error: MessagingError };

export interface PublisherOptions {
  readonly producer: string;
  readonly broker: string;
  readonly plan: Plan;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly events: EventOutlet;
  readonly timeoutMs: number;
  /** Waits for the topology of a destination that is used for the first time. */
  readonly ready: (destination: string) => Promise<void> | undefined;
}

/** Publishes drafts: one outcome per message, each settled by its deadline. */
export class Publisher {
  readonly #options: PublisherOptions;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  async publish(draft: Draft, options: PublishOptions): Promise<void> {
    const result = await this.one(draft, options);
    if (result.outcome !== 'confirmed') throw result.error;
  }

  /** Never rejects. */
  async one(draft: Draft, options: PublishOptions): Promise<PublishResult> {
    const { producer, clock, plan, ready, broker, events } = this.#options;
    if (typeof draft?.contract !== 'function') return { id: '', ...noDraft(draft) };
    const { id, contract } = draft;
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs;
    const { signal } = options;
    try {
      checkTimeout(timeoutMs);
      const giveUpAtMs = clock.now() + timeoutMs;
      if (signal?.aborted)
        throw publishAborted({ ...subjectOf(broker, draft), cause: signal.reason });
      refuseNextVersion(draft);
      const valid = validateDraft(draft);
      if (valid !== undefined) await valid;
      const message = compose(draft, { producer, nowMs: clock.now() });
      const applied = ready(contract.destination);
      // Without an answer in time the send is not tried for long, and says that nothing was sent.
      if (applied !== undefined) await settledWithin(clock, timeoutMs, applied);
      const target = { at: 'destination', name: contract.destination, type: message.type } as const;
      const addresses = plan.address(target);
      const first = addresses[0];
      if (first === undefined) throw publishUnroutable(subjectOf(broker, draft));
      const send = { deadlineMs: giveUpAtMs - clock.now(), signal };
      const outcome =
        addresses.length === 1
          ? await this.#options.sender.send(addressed(message, first), send)
          : worst(
              await Promise.all(
                addresses.map((to) => this.#options.sender.send(addressed(message, to), send)),
              ),
            );
      if (outcome.is === 'confirmed') return { id, outcome: 'confirmed' };
      const error = errorOf(outcome, subjectOf(broker, draft), timeoutMs);
      // Closed or aborted before anything was sent: that is no doubt.
      const is = error.code === 'MSG_PUBLISH_UNCONFIRMED' ? 'unknown' : 'rejected';
      events.emit({ event: 'publish.failed', broker, messageId: id, outcome: is, error });
      return { id, outcome: is, error };
    } catch (error) {
      const refused = MessagingError.is(error)
        ? error
        : publishInvalid({ ...subjectOf(broker, draft), cause: error });
      events.emit({
        event: 'publish.failed',
        broker,
        messageId: id,
        outcome: 'rejected',
        error: refused,
      });
      return { id, outcome: 'rejected', error: refused };
    }
  }

  many(drafts: readonly Draft[], options: PublishOptions): Promise<readonly PublishResult[]> {
    return Promise.all(drafts.map((draft) => this.one(draft, options)));
  }
}

/** Only an error needs it. */
function subjectOf(broker: string, { id, contract }: Draft): PublishSubject {
  return { broker, destination: contract.destination, type: contract.type, id };
}

function noDraft(value: unknown): { outcome: 'rejected'; error: MessagingError } {
  const expected = 'a draft, which a contract makes of data: OrderCreated({ … })';
  return {
    outcome: 'rejected',
    error: configInvalid({ option: 'publish(draft)', value, expected }),
  };
}

/** A deadline that is no number would never pass. @throws MSG_CONFIG_INVALID */
function checkTimeout(timeoutMs: number): void {
  if (typeof timeoutMs === 'number' && timeoutMs > 0) return;
  throw configInvalid({
    option: 'publish.timeoutMs',
    value: timeoutMs,
    expected: 'milliseconds as a number > 0',
  });
}

/** With several targets the message counts as published when all have it. */
function worst(outcomes: readonly SendOutcome[]): SendOutcome {
  const bad =
    outcomes.find(({ is }) => is === 'rejected') ??
    outcomes.find((outcome) => outcome.is === 'unknown' && outcome.sent) ??
    outcomes.find(({ is }) => is === 'unknown');
  return bad ?? { is: 'confirmed', duplicate: false };
}

const REJECTED: Readonly<Record<RejectKind, (at: PublishSubject) => MessagingError>> = {
  unroutable: publishUnroutable,
  'too-large': publishTooLarge,
  invalid: publishInvalid,
  refused: publishRefused,
  throttled: publishThrottled,
  auth: publishAuth,
};

function errorOf(
  outcome: Exclude<SendOutcome, { is: 'confirmed' }>,
  subject: PublishSubject,
  timeoutMs: number,
): MessagingError {
  const about = { ...subject, cause: outcome.error };
  if (outcome.is === 'rejected') return REJECTED[outcome.kind](about);
  if (!outcome.sent && outcome.why === 'closed') return publishClosed(about);
  if (!outcome.sent && outcome.why === 'aborted') return publishAborted(about);
  return publishUnconfirmed({ ...about, timeoutMs, sent: outcome.sent });
}
