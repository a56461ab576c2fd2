import type { StepName } from '@ackord/core';
import type { Driver } from '@ackord/core/driver';
import { ManualClock } from '@ackord/core/testing';
import { MemoryBroker, MemoryDatabase, type MemoryDriver, memoryStore } from '../../src/index.ts';
import { Custody } from './custody.ts';
import {
  CONSUMERS,
  draftOf,
  handledId,
  idOfBody,
  junkBody,
  type Made,
  OrderCreated,
  PUBLISH_TIMEOUT_MS,
  SUBSCRIBERS,
} from './messages.ts';
import type { Operation, Schedule } from './operations.ts';
import { Process, untilKilled } from './process.ts';
import { Recorder } from './recorder.ts';
import { Witness } from './witness.ts';

export interface Profile {
  readonly name: string;
  readonly driver: (broker: MemoryBroker) => MemoryDriver;
  readonly isLog: boolean;
  /** Addresses that a schedule may take away. */
  readonly places: readonly string[];
  /** What receivers read and a broker may cancel. */
  readonly sources: readonly string[];
}

interface Publishing {
  readonly process: Process;
  readonly made: Made;
  readonly startedAtMs: number;
  settledAtMs: number | undefined;
}

const MAX_INSTANCES = 3;
const SETTLE_SLACK_MS = 100;

/** A broker, a database, the processes on them, and what is known of every message. */
export class World {
  readonly clock = new ManualClock();
  readonly broker = new MemoryBroker({ clock: this.clock });
  readonly database = new MemoryDatabase({ clock: this.clock });
  readonly recorder = new Recorder(this.clock);
  readonly custody = new Custody(this);
  readonly witness: Witness;
  readonly processes: Process[] = [];
  /** Confirmed, or committed to the outbox. */
  readonly accepted = new Map<string, Made>();
  readonly rolledBack = new Set<string>();
  readonly publishes: Publishing[] = [];
  readonly profile: Profile;
  /** Something happened to the store: parking by its failures is allowed. */
  isStoreTroubled = false;
  readonly #schedule: Schedule;
  readonly #versions = new Map<string, number>();
  readonly #background: Promise<void>[] = [];
  #made = 0;
  #kill: { step: StepName; left: number } | undefined;
  #releaseConfirms: (() => void) | undefined;

  constructor(profile: Profile, schedule: Schedule) {
    this.profile = profile;
    this.#schedule = schedule;
    this.witness = new Witness({
      clock: this.clock,
      acked: (consumer, id, readAtMs) => this.custody.acked(consumer, id, readAtMs),
      sending: (sent) => this.custody.sending(sent),
    });
  }

  get live(): readonly Process[] {
    return this.processes.filter(({ state }) => state === 'running');
  }

  join(): void {
    if (this.processes.filter(({ state }) => state !== 'gone').length >= MAX_INSTANCES) return;
    const driver = this.profile.driver(this.broker);
    const store = this.custody.watch(memoryStore({ database: this.database }));
    const process = new Process({
      clock: this.clock,
      driver,
      seen: this.witness.driver(driver as Driver),
      store,
      recorder: this.recorder,
      seed: this.#schedule.seed + this.processes.length,
      dies: (step) => this.#dies(step),
    });
    this.processes.push(process);
    this.#background.push(process.start());
  }

