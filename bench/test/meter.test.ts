import { expect, test } from 'vitest';
import { idOf, wireMessage } from '../messages.ts';
import { Course, Tally } from '../meter.ts';

test('a tally names what is missing and what came twice', () => {
  const tally = new Tally(4);
  for (const index of [0, 1, 1, 1]) tally.add(idOf(index));
  expect(tally.result()).toEqual({ lost: 2, doubled: 2 });
});

test('an id that no trial gave out counts as doubled', () => {
  const tally = new Tally(1);
  tally.add(idOf(0));
  tally.add(idOf(1));
  tally.add('foreign');
  expect(tally.result()).toEqual({ lost: 0, doubled: 2 });
});

test('a course ends with its last message', async () => {
  const course = new Course({ warmup: 1, measured: 2 });
  for (const index of [0, 1, 2]) course.handled(idOf(index));
  expect(await course.finished(1_000)).toMatchObject({ wallMs: expect.any(Number) });
});

test('a course that misses a message says how many came', async () => {
  const course = new Course({ warmup: 1, measured: 2 });
  for (const index of [0, 1]) course.handled(idOf(index));
  await expect(course.finished(1)).rejects.toThrow(/2 messages came .*"lost":1/);
});

test('a message has 1 KiB on the wire', () => {
  expect(Buffer.byteLength(JSON.stringify(wireMessage(7)))).toBe(1_024);
});
