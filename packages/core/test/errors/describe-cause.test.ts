import { expect, it } from 'vitest';
import { afterColon, describeCause } from '../../src/errors/describe-cause.ts';

const aggregate = new AggregateError([new Error('one'), new Error(''), new Error('two')]);

it.each([
  [
    'an error',
    new Error('connect ECONNREFUSED 127.0.0.1:5672'),
    'connect ECONNREFUSED 127.0.0.1:5672',
  ],
  ['one line of several', new Error('first\n  second.'), 'first second'],
  ['every address of one that failed as a whole', aggregate, 'one, two'],
  ['a code without a text', Object.assign(new Error(''), { code: 'EPIPE' }), 'EPIPE'],
  ['the fault of a session', { kind: 'connection', error: new Error('reset') }, 'reset'],
  ['a URL without its password', new Error('no amqp://user:pa/ss@h:1/v'), 'no amqp://…@h:1/v'],
])('shows %s', (_, cause, text) => {
  expect(describeCause(cause)).toBe(text);
  expect(afterColon(describeCause(cause))).toBe(`: ${text}`);
});

it.each([[undefined], ['text'], [new Error('')], [{ kind: 'x', error: undefined }]])(
  'says nothing of %s',
  (cause) => {
    expect(describeCause(cause)).toBeUndefined();
    expect(afterColon(describeCause(cause))).toBe('');
  },
);

it('cuts what is long and bears what throws', () => {
  expect(describeCause(new Error('x'.repeat(500)))).toHaveLength(241);
  const evil = Object.defineProperty(new Error('x'), 'message', {
    get: () => {
      throw new Error('getter');
    },
  });
  expect(describeCause(evil)).toBeUndefined();
});
