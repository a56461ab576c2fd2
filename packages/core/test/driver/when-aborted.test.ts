import { expect, it } from 'vitest';
import { whenAborted } from '../../src/driver/when-aborted.ts';

it('resolves at once after an abort, and otherwise when it comes', async () => {
  await whenAborted(AbortSignal.abort());
  const abort = new AbortController();
  let aborted = false;
  const waiting = whenAborted(abort.signal).then(() => {
    aborted = true;
  });
  await Promise.resolve();
  expect(aborted).toBe(false);
  abort.abort();
  await waiting;
  expect(aborted).toBe(true);
});
