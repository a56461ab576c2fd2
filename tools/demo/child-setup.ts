import type { RetryOptions } from '@ackord/core';
import type { Order } from '../../examples/orders/src/contracts.ts';
import type { Observation } from './observations.ts';
import type { TroublePlan } from './trouble.ts';

/** What a service process is given, as JSON in `ACKORD_DEMO_CHILD`. */
export interface ChildSetup {
  readonly rabbitmqUrl: string;
  readonly databaseUrl: string;
  /** Before every name on the broker, so that runs do not meet. */
  readonly prefix: string;
  readonly retry: RetryOptions;
  /** For the inventory. */
  readonly plan: TroublePlan;
  readonly killAtCommit?: number | undefined;
}

/** What a service process says. */
export type FromChild =
  | { readonly is: 'ready' }
  | { readonly is: 'placed'; readonly orderId: string; readonly error?: string }
  | { readonly is: 'seen'; readonly seen: Observation }
  /** It stands after COMMIT and before the ack of this message, and waits for SIGKILL. */
  | { readonly is: 'at-the-step'; readonly messageId: string }
  | { readonly is: 'failed'; readonly text: string };

/** What it is told. */
export type ToChild = { readonly do: 'place'; readonly order: Order } | { readonly do: 'close' };

const VARIABLE = 'ACKORD_DEMO_CHILD';

export function childEnv(setup: ChildSetup): NodeJS.ProcessEnv {
  return { ...process.env, [VARIABLE]: JSON.stringify(setup) };
}

export function readSetup(): ChildSetup {
  const text = process.env[VARIABLE];
  if (text === undefined) throw new Error('This is a part of `npm run demo`, which starts it.');
  return JSON.parse(text) as ChildSetup;
}

export function tell(message: FromChild): void {
  process.send?.(message);
}

/** Runs a service until its parent closes it or is gone. */
export async function serve(
  start: () => Promise<{ close(): Promise<void> }>,
  told: (message: ToChild) => void = () => {},
): Promise<void> {
  // A terminal sends Ctrl-C to the whole group; the parent decides what then happens.
  process.on('SIGINT', () => {});
  process.on('disconnect', () => process.exit(1));
  try {
    const service = await start();
    process.on('message', (message: ToChild) => {
      if (message.do !== 'close') return told(message);
      service.close().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
    tell({ is: 'ready' });
  } catch (error) {
    tell({ is: 'failed', text: String(error) });
    process.disconnect?.();
    process.exitCode = 1;
  }
}
