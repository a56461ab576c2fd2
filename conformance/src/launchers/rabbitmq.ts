import { connect } from 'amqplib';
import { GenericContainer, Wait } from 'testcontainers';
import type { Broker, LaunchOptions } from './broker.ts';
import {
  ContainerFaults,
  engineHost,
  execIn,
  faultsNeedContainer,
  NoFaults,
  startContainer,
} from './container.ts';
import { type BrokerImage, brokerImage } from './image.ts';
import { RabbitmqManagement } from './rabbitmq-management.ts';
import { printable, untilAnswered } from './until-answered.ts';

const READY_MS = 60_000;
/** A broker from outside is up already, or is not there. */
const EXTERNAL_READY_MS = 10_000;

const CONF = [
  'listeners.tcp.default = 5672',
  'management.tcp.port = 15672',
  'loopback_users = none',
  // Default 5 s: the management API would show new connections and queues late.
  'collect_statistics_interval = 1000',
  '',
].join('\n');
const PLUGINS = '[rabbitmq_management,rabbitmq_consistent_hash_exchange].\n';

export interface RabbitmqBroker extends Broker {
  /** Address of the management API, with user and password. */
  readonly managementUrl: string;
  readonly management: RabbitmqManagement;
  /** Container that runs it, if it is owned. */
  readonly containerId: string | undefined;
  /** Runs `rabbitmqctl` (about a second) and resolves to its output. Needs an owned broker. */
  ctl(...args: readonly string[]): Promise<string>;
}

interface Address {
  readonly url: string;
  readonly managementUrl: string;
}

/**
 * A RabbitMQ 4.3 with management and the consistent-hash exchange.
 *
 * `ACKORD_RABBITMQ_URL` (with `ACKORD_RABBITMQ_MANAGEMENT_URL`, default port 15672 on the same host) is taken first, then
 * the container that the test run handed over in `ACKORD_TEST_RABBITMQ`, else a container is started (about 9 s).
 *
 * @throws BrokerUnavailable nothing answers there, there is no engine or image, or a fault case meets a URL from outside.
 */
export async function startRabbitmq(options: LaunchOptions = {}): Promise<RabbitmqBroker> {
  const external = process.env['ACKORD_RABBITMQ_URL'];
  if (external) {
    if (options.isolated) throw faultsNeedContainer('ACKORD_RABBITMQ_URL');
    await answers(external, EXTERNAL_READY_MS);
    const managementUrl = process.env['ACKORD_RABBITMQ_MANAGEMENT_URL'] ?? managementOf(external);
    return broker({ url: external, managementUrl }, new NoFaults('ACKORD_RABBITMQ_URL'));
  }

  const handedOver = process.env['ACKORD_TEST_RABBITMQ'];
  if (handedOver && !options.isolated) {
    const given = JSON.parse(handedOver) as Address & { readonly containerId: string };
    return broker(given, faults(given.containerId, given, false), given.containerId);
  }

  const image = await brokerImage('rabbitmq');
  const { id, ports } = await startContainer(() => container(image), [5672, 15672]);
  const host = await engineHost();
  const address = {
    url: `amqp://guest:guest@${host}:${ports[0]}`,
    managementUrl: `http://guest:guest@${host}:${ports[1]}`,
  };
  await answers(address.url, READY_MS);
  return broker(address, faults(id, address, true), id);
}

function container(image: BrokerImage): GenericContainer {
  const server = new GenericContainer(image.name)
    .withCopyContentToContainer([
      { target: '/etc/rabbitmq/rabbitmq.conf', content: CONF, mode: 0o644 },
      { target: '/etc/rabbitmq/enabled_plugins', content: PLUGINS, mode: 0o644 },
    ])
    .withWaitStrategy(
      Wait.forLogMessage(/Starting broker\.\.\. completed|Server startup complete/),
    );
  if (image.kind === 'official') return server;
  return server
    .withEntrypoint(['/bin/sh', '-c'])
    .withCommand(['exec /usr/lib/rabbitmq/bin/rabbitmq-server'])
    .withEnvironment({ HOME: '/var/lib/rabbitmq' });
}

function broker(
  address: Address,
  control: ContainerFaults | NoFaults,
  containerId?: string,
): RabbitmqBroker {
  return {
    url: address.url,
    managementUrl: address.managementUrl,
    management: new RabbitmqManagement(address.managementUrl, address.url),
    containerId,
    owned: control.owned,
    stop: () => control.stop(),
    start: () => control.start(),
    pause: () => control.pause(),
    unpause: () => control.unpause(),
    kill: () => control.kill(),
    remove: () => control.remove(),
    ctl: async (...args) => {
      if (!containerId) throw faultsNeedContainer('ACKORD_RABBITMQ_URL');
      return execIn(containerId, ['rabbitmqctl', '--quiet', ...args]);
    },
  };
}

function faults(id: string, address: Address, removable: boolean): ContainerFaults {
  return new ContainerFaults(id, () => answers(address.url, READY_MS), removable);
}

async function answers(url: string, deadlineMs: number): Promise<void> {
  await untilAnswered(`RabbitMQ at ${printable(url)}`, deadlineMs, async () => {
    // Without the time limit a connect to a silent server never settles.
    const connection = await connect(url, { timeout: 3_000 });
    await connection.close();
  });
}

function managementOf(url: string): string {
  const { username, password, hostname } = new URL(url);
  return `http://${username || 'guest'}:${password || 'guest'}@${hostname}:15672`;
}
