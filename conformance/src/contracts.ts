import { type Contract, event } from '@ackord/core';
import { z } from 'zod';

/**
 * What the test handler does, by run: entry n of `script` is run n, the last one repeats. Every act
 * but `business` writes its effect first, so that a rollback is seen.
 *
 * `ok` · `transient`, `permanent`, `unknown` throw that class · `reject` throws a
 * `BusinessRejection` · `business` commits a `ReservationRejected` instead of an effect · `publish`
 * commits a `ReservationMade` beside its effect · `wait` until the gate of the case opens or the
 * signal aborts · `hang` until the gate opens, whatever the signal says · `slow:MS` takes that long
 * · `mutate` changes the message it was given and throws `transient`.
 */
export type Act =
  | 'ok'
  | 'transient'
  | 'permanent'
  | 'unknown'
  | 'reject'
  | 'business'
  | 'publish'
  | 'wait'
  | 'hang'
  | 'mutate'
  | `slow:${number}`;

export interface OrderData {
  readonly sku: string;
  readonly count: number;
  readonly script: readonly Act[];
  /** Makes the body longer. */
  readonly pad?: string | undefined;
}

export interface ReservationData {
  readonly sku: string;
  readonly orderId: string;
}

export interface Contracts {
  readonly OrderCreated: Contract<OrderData, OrderData, OrderData>;
  readonly ReservationRejected: Contract<ReservationData, ReservationData, ReservationData>;
  readonly ReservationMade: Contract<ReservationData, ReservationData, ReservationData>;
}

/** Messages of one case; their destinations start with its namespace. */
export function contractsOf(namespace: string): Contracts {
  const reservation = z.object({ sku: z.string(), orderId: z.string() });
  const inventory = { version: 1, destination: `${namespace}.inventory`, data: reservation };
  return {
    OrderCreated: event('order.created', {
      version: 1,
      destination: `${namespace}.orders`,
      data: z.object({
        sku: z.string(),
        count: z.int().positive(),
        script: z.array(z.custom<Act>((act) => typeof act === 'string')).readonly(),
        pad: z.string().optional(),
      }),
    }),
    ReservationRejected: event('inventory.reservation_rejected', inventory),
    ReservationMade: event('inventory.reserved', inventory),
  };
}
