import { KeyLanes } from '../consume/key-lanes.ts';
import type { RejectKind } from '../driver/driver.ts';
import { describeError } from '../failure/describe-error.ts';
import { backoffMs } from '../lifecycle/backoff.ts';
import { TaskGroup } from '../lifecycle/task-group.ts';
import type { SendOutcome } from '../publish/sender.ts';
import type { FencedRow, OutboxRow } from '../store/outbox-store.ts';
import { withDeadline } from '../time/deadline.ts';
import { settledWithin, wait } from '../time/wait.ts';
import type { RelayOptions } from './relay-options.ts';
import { toOutgoing } from './row-message.ts';
import { SlotHolder } from './slot-holder.ts';

const BUSY_POLL_MS = 50;
const IDLE_POLL_MS = 1_000;
/** After `wake()` the outbox is polled fast for this long: the caller's COMMIT is still to come. */
const BURST_MS = 1_000;
/** An unroutable row is tried this often before it is parked in the outbox. */
const UNROUTABLE_TRIES = 5;
const STATEMENT_DEADLINE_MS = 10_000;
/** What a statement that is under way gets at `stop`, when nothing is left of its time. */
const STOP_GRACE_MS = 500;

interface Held {
  readonly row: OutboxRow;
  readonly fence: FencedRow;
  readonly lane: string | undefined;
  /** Sends that did not end well; an outage counts, for the back-off only. */
  failures: number;
  /** Sends that found nobody. */
  unroutable: number;
}

/**
 * Publishes outbox rows and deletes each only after its publish was confirmed and routed. No
 * transaction is open meanwhile. Rows of one aggregate and target go one after another. An outage
 * of the broker costs a row nothing; a row that the broker refuses for good is parked in the outbox.
 */
export class Relay<Tx> {
  readonly #options: RelayOptions<Tx>;
  readonly #slots: SlotHolder<Tx>;
  readonly #stopping = new AbortController();
  /** Aborts at the end of `stop`: statements that got no answer are left behind. */
  readonly #givenUp = new AbortController();
  readonly #held = new Map<string, Held>();
  readonly #lanes = new KeyLanes<Held>();
  readonly #tasks: TaskGroup;
  readonly #confirmed: Held[] = [];
  #removing = false;
  #wakeUp: (() => void) | undefined;
  #burstUntilMs = 0;
  #running: Promise<void> | undefined;

  constructor(options: RelayOptions<Tx>) {
    this.#options = options;
    this.#slots = new SlotHolder(options);
    this.#tasks = new TaskGroup((error) => this.#storeFailed('relaying a row', error));
  }

  start(): void {
    this.#running ??= this.#loop();
  }

  /** A hint that rows were or will be committed. */
  wake(): void {
    this.#burstUntilMs = this.#options.clock.now() + BURST_MS;
    this.#wakeUp?.();
  }

