import { expect, it, vi } from 'vitest';
import { type Opening, openFirst } from '../../src/driver/opening.ts';
import type { Clock } from '../../src/time/clock.ts';

const servers = ['one', 'two', 'three'].map((shown) => ({
  url: `near://u:hidden@${shown}`,
  shown,
}));
const still: Clock = { now: () => 0, after: () => () => {} };
const opening = (change: Partial<Opening<string>>): Opening<string> => ({
  broker: 'Shop',
  signal: new AbortController().signal,
  clock: still,
  timeoutMs: 50,
  open: ({ shown }) => Promise.resolve(shown),
  discard: () => {},
  isFinal: () => false,
  ...change,
});
const refuses = ({ shown }: { readonly shown: string }) => Promise.reject(new Error(`no ${shown}`));

it('takes the first that answers', async () => {
  const open = ({ shown }: { readonly shown: string }) =>
    shown === 'one' ? Promise.reject(new Error('no')) : Promise.resolve(shown);
  expect(await openFirst(servers, opening({ open }))).toBe('two');
});

it('rejects with the raw error of a single one', async () => {
  const error = new Error('raw');
  const open = () => Promise.reject(error);
  await expect(openFirst(servers.slice(0, 1), opening({ open }))).rejects.toBe(error);
});

it('sums up several, without credentials, with the last as cause', async () => {
  const failed = await openFirst(servers, opening({ open: refuses })).catch((error) => error);
  expect(failed.message).toBe(
    'No Shop node could be reached: one (no one), two (no two), three (no three)',
  );
  expect(failed.cause.message).toBe('no three');
});

it('shows the code of an error without a message', async () => {
  const open = () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' }));
  await expect(openFirst(servers, opening({ open }))).rejects.toThrow(/one \(ECONNREFUSED\)/);
});

it('asks no other after a final refusal', async () => {
  const open = vi.fn(refuses);
  await expect(openFirst(servers, opening({ open, isFinal: () => true }))).rejects.toThrow(
    'no one',
  );
  expect(open).toHaveBeenCalledTimes(1);
});

it('gives up one that is silent, and discards what opens after all', async () => {
  const late = Promise.withResolvers<string>();
  const discarded = Promise.withResolvers<string>();
  const after: Clock['after'] = (_, run) => {
    queueMicrotask(run);
    return () => {};
  };
  const clock: Clock = { now: () => 0, after };
  const opened = openFirst(
    servers.slice(0, 1),
    opening({ clock, open: () => late.promise, discard: discarded.resolve }),
  );
  await expect(opened).rejects.toMatchObject({
    code: 'ETIMEDOUT',
    message: 'connect ETIMEDOUT: one did not finish the handshake in 50 ms',
  });
  late.resolve('late');
  expect(await discarded.promise).toBe('late');
});

it('ends with the reason of the signal and asks no other', async () => {
  const abort = new AbortController();
  const open = vi.fn(() => Promise.withResolvers<string>().promise);
  const opened = openFirst(servers, opening({ open, signal: abort.signal }));
  abort.abort(new Error('stopped'));
  await expect(opened).rejects.toThrow('stopped');
  expect(open).toHaveBeenCalledTimes(1);
  await expect(openFirst(servers, opening({ signal: abort.signal }))).rejects.toThrow('stopped');
});
