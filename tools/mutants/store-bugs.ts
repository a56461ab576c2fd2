import type { SeededBug } from './seeded-bug.ts';

const RELAY = 'packages/core/src/outbox/relay.ts';
const PROFILE = 'rabbitmq/ttl-buckets';

/** Inbox, outbox and order that keep less than they promise. */
export const storeBugs: readonly SeededBug[] = [
  {
    id: 'claim-not-unique',
    title: 'a message that has its Inbox row already is run again',
    file: 'packages/postgres/src/postgres-inbox.ts',
    find: 'fresh: fresh.delete(key),',
    replace: 'fresh: fresh.delete(key) || true,',
    profile: PROFILE,
    cases: ['G01'],
  },
  {
    id: 'row-deleted-before-confirm',
    title: 'an outbox row is deleted before its publish is confirmed',
    file: RELAY,
    find: 'const outcome = await this.#publish(held);',
    replace: `const publishing = this.#publish(held);
        this.#remove(held);
        const outcome = await publishing;`,
    profile: PROFILE,
    cases: ['G07'],
  },
  {
    id: 'rows-overtake',
    title: 'rows of one aggregate do not wait for each other',
    file: RELAY,
    find: 'const lane = row.key === undefined ?',
    replace: 'const lane = row !== undefined ?',
    profile: PROFILE,
    cases: ['G07'],
  },
  {
    id: 'outbox-outside-transaction',
    title: `outbox rows are written outside the caller's transaction`,
    file: 'packages/postgres/src/postgres-outbox.ts',
    find: 'await tx.query(text, values);',
    replace: `await this.#database.run({ text, values: values ?? [] }, 'Adding outbox rows');`,
    profile: PROFILE,
    cases: ['G05'],
  },
  {
    id: 'business-result-fails',
    title: 'a business result counts as a failure',
    file: 'packages/core/src/consume/inbox-run.ts',
    find: '    if (isBusinessRejection(error)) return await this.#rejected(error, mayRepeat);\n',
    replace: '',
    profile: PROFILE,
    cases: ['D12'],
  },
  {
    id: 'stale-applied',
    title: 'an older version is applied over a newer one',
    file: 'packages/core/src/order/decide-order.ts',
    find: `return version <= lastVersion ? 'stale' : 'apply';`,
    replace: `return 'apply';`,
    profile: PROFILE,
    cases: ['F04b'],
  },
];
