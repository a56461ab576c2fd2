import { expect, it } from 'vitest';
import { rabbitmq } from '../src/index.ts';
import { type RabbitmqOptions, readOptions } from '../src/options.ts';

const url = 'amqp://user:hidden@rabbit';

it('fills in the defaults and shows nodes without credentials', () => {
  const settings = readOptions({ url });
  expect(settings).toMatchObject({
    connectTimeoutMs: 5_000,
    heartbeatSeconds: 10,
    maxMessageBytes: 16_777_216,
    consumerTimeoutMs: 1_800_000,
  });
  expect(settings.nodes).toEqual([{ url: `${url}?heartbeat=10`, shown: 'rabbit:5672' }]);
});

it('keeps other parameters of the URL and knows the port of TLS', () => {
  const [node] = readOptions({
    url: ['amqps://h/vhost?heartbeat=60&frameMax=8192'],
    heartbeatSeconds: 0,
  }).nodes;
  expect(node).toEqual({ url: 'amqps://h/vhost?heartbeat=0&frameMax=8192', shown: 'h:5671' });
});

it.each([
  ['an unknown key', { url, prefetch: 5 }, /unknown option "prefetch"/],
  ['no url', {}, /url is missing/],
  ['an empty list', { url: [] }, /url is missing/],
  ['another protocol', { url: 'http://user:hidden@rabbit' }, /number 1\)": expected a URL/],
  ['a bad second node', { url: [url, 'amqp://user:hid den@@@'] }, /number 2\)": expected a URL/],
  ['a timeout of zero', { url, connectTimeoutMs: 0 }, /connectTimeoutMs is 0/],
  ['a timeout as text', { url, connectTimeoutMs: '5s' }, /connectTimeoutMs is "5s"/],
  ['a heartbeat of 16 bits and one', { url, heartbeatSeconds: 65_536 }, /0 to 65535/],
  [
    'names of something else',
    { url, names: { queues: {} } },
    /rabbitmq.names .* known are destinations, consumers/,
  ],
  ['a prefix that is no text', { url, prefix: 5 }, /prefix is 5: expected a string/],
])('refuses %s without showing a password', (_, options, text) => {
  let thrown: unknown;
  try {
    rabbitmq(options as RabbitmqOptions);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code: 'MSG_CONFIG_INVALID' });
  expect(String(thrown)).toMatch(text);
  expect(String(thrown)).not.toMatch(/hidden/);
});

it('is a frozen driver of its profile', () => {
  const driver = rabbitmq({ url });
  expect(driver).toMatchObject({ profile: 'rabbitmq/ttl-buckets', broker: 'rabbitmq' });
  expect(Object.isFrozen(driver)).toBe(true);
});
