import {
  BrokerUnavailable,
  type PostgresBroker,
  type RabbitmqBroker,
  startPostgres,
  startRabbitmq,
} from '@ackord/conformance/launchers';
import { startBrokers } from '../steps/brokers.ts';
import { UsageError } from './usage-error.ts';

export interface DemoBrokers {
  readonly rabbitmq: RabbitmqBroker;
  readonly postgres: PostgresBroker;
  /** RabbitMQ outlives the run, which has to take its queues away. */
  readonly shared: boolean;
  remove(): Promise<void>;
}

/**
 * RabbitMQ and PostgreSQL from URLs in the environment, from the test run that this is a part of,
 * else from containers of this run, with an engine and images if need be.
 *
 * @throws UsageError there are none, with what to do.
 */
export async function demoBrokers(
  note: (text: string) => void,
  signal: AbortSignal,
): Promise<DemoBrokers> {
  try {
    return process.env['ACKORD_TEST_RABBITMQ'] === undefined
      ? await ownBrokers(note, signal)
      : await brokersOfTestRun();
  } catch (error) {
    if (!(error instanceof BrokerUnavailable)) throw error;
    throw new UsageError(`${error.message}\nnpm run demo without --broker needs neither.`);
  }
}

async function ownBrokers(note: (text: string) => void, signal: AbortSignal): Promise<DemoBrokers> {
  const where = (variable: string, name: string): string =>
    process.env[variable] ? `${name} of ${variable}` : `${name} in a container`;
  note(
    `using ${where('ACKORD_RABBITMQ_URL', 'RabbitMQ')} and ${where('ACKORD_POSTGRES_URL', 'PostgreSQL')}…`,
  );
  const external = Boolean(process.env['ACKORD_RABBITMQ_URL']);
  const started = await startBrokers(signal);
  try {
    signal.throwIfAborted();
    Object.assign(process.env, started.env);
    const [rabbitmq, postgres] = await Promise.all([startRabbitmq(), startPostgres()]);
    await managementAnswers(rabbitmq);
    return { rabbitmq, postgres, shared: external, remove: () => started.remove() };
  } catch (error) {
    await started.remove();
    throw error;
  }
}

/** The demo counts queues by the management API, which a broker from outside may not have. */
async function managementAnswers({ management, managementUrl }: RabbitmqBroker): Promise<void> {
  try {
    await management.call('GET', 'overview');
  } catch (error) {
    const { cause, message } = error as Error;
    throw new UsageError(
      `The management API of RabbitMQ at ${new URL(managementUrl).origin} does not answer: ${cause instanceof Error ? cause.message : message}\n` +
        'Turn the plugin rabbitmq_management on, or set ACKORD_RABBITMQ_MANAGEMENT_URL.',
    );
  }
}

/** Its RabbitMQ is shared, since it is not harmed; the database is killed, so that one is taken alone. */
async function brokersOfTestRun(): Promise<DemoBrokers> {
  const rabbitmq = await startRabbitmq();
  const external = Boolean(process.env['ACKORD_POSTGRES_URL']);
  const postgres = await startPostgres({ isolated: !external });
  return { rabbitmq, postgres, shared: true, remove: () => postgres.remove() };
}
