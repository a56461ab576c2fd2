import { hashSlot } from '@ackord/postgres';
import { expect, it } from 'vitest';

// Vectors of 32-bit FNV-1a: '' 811c9dc5, 'a' e40c292c, 'foobar' bf9cf968.
it.each([
  ['', 0x811c9dc5 % 64],
  ['a', 0xe40c292c % 64],
  ['foobar', 0xbf9cf968 % 64],
])('puts %j into the slot of its FNV-1a hash', (text, slot) => {
  expect(hashSlot(text)).toBe(slot);
});

it('hashes UTF-8 bytes, not UTF-16 units', () => {
  expect(hashSlot('Grüße 🚚')).toBe(hashSlot(Buffer.from('Grüße 🚚', 'utf8').toString('utf8')));
  expect(hashSlot('é')).not.toBe(hashSlot('e'));
});

it('spreads ids over all slots', () => {
  const counts = new Map<number, number>();
  for (let i = 0; i < 6_400; i += 1) {
    const slot = hashSlot(`0199-${i.toString(16)}`);
    counts.set(slot, (counts.get(slot) ?? 0) + 1);
  }
  expect(counts.size).toBe(64);
  expect(Math.max(...counts.values())).toBeLessThan(200);
});
