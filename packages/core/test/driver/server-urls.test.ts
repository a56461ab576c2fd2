import { expect, it } from 'vitest';
import { readServerUrls } from '../../src/driver/server-urls.ts';

const PORTS = { near: 4222, nears: 4223 };
const read = (given: unknown) => readServerUrls('shop.url', given, PORTS);

it('shows host and port only, with the default port of the scheme', () => {
  expect(read('near://user:hidden@one').map(({ shown }) => shown)).toEqual(['one:4222']);
  expect(read(['nears://two', 'near://three:5']).map(({ shown }) => shown)).toEqual([
    'two:4223',
    'three:5',
  ]);
});

it('keeps credentials in the URL and applies the change', () => {
  const [server] = readServerUrls('shop.url', 'near://user:pw@one/x?a=1', PORTS, (url) =>
    url.searchParams.set('b', '2'),
  );
  expect(server?.url).toBe('near://user:pw@one/x?a=1&b=2');
});

it.each([
  ['nothing', undefined, /near:\/\/user:password@host:4222.* url is missing/],
  ['an empty list', [], /url is missing/],
  ['another scheme', 'http://user:hidden@one', /number 1\)": .* near:\/\/ or nears:\/\//],
  ['no host', 'near:///hidden', /number 1/],
  ['a number', 5, /number 1/],
  ['a bad second one', ['near://one', 'user:hid den@@@'], /number 2/],
])('refuses %s without showing it', (_, given, text) => {
  expect(() => read(given)).toThrow(text);
  expect(() => read(given)).toThrow(expect.objectContaining({ code: 'MSG_CONFIG_INVALID' }));
  expect(() => read(given)).not.toThrow(/hidden|hid den/);
});
