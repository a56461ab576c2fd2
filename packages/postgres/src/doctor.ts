import type { Finding } from '@ackord/core/driver';
import type { Database } from './database.ts';
import { readVersion, SCHEMA_VERSION } from './migrate.ts';
import { SERVER_KIND, SERVER_SETTINGS } from './sql/schema.sql.ts';

/** What can be told from a running server about the promise of durability. */
export async function inspect(database: Database): Promise<readonly Finding[]> {
  const [kind, settings, version] = await Promise.all([
    database.run(database.sql(SERVER_KIND), 'Preflight'),
    database.run(database.sql(SERVER_SETTINGS), 'Preflight'),
    readVersion(database),
  ]);
  return findings({
    server: String(kind.rows[0]?.['version']),
    standby: kind.rows[0]?.['standby'] === true,
    settings: new Map(settings.rows.map((row) => [String(row['name']), String(row['setting'])])),
    schemaVersion: version,
  });
}

interface Observed {
  readonly server: string;
  readonly standby: boolean;
  readonly settings: ReadonlyMap<string, string>;
  readonly schemaVersion: number;
}

function findings(observed: Observed): readonly Finding[] {
  const { server, settings, standby, schemaVersion } = observed;
  const embedded = server.includes('PGlite');
  const is = (name: string, value: string): boolean => settings.get(name) === value;
  const all: readonly (Finding | false)[] = [
    schemaVersion < SCHEMA_VERSION && {
      code: 'postgres.schema-outdated',
      message: `The schema is at version ${schemaVersion}, version ${SCHEMA_VERSION} is needed.`,
      fix: 'Run migrate(pool).',
    },
    embedded && {
      code: 'postgres.embedded',
      message:
        'PGlite is one connection inside this process and does not survive a power loss: for tests and demos.',
      fix: 'Use a PostgreSQL server through pg.Pool.',
    },
    !embedded &&
      is('fsync', 'off') && {
        code: 'postgres.fsync-off',
        message: 'fsync is off: a crash of the machine can corrupt or lose what was committed.',
        fix: 'Set fsync = on.',
      },
    !embedded &&
      is('full_page_writes', 'off') && {
        code: 'postgres.full-page-writes-off',
        message: 'full_page_writes is off: a torn page after a crash cannot be repaired.',
        fix: 'Set full_page_writes = on, unless the file system writes pages atomically.',
      },
    is('synchronous_commit', 'off') && {
      code: 'postgres.synchronous-commit-off',
      message:
        'synchronous_commit is off: a crash loses commits of the last moments although their messages were acked.',
      fix: 'Set synchronous_commit = on for this database or role.',
    },
    (standby || is('default_transaction_read_only', 'on')) && {
      code: 'postgres.read-only',
      message: 'The connection leads to a read-only server.',
      fix: 'Connect to the primary, for example with target_session_attrs=read-write.',
    },
  ];
  return all.filter((finding) => finding !== false);
}
