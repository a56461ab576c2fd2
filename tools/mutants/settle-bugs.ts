import type { SeededBug } from './seeded-bug.ts';

const INTAKE = 'packages/core/src/consume/queue-intake.ts';
const SETTLER = 'packages/core/src/consume/settler.ts';
const LEDGER = 'packages/core/src/driver/settle-ledger.ts';
const RECEIVER = 'packages/rabbitmq/src/receiver.ts';
const PROFILE = 'rabbitmq/ttl-buckets';

/** Messages that are acked too early, too often or not at all, and consumers that take too much. */
export const settleBugs: readonly SeededBug[] = [
  {
    id: 'ack-before-commit',
    title: 'a message is acked before its transaction is committed',
    file: INTAKE,
    find: `    taken.state = 'running';`,
    replace: `    taken.state = 'running';
    await this.#options.settler.settle(taken, { step: 'ack' }, {
      gone: this.#gone.signal,
      stopping: this.#stopping.signal,
    });`,
    profile: PROFILE,
    cases: ['S01b'],
  },
  {
    id: 'ack-before-copy-confirmed',
    title: 'a message is acked before its retry copy is confirmed',
    file: SETTLER,
    find: `    await this.#step('retry.copy.before', message);`,
    replace: `    await this.#step('retry.copy.before', message);
    await this.#ack(unsettled, message);`,
    profile: PROFILE,
    cases: ['S05'],
  },
  {
    id: 'parking-failure-swallowed',
    title: 'a parking copy that failed counts as parked',
    file: SETTLER,
    find: `      if (outcome.is === 'confirmed') return true;`,
    replace: `      if (outcome.is === 'confirmed' || target.at === 'parking') return true;`,
    profile: PROFILE,
    cases: ['S07'],
  },
  {
    id: 'stale-ack-sent',
    title: 'an ack of a session that was replaced is sent on the new one',
    file: LEDGER,
    find: `if (!this.#held.has(held) || held.dropped) return 'stale';`,
    replace: `if (held.dropped) return 'stale';`,
    profile: PROFILE,
    cases: ['B05'],
  },
  {
    id: 'ack-covers-earlier',
    title: 'an ack takes earlier deliveries along that are not done',
    file: LEDGER,
    find: 'this.#send(send, held.handle, false);',
    replace: 'this.#send(send, held.handle, true);',
    profile: PROFILE,
    cases: ['B05'],
  },
  {
    id: 'release-discards',
    title: 'a message that is given back is discarded',
    file: RECEIVER,
    find: 'channel.nack({ fields: { deliveryTag } }, upTo, true)',
    replace: 'channel.nack({ fields: { deliveryTag } }, upTo, false)',
    profile: PROFILE,
    cases: ['B03'],
  },
  {
    id: 'window-ignored',
    title: 'a consumer is handed everything, whatever its window',
    file: RECEIVER,
    find: 'this.#window = Math.min(Math.max(Math.floor(n), 0), MAX_WINDOW);',
    replace: 'this.#window = n > 0 ? MAX_WINDOW : 0;',
    profile: PROFILE,
    cases: ['B08'],
  },
  {
    id: 'close-without-draining',
    title: 'close does not wait for handlers that run',
    file: 'packages/core/src/consume/consumer.ts',
    find: 'if (!(await settledWithin(clock, timeoutMs, drained))) {',
    replace: 'if (!(await settledWithin(clock, 0, drained))) {',
    profile: PROFILE,
    cases: ['H01'],
  },
];
