import { messageIdOf } from '../../examples/orders/src/order-service.ts';
import type { InputLine } from './read-orders.ts';
import type { TroublePlan } from './trouble.ts';

/** Every twelfth order fails once; one order fails always, where there are enough of them. */
export function troubleFor(lines: readonly InputLine[], withoutInbox: boolean): TroublePlan {
  const again = new Set(lines.flatMap((line) => (line.kind === 'again' ? [line.raw.id] : [])));
  const ids = lines.flatMap((line) => (line.kind === 'order' ? [messageIdOf(line.order)] : []));
  const single = ids.filter((id) => !again.has(id));
  return {
    failOnce: ids.filter((_, at) => at % 12 === 3),
    failAlways: single.length < 10 ? [] : [single[7] as string],
    withoutInbox,
  };
}

/** At which commit of its own the first consumer dies: after a fifth of the orders, at most forty. */
export function commitToDieAt(lines: readonly InputLine[]): number {
  const orders = lines.filter(({ kind }) => kind === 'order').length;
  return Math.min(40, Math.max(1, Math.floor(orders / 5)));
}
