import type { SeededBug } from './seeded-bug.ts';

const PUBLISHER = 'packages/rabbitmq/src/publisher.ts';
const PROFILE = 'rabbitmq/ttl-buckets';

/** Outcomes of publishes that are told wrong. */
export const publishBugs: readonly SeededBug[] = [
  {
    id: 'return-ignored',
    title: 'a confirm counts as routed although the message was returned',
    file: PUBLISHER,
    find: `if (this.#returned.delete(tag)) sending.end(index, unroutable(item));
      else if (!error)`,
    replace: 'if (!error)',
    profile: PROFILE,
    cases: ['A06'],
  },
  {
    id: 'confirmed-when-written',
    title: 'a publish counts as confirmed once it is written',
    file: PUBLISHER,
    find: '      this.#unconfirmed += 1;',
    replace: `      this.#unconfirmed += 1;
      setImmediate(() => sending.end(index, CONFIRMED));`,
    profile: PROFILE,
    cases: ['A03'],
  },
  {
    id: 'lost-confirm-confirmed',
    title: 'a publish whose connection broke before the confirm counts as confirmed',
    file: 'packages/core/src/publish/sender.ts',
    find: `for (const request of flight.requests) request.settle(unknown('session', error));`,
    replace: `for (const request of flight.requests) request.settle({ is: 'confirmed' });`,
    profile: PROFILE,
    cases: ['A04'],
  },
  {
    id: 'nack-confirmed',
    title: 'a publish that the broker refused counts as confirmed',
    file: PUBLISHER,
    find: 'sending.end(index, nacked(item, error));',
    replace: 'sending.end(index, CONFIRMED);',
    profile: PROFILE,
    cases: ['A05'],
  },
];
