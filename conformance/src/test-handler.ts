import {
  BusinessRejection,
  type Handler,
  type HandlerContext,
  type Message,
  on,
  permanent,
  transient,
} from '@ackord/core';
import type { SqlTx } from '@ackord/core/store';
import {
  type Act,
  type Contracts,
  contractsOf,
  type OrderData,
  type ReservationData,
} from './contracts.ts';
import type { Gate } from './gate.ts';
import { errorText, type Run } from './history/entry.ts';

export interface TestHandlerOptions {
  readonly namespace: string;
  readonly schema: string;
  readonly reads: 'orders' | 'inventory';
  readonly effects: boolean;
  /** Holds acts `wait` and `hang`. */
  readonly gate: Gate;
  readonly record: (
    entry: (
      | { readonly what: 'run'; readonly act: string }
      | { readonly what: 'ran'; readonly ended: string }
    ) &
      Run,
  ) => void;
}

/** Handlers of the standard consumer: they act by the script of the message. */
export function testHandlers(options: TestHandlerOptions): readonly Handler<SqlTx>[] {
  const contracts = contractsOf(options.namespace);
  if (options.reads === 'orders') {
    return [
      on(
        contracts.OrderCreated,
        recorded<OrderData>(options, (order) => new Acting(options, contracts, order).run()),
      ),
    ];
  }
  const count = recorded<ReservationData>(options, ({ message, context }) =>
    options.effects ? writeEffect(options.schema, message, context, 1) : Promise.resolve(),
  );
  return [on(contracts.ReservationMade, count), on(contracts.ReservationRejected, count)];
}

interface Handled<D> {
  readonly message: Message<D>;
  readonly context: HandlerContext<SqlTx>;
}

function recorded<D>(
  { record }: TestHandlerOptions,
  act: (handled: Handled<D>) => Promise<void>,
): (message: Message<D>, context: HandlerContext<SqlTx>) => Promise<void> {
  return async (message, context) => {
    const { attempt, consumer } = context;
    const run = { id: message.id, consumer, attempt };
    record({ what: 'run', act: actOf(message.data, attempt), ...run });
    try {
      await act({ message, context });
      record({ what: 'ran', ended: 'done', ...run });
    } catch (error) {
      record({ what: 'ran', ended: errorText(error), ...run });
      throw error;
    }
  };
}

function actOf(data: unknown, attempt: number): Act {
  const { script } = data as Partial<OrderData>;
  return script?.[Math.min(attempt, script.length) - 1] ?? 'ok';
}

class Acting {
  readonly #options: TestHandlerOptions;
  readonly #contracts: Contracts;
  readonly #message: Message<OrderData>;
  readonly #context: HandlerContext<SqlTx>;

  constructor(options: TestHandlerOptions, contracts: Contracts, handled: Handled<OrderData>) {
    this.#options = options;
    this.#contracts = contracts;
    this.#message = handled.message;
    this.#context = handled.context;
  }

  async run(): Promise<void> {
    const act = actOf(this.#message.data, this.#context.attempt);
    const { schema, effects } = this.#options;
    const { count, sku } = this.#message.data;
    const reservation = { sku, orderId: this.#message.id };
    if (act === 'business') {
      return await this.#context.outbox.add(this.#contracts.ReservationRejected(reservation));
    }
    if (effects) await writeEffect(schema, this.#message, this.#context, count);
    if (act === 'publish') {
      return await this.#context.outbox.add(this.#contracts.ReservationMade(reservation));
    }
    if (act === 'reject') {
      throw new BusinessRejection(this.#contracts.ReservationRejected(reservation), 'sold out');
    }
    await this.#wait(act);
    this.#fail(act);
  }

  async #wait(act: Act): Promise<void> {
    const { signal } = this.#context;
    const { gate } = this.#options;
    if (act === 'hang') await gate.opened();
    if (act === 'wait') await aborted(signal, gate.opened());
    if (act.startsWith('slow:')) {
      await aborted(signal, new Promise((done) => setTimeout(done, Number(act.slice(5)))));
    }
  }

  #fail(act: Act): void {
    if (act === 'permanent') throw permanent('the script says permanent');
    if (act === 'transient') throw transient('the script says transient');
    if (act === 'unknown') throw new Error('the script says unknown');
    if (act !== 'mutate') return;
    Object.assign(this.#message.data, { sku: 'changed', count: 99 });
    throw transient('after the message was changed');
  }
}

async function writeEffect(
  schema: string,
  message: Message<{ readonly sku: string }>,
  { tx, consumer, attempt }: HandlerContext<SqlTx>,
  count: number,
): Promise<void> {
  const { id, aggregate, data } = message;
  await tx.query(
    `insert into "${schema}".effects (consumer, message_id, attempt, sku, count, aggregate_id, aggregate_version)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [consumer, id, attempt, data.sku, count, aggregate?.id ?? null, aggregate?.version ?? null],
  );
  await tx.query(
    `insert into "${schema}".stock as old (sku, reserved) values ($1, $2)
     on conflict (sku) do update set reserved = old.reserved + excluded.reserved`,
    [data.sku, count],
  );
}

/** Rejects with the reason of the signal when that comes first. */
function aborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject);
  });
}
