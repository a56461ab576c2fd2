import {
  type Broker,
  BrokerUnavailable,
  brokerImage,
  containerEngine,
  LOCAL_IMAGE,
  startPostgres,
  startRabbitmq,
  sweepLeftovers,
} from '@ackord/conformance/launchers';
import { command } from './command.ts';

/** Brokers that were started once for a run. */
export interface RunBrokers {
  /** Variables that hand them to the launchers in test processes. */
  readonly env: NodeJS.ProcessEnv;
  /** Removes what was started here. Harmless twice. */
  remove(): Promise<void>;
}

const PRODUCTS = [
  {
    product: 'rabbitmq',
    url: 'ACKORD_RABBITMQ_URL',
    env: 'ACKORD_TEST_RABBITMQ',
    start: startRabbitmq,
  },
  {
    product: 'postgres',
    url: 'ACKORD_POSTGRES_URL',
    env: 'ACKORD_TEST_POSTGRES',
    start: startPostgres,
  },
] as const;

/**
 * Starts a container of each broker that no URL in the environment gives, and gets an engine and images for that.
 *
 * @throws BrokerUnavailable with what to do.
 */
export async function startBrokers(signal: AbortSignal): Promise<RunBrokers> {
  const wanted = PRODUCTS.filter(({ url }) => !process.env[url]);
  for (const { url } of PRODUCTS.filter((product) => !wanted.includes(product))) {
    // Standard output belongs to results: the demo can print JSON there.
    process.stderr.write(`  ${url} is set: that one is used, and nothing stops or kills it\n`);
  }
  if (wanted.length === 0) return { env: {}, remove: async () => {} };
  await ensureEngine(signal);
  await ensureImages(
    wanted.map(({ product }) => product),
    signal,
  );

  const env: NodeJS.ProcessEnv = {};
  const started: Broker[] = [];
  const remove = async (): Promise<void> => {
    await Promise.all(started.splice(0).map((broker) => broker.remove()));
    // Test processes that were stopped in the middle could not remove their own.
    await sweepLeftovers();
  };
  const starts = await Promise.allSettled(
    wanted.map(async (product) => {
      const broker = await product.start();
      started.push(broker);
      const { url, containerId } = broker;
      const managementUrl = 'managementUrl' in broker ? broker.managementUrl : undefined;
      env[product.env] = JSON.stringify({ url, managementUrl, containerId });
    }),
  );
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed || signal.aborted) {
    await remove();
    if (failed) throw failed.reason;
  }
  return { env, remove };
}

async function ensureEngine(signal: AbortSignal): Promise<void> {
  try {
    await containerEngine();
  } catch (error) {
    if (!(error instanceof BrokerUnavailable)) throw error;
    const { code } = await command(['bash', 'tools/containers/engine.sh'], { live: true, signal });
    if (code !== 0) throw error;
    await containerEngine();
  }
}

async function ensureImages(
  products: readonly ('rabbitmq' | 'postgres')[],
  signal: AbortSignal,
): Promise<void> {
  try {
    for (const product of products) await brokerImage(product);
  } catch (error) {
    if (!(error instanceof BrokerUnavailable)) throw error;
    const { code } = await command(['bash', 'tools/containers/build-image.sh', LOCAL_IMAGE], {
      live: true,
      signal,
    });
    if (code !== 0) throw error;
    process.env['ACKORD_BROKERS_IMAGE'] = LOCAL_IMAGE;
  }
}