  /** Starts nothing new, waits for what is in flight, gives the slots back. Returns rows left in flight. */
  async stop(timeoutMs: number): Promise<number> {
    const { clock } = this.#options;
    const endMs = clock.now() + timeoutMs;
    this.#stopping.abort(new Error('stopping'));
    this.#wakeUp?.();
    for (const held of this.#lanes.drain()) this.#held.delete(held.row.seq);
    await settledWithin(clock, timeoutMs, this.#tasks.idle());
    const left = this.#tasks.size;
    const graceMs = Math.max(STOP_GRACE_MS, endMs - clock.now());
    await settledWithin(clock, graceMs, Promise.resolve(this.#running));
    this.#givenUp.abort(new Error('the relay was stopped'));
    await settledWithin(clock, STOP_GRACE_MS, this.#slots.release());
    return left;
  }

  async #loop(): Promise<void> {
    const { clock, random } = this.#options;
    const signal = this.#stopping.signal;
    let failures = 0;
    while (!signal.aborted) {
      let taken = 0;
      try {
        await this.#slots.renew(this.#busySlots(), this.#givenUp.signal);
        taken = await this.#fetch();
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        this.#storeFailed('reading the outbox', error);
      }
      const idle = taken === 0 && clock.now() >= this.#burstUntilMs;
      const pauseMs =
        failures > 0
          ? backoffMs(failures, random(), this.#options.backoff)
          : idle
            ? IDLE_POLL_MS * (0.8 + 0.4 * random())
            : BUSY_POLL_MS;
      // A longer pause would let the leases of an idle relay run out.
      const longestMs = this.#options.leaseTtlMs / 3;
      if (taken < FETCH_LIMIT || this.#room() === 0)
        await this.#pause(Math.min(pauseMs, longestMs));
    }
  }

  async #pause(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wakeUp = () => woken.abort();
    const any = AbortSignal.any([woken.signal, this.#stopping.signal]);
    await wait(this.#options.clock, ms, any);
    this.#wakeUp = undefined;
  }

  #room(): number {
    return Math.max(0, this.#options.maxHeld - this.#held.size);
  }

  async #fetch(): Promise<number> {
    const { store, broker } = this.#options;
    const leases = this.#slots.leases();
    const limit = Math.min(FETCH_LIMIT, this.#room());
    if (leases.length === 0 || limit === 0) return 0;
    const except = [...this.#held.keys()];
    const rows = await this.#bounded('reading the outbox', (signal) =>
      store.fetch({ leases, brokers: [broker], limit, except, signal }),
    );
    for (const row of rows) {
      const epoch = this.#slots.epochOf(row.slot);
      if (epoch === undefined || this.#held.has(row.seq)) continue;
      const fence = { seq: row.seq, slot: row.slot, epoch };
      const lane = row.key === undefined ? undefined : `${row.target}\0${row.key}`;
      const held: Held = { row, fence, lane, failures: 0, unroutable: 0 };
      this.#held.set(row.seq, held);
      this.#lanes.push(held, lane);
    }
    this.#startReady();
    return rows.length;
  }

  #startReady(): void {
    if (this.#stopping.signal.aborted) return;
    for (let held = this.#lanes.next(); held !== undefined; held = this.#lanes.next()) {
      const next = held;
      this.#tasks.run(() => this.#send(next));
    }
  }

  async #send(held: Held): Promise<void> {
    while (this.#mayGoOn(held)) {
      try {
        const outcome = await this.#publish(held);
        if (outcome.is === 'confirmed') {
          this.#remove(held);
          return;
        }
        if (await this.#refused(held, outcome)) return;
        const { error } = outcome;
        this.#options.events.emit({
          event: 'outbox.delayed',
          messageId: held.row.messageId,
          error,
        });
      } catch (error) {
        this.#storeFailed('relaying a row', error);
      }
      if (!(await this.#backOff(held))) break;
    }
    this.#giveUp(held);
  }

  async #publish({ row }: Held): Promise<SendOutcome> {
    const { sender, publishTimeoutMs, ready, intercept } = this.#options;
    const { messageId } = row;
    const applied = ready(row.destination);
    if (applied !== undefined) await applied;
    const sent = sender.send(toOutgoing(row), {
      deadlineMs: publishTimeoutMs,
      // What waits for a connection is not sent after the lease has ended.
      handOverMs: this.#slots.leftMs(),
    });
    if (intercept !== undefined) await intercept('outbox.publish.sent', { messageId });
    const outcome = await sent;
    if (outcome.is === 'confirmed' && intercept !== undefined) {
      await intercept('outbox.confirmed', { messageId });
    }
    return outcome;
  }

  /** The lease is checked by local time, before each send: a relay that was frozen sends nothing old. */
  #mayGoOn({ fence }: Held): boolean {
    if (this.#stopping.signal.aborted) return false;
    return this.#slots.epochOf(fence.slot) === fence.epoch;
  }

  async #refused(held: Held, outcome: SendOutcome): Promise<boolean> {
    if (outcome.is !== 'rejected') return false;
    if (outcome.kind === 'unroutable') held.unroutable += 1;
    if (!isForGood(outcome.kind, held.unroutable)) return false;
    const { store, events } = this.#options;
    const { kind, error } = outcome;
    const reason = { kind, text: describeError(error).text, blocks: true };
    await this.#bounded('refusing a row', (signal) => store.refuse(held.fence, reason, signal));
    events.emit({ event: 'outbox.refused', messageId: held.row.messageId, kind, error });
    this.#giveUp(held);
    return true;
  }

  async #backOff(held: Held): Promise<boolean> {
    const { clock, random, backoff } = this.#options;
    held.failures += 1;
    return await wait(
      clock,
      backoffMs(held.failures - 1, random(), backoff),
      this.#stopping.signal,
    );
  }

  /** The row stays in the outbox; later rows of its aggregate must not overtake it. */
  #giveUp(held: Held): void {
    for (const later of this.#lanes.cut(held.lane)) this.#held.delete(later.row.seq);
    this.#forget(held);
  }

  #remove(held: Held): void {
    this.#confirmed.push(held);
    if (this.#removing) return;
    this.#removing = true;
    this.#tasks.run(() => this.#removeConfirmed());
  }

  async #removeConfirmed(): Promise<void> {
    const { store, events, clock } = this.#options;
    try {
      while (this.#confirmed.length > 0) {
        const chunk = this.#confirmed.splice(0, REMOVE_LIMIT);
        const fences = chunk.map(({ fence }) => fence);
        try {
          await this.#bounded('deleting sent rows', (signal) => store.remove(fences, signal));
          const oldestMs = Math.min(...chunk.map(({ row }) => row.createdAtMs));
          events.emit({
            event: 'outbox.sent',
            count: chunk.length,
            oldestMs: clock.now() - oldestMs,
          });
        } catch (error) {
          // The rows stay and are sent again under the same ids: a duplicate, not a loss.
          this.#storeFailed('deleting sent rows', error);
        }
        for (const held of chunk) this.#forget(held);
        this.#startReady();
      }
    } finally {
      this.#removing = false;
    }
  }

  #forget(held: Held): void {
    this.#held.delete(held.row.seq);
    this.#lanes.done(held.lane);
    if (!this.#stopping.signal.aborted) this.#startReady();
  }

  #bounded<T>(what: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline(this.#options.clock, STATEMENT_DEADLINE_MS, what, (late) =>
      run(AbortSignal.any([late, this.#givenUp.signal])),
    );
  }

  #busySlots(): readonly number[] {
    return [...new Set([...this.#held.values()].map(({ row }) => row.slot))];
  }

  #storeFailed(during: string, error: unknown): void {
    this.#options.events.emit({ event: 'store.failed', during, error });
  }
}

const FETCH_LIMIT = 500;
const REMOVE_LIMIT = 100;

/** The same row fails again: no outage of the destination, but the row itself. */
function isForGood(kind: RejectKind, unroutable: number): boolean {
  if (kind === 'invalid' || kind === 'too-large') return true;
  return kind === 'unroutable' && unroutable >= UNROUTABLE_TRIES;
}
