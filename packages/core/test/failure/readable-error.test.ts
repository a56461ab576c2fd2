import { describe, expect, it } from 'vitest';
import { readableError } from '../../src/failure/readable-error.ts';

const fails = (): never => {
  throw new Error('trap');
};
const trapped = new Proxy({}, { get: fails, has: fails, getPrototypeOf: fails });
const revoked = Proxy.revocable({}, {});
revoked.revoke();

describe('a thrown value', () => {
  it.each([undefined, null, 'text', 7, Symbol('s'), new Error('x'), { code: 1 }, () => 1])(
    'that can be read stays itself: %s',
    (value) => expect(readableError(value)).toBe(value),
  );

  it('with a ring of causes stays itself', () => {
    const error = new Error('ring');
    error.cause = error;
    expect(readableError(error)).toBe(error);
  });

  it.each([
    ['a proxy', trapped],
    ['a revoked proxy', revoked.proxy],
    [
      'a getter of its own',
      Object.freeze({
        get code() {
          return fails();
        },
      }),
    ],
    ['a cause', new Error('x', { cause: trapped })],
  ])('whose getters throw is replaced: %s', (_, value) => {
    expect(readableError(value)).toMatchObject({ message: 'a thrown value that cannot be read' });
  });
});
