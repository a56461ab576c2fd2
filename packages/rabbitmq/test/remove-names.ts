import type { RabbitmqBroker } from '@ackord/conformance/launchers';

/** Deletes the queues and exchanges whose names begin so; resolves to their names. */
export async function removeNames(
  { management }: RabbitmqBroker,
  prefix: string,
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const kind of ['queues', 'exchanges']) {
    const query = kind === 'queues' ? '?disable_stats=true&enable_queue_totals=true' : '';
    const all = (await management.call('GET', `${kind}/{vhost}${query}`)) as readonly {
      readonly name: string;
    }[];
    for (const { name } of all.filter((each) => each.name.startsWith(prefix))) {
      await management.call('DELETE', `${kind}/{vhost}/${encodeURIComponent(name)}`);
      removed.push(name);
    }
  }
  return removed;
}
