import { MemoryDatabase, type MemoryStore, type MemoryTx, memoryStore } from '@ackord/memory';
import { z } from 'zod';
import { createPipeline } from '../../src/bus/create-pipeline.ts';
import { type ConsumerOptions, consumerSettings } from '../../src/consume/consumer-options.ts';
import { deferCopy, retryCopy } from '../../src/consume/copy.ts';
import {
  type HandlerContext,
  type HandlerFunction,
  type Message,
  on,
} from '../../src/consume/handler.ts';
import type { Incoming, PipelineResult, Verdict } from '../../src/consume/incoming.ts';
import { type DraftOptions, event } from '../../src/contract/contract.ts';
import { ContractRegistry } from '../../src/contract/registry.ts';
import type { Capabilities, Delay } from '../../src/driver/capabilities.ts';
import type { Driver } from '../../src/driver/driver.ts';
import type { Plan } from '../../src/driver/topology.ts';
import { type BusEvent, EventOutlet } from '../../src/observe/events.ts';
import type { Interceptor } from '../../src/observe/steps.ts';
import { OutboxWriter } from '../../src/outbox/outbox-writer.ts';
import { compose } from '../../src/publish/compose.ts';
import type { Store } from '../../src/store/store.ts';
import { ManualClock } from '../../src/time/manual-clock.ts';

const Created = event('order.created', {
  version: 1,
  destination: 'orders',
  data: z.object({ count: z.int() }),
});
export const Answered = event('order.answered', {
  version: 1,
  destination: 'answers',
  data: z.object({}),
});

export type Run = HandlerFunction<{ count: number }, MemoryTx>;

export interface RigOptions {
  readonly run: Run;
  readonly consumer?: ConsumerOptions;
  readonly intercept?: Interceptor;
  readonly delays?: 'bucket' | 'return';
  readonly withoutStore?: true;
}

const BUCKET: Delay = { by: 'bucket', minMs: 1, maxMs: 1e9 };
const RETURN: Delay = { by: 'return', stepMs: 1, maxMs: 1e9, holdsSlot: false, blocksLane: false };
const plan = { address: ({ at }: { at: string }) => [at] } as unknown as Plan;

/** A pipeline on the in-memory store; each `take` is one delivery. */
export class PipelineRig {
  readonly clock = new ManualClock();
  readonly database = new MemoryDatabase({ clock: this.clock });
  readonly store: MemoryStore = memoryStore({ database: this.database });
  readonly events: BusEvent[] = [];
  readonly stop = new AbortController();
  filled = 0;
  readonly #pipeline: { run(incoming: Incoming, stop: AbortSignal): Promise<PipelineResult> };

  constructor(options: RigOptions) {
    const { clock, store } = this;
    const events = new EventOutlet();
    events.on((each) => this.events.push(each));
    const broker = 'memory';
    const writer = new OutboxWriter<MemoryTx>({
      store: store.outbox,
      producer: 'inventory',
      broker,
      plan,
      clock,
    });
    this.#pipeline = createPipeline<MemoryTx>({
      settings: consumerSettings('reserve', {
        retry: { delays: ['1s', '5s'] },
        ...options.consumer,
      }),
      registry: new ContractRegistry([on(Created, options.run)]),
      driver: { broker } as Driver,
      capabilities: {
        delays: [options.delays === 'return' ? RETURN : BUCKET],
        nativeCount: 'every-delivery',
      } as unknown as Capabilities,
      store: options.withoutStore ? undefined : (store as Store<MemoryTx>),
      writer: options.withoutStore ? undefined : writer,
      clock,
      random: () => 0,
      events,
      intercept: options.intercept,
      outboxFilled: () => {
        this.filled += 1;
      },
    });
  }

  take(id: string, more: Partial<Incoming> & DraftOptions = {}): Promise<PipelineResult> {
    return this.#pipeline.run(this.incoming(id, more), this.stop.signal);
  }

  async verdict(id: string, more: Partial<Incoming> & DraftOptions = {}): Promise<Verdict> {
    return (await this.take(id, more)).verdict;
  }

  incoming(id: string, more: Partial<Incoming> & DraftOptions = {}): Incoming {
    const nowMs = this.clock.now();
    const { aggregate, expiresAt, ...rest } = more;
    const draft = Created(
      { count: 1 },
      {
        id,
        occurredAt: new Date(nowMs),
        ...(aggregate !== undefined && { aggregate }),
        ...(expiresAt !== undefined && { expiresAt }),
      },
    );
    const { body, headers } = compose(draft, { producer: 'orders', nowMs });
    return {
      body,
      headers,
      native: { id, type: Created.type },
      receivedAtMs: nowMs,
      redelivered: false,
      place: 'reserve',
      ...rest,
    };
  }

  /** The delivery that a retry or deferral would come back as. */
  again(verdict: Verdict): Partial<Incoming> {
    if (verdict.step !== 'retry' && verdict.step !== 'defer') throw new Error(verdict.step);
    const { message, dueAtMs } = verdict;
    const at = { consumer: 'reserve', dueAtMs };
    const { headers } =
      verdict.step === 'defer'
        ? deferCopy(message, at)
        : retryCopy(message, { ...at, error: verdict.error });
    return { headers };
  }

  eventsOf<E extends BusEvent['event']>(name: E): readonly Extract<BusEvent, { event: E }>[] {
    return this.events.filter(
      (each): each is Extract<BusEvent, { event: E }> => each.event === name,
    );
  }
}

export async function effect(
  { id }: Pick<Message, 'id'>,
  { tx }: Pick<HandlerContext<MemoryTx>, 'tx'>,
): Promise<void> {
  await tx.effect<number>(id, (before = 0) => before + 1);
}
