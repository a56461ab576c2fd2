import { Client, type QueryResultRow } from 'pg';
import { GenericContainer, Wait } from 'testcontainers';
import type { Broker, LaunchOptions } from './broker.ts';
import {
  ContainerFaults,
  engineHost,
  faultsNeedContainer,
  NoFaults,
  startContainer,
} from './container.ts';
import { type BrokerImage, brokerImage } from './image.ts';
import { printable, untilAnswered } from './until-answered.ts';

const READY_MS = 60_000;
/** A database from outside is up already, or is not there. */
const EXTERNAL_READY_MS = 10_000;
const MAX_CONNECTIONS = 200;

export interface PostgresBroker extends Broker {
  /** Container that runs it, if it is owned. */
  readonly containerId: string | undefined;
  /** One statement on a connection of its own. */
  query<Row extends QueryResultRow = QueryResultRow>(
    sql: string,
    values?: readonly unknown[],
  ): Promise<Row[]>;
  /** Creates a database and resolves to its URL. */
  createDatabase(name: string): Promise<string>;
  /** Drops a database, connections to it included. */
  dropDatabase(name: string): Promise<void>;
}

/**
 * A PostgreSQL 18 with 200 connections, trust authentication and fsync on.
 *
 * `ACKORD_POSTGRES_URL` is taken first (its user must be allowed to create databases), then the container that the test
 * run handed over in `ACKORD_TEST_POSTGRES`, else a container is started (about 3 s).
 *
 * @throws BrokerUnavailable nothing answers there, there is no engine or image, or a fault case meets a URL from outside.
 */
export async function startPostgres(options: LaunchOptions = {}): Promise<PostgresBroker> {
  const external = process.env['ACKORD_POSTGRES_URL'];
  if (external) {
    if (options.isolated) throw faultsNeedContainer('ACKORD_POSTGRES_URL');
    await answers(external, EXTERNAL_READY_MS);
    return database(external, new NoFaults('ACKORD_POSTGRES_URL'));
  }

  const handedOver = process.env['ACKORD_TEST_POSTGRES'];
  if (handedOver && !options.isolated) {
    const given = JSON.parse(handedOver) as { readonly url: string; readonly containerId: string };
    return database(given.url, faults(given.containerId, given.url, false), given.containerId);
  }

  const image = await brokerImage('postgres');
  const { id, ports } = await startContainer(() => container(image), [5432]);
  const url = `postgres://postgres@${await engineHost()}:${ports[0]}/postgres`;
  await answers(url, READY_MS);
  return database(url, faults(id, url, true), id);
}

function container(image: BrokerImage): GenericContainer {
  const settings = `-c max_connections=${MAX_CONNECTIONS}`;
  const server = new GenericContainer(image.name);
  if (image.kind === 'official') {
    return (
      server
        .withEnvironment({ POSTGRES_HOST_AUTH_METHOD: 'trust' })
        .withCommand(['postgres', ...settings.split(' ')])
        // The first of the two is the server that only sets the data directory up.
        .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    );
  }
  const bin = '/usr/lib/postgresql/18/bin';
  const setUp = [
    'install -d -o postgres /srv/pg',
    `su postgres -c "${bin}/initdb -D /srv/pg -A trust >/dev/null"`,
    'echo "host all all all trust" >> /srv/pg/pg_hba.conf',
  ].join(' && ');
  // The data directory outlives a stop, so that set-up runs in the first start only.
  const script = `[ -s /srv/pg/PG_VERSION ] || { ${setUp}; } && exec su postgres -c "exec ${bin}/postgres -D /srv/pg -h 0.0.0.0 ${settings}"`;
  return server
    .withEntrypoint(['/bin/sh', '-c'])
    .withCommand([script])
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/));
}

function database(
  url: string,
  control: ContainerFaults | NoFaults,
  containerId?: string,
): PostgresBroker {
  return {
    url,
    containerId,
    owned: control.owned,
    stop: () => control.stop(),
    start: () => control.start(),
    pause: () => control.pause(),
    unpause: () => control.unpause(),
    kill: () => control.kill(),
    remove: () => control.remove(),
    query: (sql, values) => queryOnce(url, sql, values),
    createDatabase: async (name) => {
      await queryOnce(url, `create database ${quoted(name)}`);
      const created = new URL(url);
      created.pathname = `/${encodeURIComponent(name)}`;
      return created.href;
    },
    dropDatabase: async (name) => {
      await queryOnce(url, `drop database if exists ${quoted(name)} with (force)`);
    },
  };
}

function faults(id: string, url: string, removable: boolean): ContainerFaults {
  return new ContainerFaults(id, () => answers(url, READY_MS), removable);
}

async function answers(url: string, deadlineMs: number): Promise<void> {
  await untilAnswered(`PostgreSQL at ${printable(url)}`, deadlineMs, () =>
    queryOnce(url, 'select 1'),
  );
}

async function queryOnce<Row extends QueryResultRow>(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 3_000 });
  // A server that stops meanwhile also fails the query, which is where the caller hears of it.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
