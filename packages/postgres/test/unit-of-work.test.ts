import { postgres } from '@ackord/postgres';
import { expect, it } from 'vitest';
import type { SqlPool, SqlResult } from '../src/client.ts';
import { applied, claim, failure, never } from './rig.ts';

interface Script {
  readonly pool: SqlPool;
  readonly texts: string[];
  readonly released: (Error | undefined)[];
}

/** A server that answers as told; undefined: normally. */
function scripted(answer: (text: string) => Promise<SqlResult> | undefined): Script {
  const texts: string[] = [];
  const released: (Error | undefined)[] = [];
  const query = (text: string) => {
    texts.push(text);
    const command = text.split(/\W/)[0]?.toUpperCase() ?? '';
    return (answer(text) ?? Promise.resolve({ rows: [], rowCount: 0, command })) as Promise<never>;
  };
  const pool: SqlPool = {
    connect: async () => ({ pipeline: false, query, release: (error) => released.push(error) }),
  };
  return { pool, texts, released };
}

const silence = new Promise<never>(() => undefined);

it('says that the outcome is unknown when COMMIT is not answered in time, and drops the connection', async () => {
  const { pool, released } = scripted((text) => (text === 'commit' ? silence : undefined));
  const store = postgres({ pool, statementTimeoutMs: 30 });
  const unit = await store.inbox.begin([claim('m1')], never);
  const error = await unit.commit(applied).catch((e: unknown) => e);
  expect(error).toMatchObject({ code: 'MSG_STORE_COMMIT_UNKNOWN' });
  expect(store.classify(error)).toBe('down');
  expect(released).toEqual([expect.any(Error)]);
});

it('never rejects in rollback, and drops a connection that does not answer', async () => {
  const { pool, released } = scripted((text) => (text === 'rollback' ? silence : undefined));
  const store = postgres({ pool, statementTimeoutMs: 30 });
  const unit = await store.inbox.begin([claim('m1')], never);
  await unit.rollback();
  expect(released).toEqual([expect.any(Error)]);
});

it('rejects begin within the limit when the server is silent', async () => {
  const { pool, released } = scripted(() => silence);
  const store = postgres({ pool, statementTimeoutMs: 30 });
  await expect(store.inbox.begin([claim('m1')], never)).rejects.toMatchObject({
    code: 'MSG_STORE_UNAVAILABLE',
  });
  expect(released).toEqual([expect.any(Error)]);
});

it('rejects begin within the limit when no connection is to be had', async () => {
  const store = postgres({ pool: { connect: () => silence }, statementTimeoutMs: 30 });
  await expect(store.inbox.begin([claim('m1')], never)).rejects.toMatchObject({
    code: 'MSG_STORE_UNAVAILABLE',
  });
});

it('does not send COMMIT after a failed statement where nothing can be pipelined', async () => {
  const broken = Object.assign(new Error('no table'), { code: '42P01', severity: 'ERROR' });
  const { pool, texts, released } = scripted((text) =>
    text.startsWith('update') ? Promise.reject(broken) : undefined,
  );
  const store = postgres({ pool, pipeline: false });
  const unit = await store.inbox.begin([claim('m1')], never);
  await expect(unit.commit({ outcomes: [{ outcome: 'stale' }], outbox: [] })).rejects.toBe(broken);
  expect(texts).not.toContain('commit');
  expect(texts.at(-1)).toBe('rollback');
  expect(released).toEqual([undefined]);
});

it('records the attempt first when a statement of the handler still runs', async () => {
  const { pool, texts, released } = scripted((text) =>
    text === 'select slow()' ? silence : undefined,
  );
  const store = postgres({ pool });
  const stop = new AbortController();
  const unit = await store.inbox.begin([claim('m1', { guarded: true })], stop.signal);
  const slow = unit.tx.query('select slow()').catch((e: unknown) => e);
  await Promise.resolve();
  stop.abort(new Error('timeout'));
  expect(await slow).toMatchObject({ code: 'MSG_STORE_TX_ENDED' });
  await unit.fail([failure(1)]);
  expect(texts.at(-1)).toContain('insert into "ackord".message_attempts');
  // The recording connection came back clean, then the stuck one was dropped.
  expect(released).toEqual([undefined, expect.any(Error)]);
});

it('claims nothing when BEGIN was refused, also where nothing is sent together', async () => {
  const refused = Object.assign(new Error('aborted'), { code: '25P02', severity: 'ERROR' });
  const { pool, texts, released } = scripted((text) =>
    text.startsWith('begin') ? Promise.reject(refused) : undefined,
  );
  await expect(postgres({ pool }).inbox.begin([claim('m1')], never)).rejects.toBe(refused);
  expect(texts).toHaveLength(1);
  expect(released).toEqual([expect.any(Error)]);
});
