import { storeCommitUnknown, storeTxEnded, storeUnavailable } from '@ackord/core/store';
import { postgres } from '@ackord/postgres';
import { describe, expect, it } from 'vitest';

/** A store whose connections always fail with this error, and what it makes of it. */
async function raised(error: unknown) {
  const store = postgres({ pool: { connect: () => Promise.reject(error) } });
  const seen = await store.inbox.begin([], new AbortController().signal).catch((e: unknown) => e);
  expect(seen).toBe(error);
  return store.classify(seen);
}

const elsewhere = (error: unknown) =>
  postgres({ pool: { connect: () => Promise.reject(new Error('unused')) } }).classify(error);

const sqlError = (code: string) => Object.assign(new Error(code), { code, severity: 'ERROR' });
const nodeError = (code: string) => Object.assign(new Error(code), { code });

describe('classify', () => {
  it.each([
    ['08000', 'down'],
    ['08003', 'down'],
    ['08006', 'down'],
    ['57P01', 'down'],
    ['57P02', 'down'],
    ['57P03', 'down'],
    ['53300', 'down'],
    ['25006', 'down'],
    ['40P01', 'again'],
    ['40001', 'again'],
    ['55P03', 'transient'],
    ['57014', 'transient'],
    ['25P03', 'transient'],
    ['23514', 'permanent'],
    ['23502', 'permanent'],
    ['22001', 'permanent'],
    ['22P02', 'permanent'],
    ['23503', 'unknown'],
    ['23505', 'unknown'],
    ['42P01', 'unknown'],
    ['25P02', 'unknown'],
    ['XX000', 'unknown'],
  ])('takes SQLSTATE %s as %s', async (state, meaning) => {
    expect(await raised(sqlError(state))).toBe(meaning);
  });

  it.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'])(
    'takes %s as down when a connection of the store raised it, else as none of its business',
    async (code) => {
      expect(await raised(nodeError(code))).toBe('down');
      expect(elsewhere(nodeError(code))).toBeUndefined();
    },
  );

  it.each([
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Cannot use a pool after calling end on the pool',
  ])('takes "%s" as down', async (text) => {
    expect(await raised(new Error(text))).toBe('down');
  });

  it('finds the error that an adapter wrapped', async () => {
    const store = postgres({ pool: { connect: () => Promise.reject(nodeError('ECONNRESET')) } });
    const cause = await store.inbox
      .begin([], new AbortController().signal)
      .catch((e: unknown) => e);
    expect(store.classify(new Error('Failed query', { cause }))).toBe('down');
    expect(elsewhere(new Error('Failed query', { cause: sqlError('40001') }))).toBe('again');
  });

  it('does not take another database that is down for its own', () => {
    expect(elsewhere(sqlError('57P01'))).toBe('transient');
  });

  it('knows what is not an error of a database', () => {
    for (const other of [
      new Error('boom'),
      'text',
      undefined,
      null,
      { code: 42 },
      nodeError('ENOENT'),
    ]) {
      expect(elsewhere(other)).toBeUndefined();
    }
    expect(elsewhere(storeTxEnded({ store: 'postgres' }))).toBeUndefined();
  });

  it('takes an unknown outcome and no answer as down', () => {
    expect(elsewhere(storeCommitUnknown({ store: 'postgres' }))).toBe('down');
    expect(elsewhere(storeUnavailable({ store: 'postgres' }))).toBe('down');
  });
});
