import type { ContractRegistry, Resolved } from '../contract/registry.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { contractUnknownType } from '../errors/create.ts';
import { MessagingError } from '../errors/messaging-error.ts';
import { MAX_RETRY_AFTER_MS } from '../failure/classify.ts';
import { readableError } from '../failure/readable-error.ts';
import type { EventOutlet, MessageRef } from '../observe/events.ts';
import type { Interceptor, StepName } from '../observe/steps.ts';
import type { ParkReason } from '../parking/parked-message.ts';
import type { Clock } from '../time/clock.ts';
import type { ConsumerSettings } from './consumer-options.ts';
import type { Handler } from './handler.ts';
import type { Incoming, Judged, PipelineResult } from './incoming.ts';
import { parkedRecord } from './judge-failure.ts';
import { refOf } from './message-ref.ts';
import { readMessage } from './read-message.ts';

/** A message that is to be run: read, resolved, not early. */
export interface Runnable<Tx> {
  readonly judged: Judged & { readonly envelope: Envelope };
  readonly run: Handler<Tx>['run'];
  readonly data: unknown;
  /** Read from the bytes once more, for a second run: a handler may have changed what it was given. */
  readonly dataAgain: () => Promise<unknown>;
  readonly ref: MessageRef;
}

/** How a runnable message meets the store: through the Inbox, or without one. */
export interface Runner<Tx> {
  run(message: Runnable<Tx>, stop: AbortSignal): Promise<PipelineResult>;
  /** Settles without a run, under the same id. */
  expire(message: Runnable<Tx>, stop: AbortSignal): Promise<PipelineResult>;
}

export interface PipelineOptions<Tx> {
  readonly settings: ConsumerSettings;
  readonly registry: ContractRegistry<Handler<Tx>>;
  readonly runner: Runner<Tx>;
  readonly clock: Clock;
  readonly events: EventOutlet;
  readonly intercept: Interceptor | undefined;
}

/** receive → decode → due gate → contract and upcast → run. Never throws; every end is a verdict. */
export class Pipeline<Tx> {
  readonly #options: PipelineOptions<Tx>;

  constructor(options: PipelineOptions<Tx>) {
    this.#options = options;
  }

  async run(incoming: Incoming, stop: AbortSignal): Promise<PipelineResult> {
    const { settings, registry, clock, intercept, runner } = this.#options;
    const read = readMessage(incoming, settings);
    const { judged } = read;
    try {
      if (intercept !== undefined) await this.#step('received', judged);
      const dueAtMs = this.#dueAt(judged);
      if (dueAtMs > clock.now()) {
        return { verdict: { step: 'defer', message: judged, dueAtMs } };
      }
      if (read.is === 'unreadable') return this.#park(judged, 'invalid_contract', read.error);
      if (intercept !== undefined) await this.#step('decoded', judged);
      this.#late(judged, dueAtMs);
      const { envelope } = read.judged;
      let resolved: Resolved<Handler<Tx>> | undefined;
      try {
        const answer = registry.resolve(envelope);
        resolved = answer instanceof Promise ? await answer : answer;
      } catch (thrown) {
        const error = readableError(thrown);
        if (isContractError(error)) return this.#park(judged, 'invalid_contract', error);
        return await runner.run(failing(this.#options, read.judged, error), stop);
      }
      if (resolved === undefined) return this.#unhandled(judged, envelope);
      const runnable = {
        judged: read.judged,
        run: resolved.handler.run,
        data: resolved.data,
        dataAgain: async () => (await registry.resolve(settings.codec.decode(incoming)))?.data,
        ref: refOf(settings, judged),
      };
      if (isExpired(envelope, clock.now())) return await runner.expire(runnable, stop);
      return await runner.run(runnable, stop);
    } catch (error) {
      return { verdict: { step: 'keep', error } };
    }
  }

  /** A header is only believed as far as this consumer's own delays could reach. */
  #dueAt({ headers, incoming }: Judged): number {
    const heldUntilMs = incoming.heldUntilMs ?? 0;
    if (headers.dueAtMs === undefined) return heldUntilMs;
    const { settings, clock } = this.#options;
    const longest = clock.now() + MAX_RETRY_AFTER_MS + 2 * Math.max(...settings.retry.delaysMs);
    const { dueAtMs } = headers;
    return Math.max(dueAtMs > longest ? 0 : dueAtMs, heldUntilMs);
  }

  #unhandled(judged: Judged, { type }: Envelope): PipelineResult {
    const { settings, events } = this.#options;
    if (settings.unhandled === 'park') {
      const error = contractUnknownType({ consumer: settings.name, type });
      return this.#park(judged, 'unhandled', error);
    }
    events.emit({ event: 'message.unhandled', ...refOf(settings, judged) });
    return { verdict: { step: 'ack' } };
  }

  #park(judged: Judged, reason: ParkReason, error: unknown): PipelineResult {
    const { settings, clock } = this.#options;
    const nowMs = clock.now();
    const failed = { message: judged, error, row: undefined, nowMs };
    const record = parkedRecord(settings, reason, { ...failed, failure: 'permanent' });
    return { verdict: { step: 'park', message: judged, record } };
  }

  #late(judged: Judged, dueAtMs: number): void {
    const { settings, clock, events } = this.#options;
    if (dueAtMs === 0 || !events.hasListeners) return;
    const latenessMs = clock.now() - dueAtMs;
    events.emit({ event: 'message.late', latenessMs, ...refOf(settings, judged) });
  }

  async #step(name: StepName, { id, attempt }: Judged): Promise<void> {
    const { intercept, settings } = this.#options;
    await intercept?.(name, { messageId: id, consumer: settings.name, attempt });
  }
}

function isContractError(error: unknown): boolean {
  return MessagingError.is(error) && error.code.startsWith('MSG_CONTRACT_');
}

/** A schema or upcast step with a defect: counted and retried like a handler that throws. */
function failing<Tx>(
  { settings }: PipelineOptions<Tx>,
  judged: Runnable<Tx>['judged'],
  error: unknown,
): Runnable<Tx> {
  const run = (): Promise<void> => Promise.reject(error);
  const dataAgain = async (): Promise<undefined> => undefined;
  return { judged, run, data: undefined, dataAgain, ref: refOf(settings, judged) };
}

function isExpired({ expiresAt }: Envelope, nowMs: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= nowMs;
}