  async run(operation: Operation): Promise<void> {
    const { faults } = this.broker;
    const { live, database } = this;
    const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % list.length];
    switch (operation.op) {
      case 'publish':
        return this.#publish(operation);
      case 'advance':
        return await this.clock.advance(operation.ms);
      case 'kill':
        return pick(live, operation.at)?.kill();
      case 'kill-in-step':
        this.#kill = { step: operation.step, left: operation.after };
        return;
      case 'close':
        return pick(live, operation.at)?.close(operation.timeoutMs);
      case 'join':
        return this.join();
      case 'lose-session':
        return this.broker.loseSession(pick(this.broker.sessions(), operation.at));
      case 'lose-settles':
        return faults.loseSettles(operation.count);
      case 'lose-confirms':
        return faults.loseConfirms(operation.count);
      case 'duplicate-deliveries':
        return faults.duplicateDeliveries(operation.count);
      case 'refuse-open':
        return faults.refuseOpen('connection', operation.count);
      case 'reject-sends': {
        const { count, kind, together } = operation;
        return faults.rejectSends(count, kind, together === undefined ? {} : { together });
      }
      case 'hold-confirms':
        this.#releaseConfirms = faults.holdConfirms();
        return;
      case 'release-confirms':
        return this.#releaseConfirms?.();
      case 'store-down':
        this.isStoreTroubled = true;
        this.recorder.isStoreUp = false;
        return database.down();
      case 'store-up':
        return this.#storeUp();
      case 'refuse-commit':
        this.isStoreTroubled = true;
        return database.refuseNextCommit();
      case 'lose-commit':
        this.isStoreTroubled = true;
        return database.loseNextCommit(operation.when);
      case 'remove':
        return faults.remove(pick(this.profile.places, operation.place) ?? '');
      case 'restore':
        return faults.restore(pick(this.profile.places, operation.place) ?? '');
      case 'cancel':
        faults.remove(pick(this.profile.sources, operation.place) ?? '');
        return faults.restore(pick(this.profile.sources, operation.place) ?? '');
      case 'rebalance':
        if (!this.profile.isLog) return;
        return this.broker.rebalance(pick([...CONSUMERS, 'reserve.retry'], operation.group) ?? '');
      case 'junk':
        return this.#junk();
    }
  }

  /** Ends every fault; somebody is there to work. */
  async heal(): Promise<void> {
    this.#kill = undefined;
    this.broker.faults.clear();
    this.#storeUp();
    // Without a lease a lost ack is seen again when its session ends.
    this.broker.loseSession();
    for (let tries = 0; this.live.length === 0 && tries < 30; tries += 1) {
      this.join();
      await this.clock.advance(2_000);
    }
    await this.live[0]?.store.outbox.retryRefused();
  }

  async closeAll(): Promise<void> {
    for (const process of this.live) process.close(10_000);
    await this.clock.advance(60_000);
    await Promise.all(this.#background);
  }

  /** Ended as effect or result in the consumer's Inbox, or in its parking lot. */
  hasEnded(consumer: string, id: string): boolean {
    return this.outcomeOf(consumer, id) !== undefined || this.isParked(consumer, id);
  }

  outcomeOf(consumer: string, id: string): string | undefined {
    const rows = this.database.inboxRows();
    return rows.find((row) => row.consumer === consumer && row.messageId === id)?.outcome;
  }

  isParked(consumer: string, id: string): boolean {
    return this.holds(`${consumer}.parking`, id);
  }

  holds(place: string, id: string): boolean {
    return this.broker.dump(place).some(({ body }) => idOfBody(body) === id);
  }

  /** Accepted messages, and what handlers committed to the outbox, without an end yet. */
  unended(): readonly string[] {
    const open: string[] = [];
    for (const { id, kind } of this.accepted.values()) {
      for (const consumer of SUBSCRIBERS.orders) {
        if (!this.hasEnded(consumer, id)) open.push(`${consumer} ${id}`);
        const outcome = this.outcomeOf(consumer, id);
        const answers =
          (kind === 'publish' && outcome === 'applied') ||
          (kind === 'reject' && outcome === 'rejected');
        const answer = handledId(consumer, id);
        if (answers && !this.hasEnded('results', answer)) open.push(`results ${answer}`);
      }
    }
    return open;
  }

  #publish({ via, kind, fails, key, count }: Extract<Operation, { op: 'publish' }>): void {
    const process = this.live[this.#made % Math.max(1, this.live.length)];
    if (process === undefined) return;
    for (let i = 0; i < count; i += 1) {
      const made = this.#make(kind, fails, `k${key}`, via !== 'rolled-back');
      const work =
        via === 'direct' ? this.#direct(process, made) : this.#outbox(process, made, via);
      this.#background.push(untilKilled(process, work));
    }
  }

  #make(kind: Made['kind'], fails: number, key: string, isReal: boolean): Made {
    this.#made += 1;
    const version = (this.#versions.get(key) ?? 0) + 1;
    if (isReal) this.#versions.set(key, version);
    return { id: `m${this.#made}`, kind, fails, key, version, body: 'envelope' };
  }

  async #direct(process: Process, made: Made): Promise<void> {
    const startedAtMs = this.clock.now();
    const publishing: Publishing = { process, made, startedAtMs, settledAtMs: undefined };
    this.publishes.push(publishing);
    const [result] = await process.bus.publishMany([draftOf(made)]);
    publishing.settledAtMs = this.clock.now();
    const tookMs = publishing.settledAtMs - startedAtMs;
    if (!process.isKilled && tookMs > PUBLISH_TIMEOUT_MS + SETTLE_SLACK_MS) {
      this.recorder.violated(`I12: the publish of ${made.id} took ${tookMs} ms`);
    }
    if (result?.outcome === 'confirmed') this.accepted.set(made.id, made);
  }

  async #outbox(process: Process, made: Made, via: 'outbox' | 'rolled-back'): Promise<void> {
    try {
      await process.store.transaction(async (tx) => {
        await process.bus.outbox(tx).add(draftOf(made));
        if (via === 'rolled-back') throw new Error('rolled back');
      });
      this.accepted.set(made.id, made);
      this.custody.outboxed(made);
    } catch {
      // Not accepted; after a lost COMMIT it may come all the same.
      if (via === 'rolled-back') this.rolledBack.add(made.id);
    }
  }

  #junk(): void {
    if (this.live.length === 0) return;
    this.#made += 1;
    const id = `junk${this.#made}`;
    this.broker.inject('orders', { body: junkBody(id), nativeId: id, type: OrderCreated.type });
    this.accepted.set(id, { id, kind: 'permanent', fails: 0, key: '', version: 0, body: 'junk' });
  }

  #storeUp(): void {
    this.recorder.isStoreUp = true;
    this.database.up();
  }

  #dies(step: StepName): boolean {
    const kill = this.#kill;
    if (kill === undefined || kill.step !== step) return false;
    kill.left -= 1;
    if (kill.left >= 0) return false;
    this.#kill = undefined;
    return true;
  }

  /** Queues: where a consumer's messages may lie. */
  placesOf(consumer: string): readonly string[] {
    return ['', '.retry', '.retry.1s', '.retry.5s', '.parking'].map((end) => consumer + end);
  }

  /** Messages that still go round. */
  circulating(): readonly string[] {
    if (this.profile.isLog) return [];
    return CONSUMERS.flatMap((consumer) =>
      this.placesOf(consumer)
        .filter((place) => !place.endsWith('.parking'))
        .flatMap((place) =>
          this.broker.dump(place).map(({ body }) => `${place} ${idOfBody(body)}`),
        ),
    );
  }
}
