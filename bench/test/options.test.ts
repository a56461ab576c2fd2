import { expect, test } from 'vitest';
import { readOptions, UsageError } from '../options.ts';

const refusal = (...args: string[]): string => {
  try {
    readOptions(args);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'accepted';
};

test('ten pairs of two seconds are the default', () => {
  expect(readOptions(['--broker', 'rabbitmq'])).toMatchObject({
    pairs: 10,
    seconds: 2,
    only: ['publish', 'inbox', 'consume', 'core'],
    gate: false,
  });
});

test('help asks for nothing else', () => {
  expect(readOptions(['--help'])).toBeUndefined();
});

test.each([
  [[], '--broker is missing; give --broker rabbitmq.'],
  [['--broker', 'redis'], '--broker is redis; give --broker rabbitmq.'],
  [['--broker', 'rabbitmq', '--pairs', '0'], '--pairs is "0"'],
  [['--broker', 'rabbitmq', '--pairs', '1.5'], 'give a whole number from 1'],
  [['--broker', 'rabbitmq', '--seconds', 'x'], '--seconds is "x"'],
  [['--broker', 'rabbitmq', '--only', 'publish,speed'], '--only names "speed"'],
  [['--fast'], '--fast'],
])('%j is refused in words', (args, text) => {
  expect(refusal(...args)).toContain(text);
});
