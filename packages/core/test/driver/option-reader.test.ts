import { expect, it } from 'vitest';
import { OptionReader } from '../../src/driver/option-reader.ts';

interface Options {
  readonly size?: number;
  readonly pause?: string | number;
  readonly name?: string;
}
const KEYS = ['size', 'pause', 'name'] as const;
const size = { fallback: 10, min: 1, max: 100 };
const read = (options: object) => new OptionReader<Options>('shop', options, KEYS);
const invalid = expect.objectContaining({ code: 'MSG_CONFIG_INVALID' });

it('answers what was given', () => {
  const options = read({ size: 3, pause: '2s', name: 'x' });
  expect(options.integer('size', size)).toBe(3);
  expect(options.duration('pause', { fallback: 1, min: 1, max: 5_000 })).toBe(2_000);
  expect(options.text('name', '')).toBe('x');
  expect(options.integers({ size })).toEqual({ size: 3 });
});

it('answers defaults, also for undefined', () => {
  const options = read({ size: undefined });
  expect(options.integer('size', size)).toBe(10);
  expect(options.duration('pause', { fallback: 7, min: 1, max: 9 })).toBe(7);
  expect(options.text('name', 'none')).toBe('none');
});

it.each([
  ['an unknown key', () => read({ sise: 1 }), /unknown option "sise"; known are size, pause, name/],
  ['what is no object', () => read(null as unknown as object), /shop is null/],
  ['too little', () => read({ size: 0 }).integer('size', size), /shop.size is 0: .* 1 to 100/],
  ['too much', () => read({ size: 101 }).integer('size', size), /101/],
  ['a fraction', () => read({ size: 1.5 }).integer('size', size), /whole number/],
  ['a number as text', () => read({ size: '5' }).integer('size', size), /"5"/],
  ['one of a table', () => read({ size: -1 }).integers({ size }), /shop.size is -1/],
  ['no duration', () => read({ pause: 'soon' }).duration('pause', size), /shop.pause is "soon"/],
  ['a long duration', () => read({ pause: '1s' }).duration('pause', size), /1 to 100 ms/],
  ['a number for text', () => read({ name: 5 }).text('name', ''), /shop.name is 5: .* a string/],
])('refuses %s', (_, reading, text) => {
  expect(reading).toThrow(text);
  expect(reading).toThrow(invalid);
});
