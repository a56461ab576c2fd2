import type { Drift, Resource } from '@ackord/core/driver';
import type { AmqpChannel, AmqpConnection } from './client.ts';

/**
 * Declares or checks one resource after another, and goes on over another channel where a refusal
 * (404, 406) has closed one. Refusals become drift; anything else rejects with the raw error.
 */
export async function applyResources(
  connection: AmqpConnection,
  resources: readonly Resource[],
  mode: 'create' | 'verify',
): Promise<readonly Drift[]> {
  const drifts: Drift[] = [];
  for (let at = 0; at < resources.length; at += 1) {
    await onOwnChannel(connection, async (channel) => {
      for (; at < resources.length; at += 1) {
        const drift = await applyOne(channel, resources[at] as Resource, mode);
        if (drift === undefined) continue;
        drifts.push(drift);
        return;
      }
    });
  }
  return drifts;
}

/** Runs `work` on a channel that nothing else uses. */
export async function onOwnChannel<T>(
  connection: AmqpConnection,
  work: (channel: AmqpChannel) => Promise<T>,
): Promise<T> {
  const channel = await connection.createChannel();
  // The refused call rejects with the same error; without a listener the process would end.
  channel.on('error', () => {});
  let open = true;
  channel.on('close', () => {
    open = false;
  });
  try {
    return await work(channel);
  } finally {
    // A close that fails means that the channel is gone already, with its connection.
    if (open) await channel.close().catch(() => {});
  }
}

async function applyOne(
  channel: AmqpChannel,
  resource: Resource,
  mode: 'create' | 'verify',
): Promise<Drift | undefined> {
  if (resource.kind === 'binding' && mode === 'verify') {
    // AMQP has no question for a binding, and binding again would create it.
    return { resource: shown(resource), expected: 'bound', actual: undefined };
  }
  let found = false;
  try {
    if (mode === 'verify') {
      if (resource.kind === 'queue') await channel.checkQueue(resource.name);
      else await channel.checkExchange(resource.name);
      found = true;
    }
    await declare(channel, resource);
    return undefined;
  } catch (error) {
    const drift = toDrift(resource, error, found);
    if (drift === undefined) throw error;
    return drift;
  }
}

/** On something that exists this compares the settings; `verify` looks first whether it does. */
async function declare(channel: AmqpChannel, { kind, name, settings }: Resource): Promise<void> {
  if (kind === 'queue') {
    await channel.assertQueue(name, { durable: true, arguments: settings });
  } else if (kind === 'exchange') {
    await channel.assertExchange(name, String(settings['type']), { durable: true });
  } else {
    const { exchange, queue, key } = settings;
    await channel.bindQueue(String(queue), String(exchange), String(key));
  }
}

/** `… inequivalent arg 'x-message-ttl' for queue … received '5' but current is '200'`; also with types, or `none`. */
const INEQUIVALENT =
  /inequivalent arg '(.+?)' for .* received (?:the value )?'?(.+?)'?(?: of type '\w+')? but current is (?:the value )?'?(.+?)'?(?: of type '\w+')?"?$/s;

function toDrift(resource: Resource, error: unknown, found: boolean): Drift | undefined {
  if (!(error instanceof Error)) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  if (code === 404) return { resource: shown(resource), expected: 'present', actual: 'missing' };
  const planned = { resource: shown(resource), expected: 'declared as planned' };
  // It is there, and comparing its settings takes the right to configure it: not known, not wrong.
  if (code === 403 && found) return { ...planned, actual: undefined };
  if (code !== 406) return undefined;
  const [, setting, expected, actual] = INEQUIVALENT.exec(error.message) ?? [];
  return setting === undefined || expected === undefined
    ? { ...planned, actual: error.message }
    : { resource: `${shown(resource)} ${setting}`, expected, actual };
}

const shown = ({ kind, name }: Resource): string => `${kind} ${name}`;
