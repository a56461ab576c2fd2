import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { STOCK } from '../../examples/orders/src/schema.ts';
import { UsageError } from './usage-error.ts';

const SAMPLE: string = fileURLToPath(
  new URL('../../examples/orders/orders.sample.jsonl', import.meta.url),
);

export const HELP: string = `npm run demo [-- --broker memory|rabbitmq] [--orders FILE] [--without-inbox] [--show-parked] [--json]

Runs the order example with injected trouble and counts what became of every order.

  --broker NAME     memory (default): a broker and a database inside this process.
                    rabbitmq: RabbitMQ and PostgreSQL, the services as processes that are killed; from
                    ACKORD_RABBITMQ_URL and ACKORD_POSTGRES_URL if set, else in containers, removed at the end.
  --orders FILE     orders to process instead of examples/orders/orders.sample.jsonl; one JSON object a line:
                    {"orderId": "o-1", "sku": "book-17", "count": 2}
                    An order id that comes again is a message delivered twice. "schemaVersion" makes a line a message
                    of that version. A line that is no order is put on the broker as it is, and has to end parked.
                    In stock: ${Object.keys(STOCK).join(', ')}.
  --without-inbox   takes the Inbox away, to show that this is noticed: doubled effects, exit code 1
  --show-parked     prints every parked message in full, not only the first of each reason
  --json            prints the result as one JSON object on standard output; progress goes to standard error.
                    For a pipe, without npm's own lines: npm run --silent demo -- --json
  --help            this text

Exit code 0: every order ended in exactly one effect, one business rejection or one parked message. 1: not so.
2: wrong input.
`;

export interface DemoOptions {
  readonly broker: 'memory' | 'rabbitmq';
  readonly orders: string;
  readonly withoutInbox: boolean;
  readonly showParked: boolean;
  readonly json: boolean;
  readonly help: boolean;
}

/** @throws UsageError an unknown option, a missing value, an unknown broker. */
export function readOptions(args: readonly string[]): DemoOptions {
  const values = parse(args);
  const broker = values.broker ?? 'memory';
  if (broker !== 'memory' && broker !== 'rabbitmq') {
    throw new UsageError(`--broker ${broker} is unknown; known are memory and rabbitmq.`);
  }
  return {
    broker,
    orders: values.orders ?? SAMPLE,
    withoutInbox: values['without-inbox'] ?? false,
    showParked: values['show-parked'] ?? false,
    json: values.json ?? false,
    help: values.help ?? false,
  };
}

const OPTIONS = {
  broker: { type: 'string' },
  orders: { type: 'string' },
  'without-inbox': { type: 'boolean' },
  'show-parked': { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nnpm run demo -- --help lists the options.`);
  }
}
