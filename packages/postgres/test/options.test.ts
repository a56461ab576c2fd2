import { postgres } from '@ackord/postgres';
import { expect, it } from 'vitest';

const pool = { connect: () => Promise.reject(new Error('unused')) };

it.each([
  [{ pool, statmentTimeoutMs: 1 }, 'postgres.statmentTimeoutMs'],
  [{}, 'postgres.pool'],
  [{ pool: {} }, 'postgres.pool'],
  [{ pool, schema: 'Bad"name' }, 'postgres.schema'],
  [{ pool, schema: '1st' }, 'postgres.schema'],
  [{ pool, statementTimeoutMs: 0 }, 'postgres.statementTimeoutMs'],
  [{ pool, statementTimeoutMs: 1.5 }, 'postgres.statementTimeoutMs'],
  [{ pool, pipeline: true }, 'postgres.pipeline'],
  [{ pool, prepare: 'yes' }, 'postgres.prepare'],
])('refuses %j and names the option', (options, name) => {
  expect(() => postgres(options as never)).toThrow(
    expect.objectContaining({ code: 'MSG_CONFIG_INVALID', message: expect.stringContaining(name) }),
  );
});

it('takes options given as undefined for not given', () => {
  const options = { pool, schema: undefined, statementTimeoutMs: undefined, pipeline: undefined };
  expect(postgres(options as never).name).toBe('postgres');
});
