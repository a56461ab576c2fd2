import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { gatherWrites } from '../src/gather-writes.ts';

class Recorder extends Writable {
  readonly calls: string[] = [];

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.calls.push(chunk.toString());
    done();
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: () => void): void {
    this.calls.push(chunks.map(({ chunk }) => chunk.toString()).join(''));
    done();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what one turn writes leaves together and in order', async () => {
  const stream = new Recorder();
  gatherWrites(stream);
  for (const text of ['a', 'b', 'c']) stream.write(text);
  expect(stream.calls).toEqual([]);
  await turn();
  stream.write('d');
  await turn();
  expect(stream.calls).toEqual(['abc', 'd']);
});

test('backpressure is still reported, and what waited leaves', async () => {
  const stream = new Recorder({ highWaterMark: 2 });
  gatherWrites(stream);
  let drained = 0;
  stream.on('drain', () => {
    drained += 1;
  });
  expect(stream.write('abc')).toBe(false);
  await turn();
  expect(stream.calls).toEqual(['abc']);
  expect(drained).toBe(1);
});

test('an end right behind a write loses nothing', async () => {
  const stream = new Recorder();
  gatherWrites(stream);
  stream.write('a');
  stream.end('b');
  await new Promise((resolve) => stream.on('finish', resolve));
  await turn();
  expect(stream.calls.join('')).toBe('ab');
});
