import { afterEach, expect, it, vi } from 'vitest';
import {
  BrokerUnavailable,
  brokerImage,
  launch,
  RabbitmqManagement,
  startPostgres,
  startRabbitmq,
} from '../../src/launchers/index.ts';
import { printable, untilAnswered } from '../../src/launchers/until-answered.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

const absent = (byDesign: boolean) => () =>
  Promise.reject(new BrokerUnavailable('no engine', { byDesign }));

it('gives the reason of an absent broker, for a skip', async () => {
  vi.stubEnv('CI', '');
  expect(await launch(absent(false))).toEqual({ absent: 'no engine' });
});

it('fails for an absent broker with CI=true', async () => {
  vi.stubEnv('CI', 'true');
  await expect(launch(absent(false))).rejects.toThrow('no engine');
});

it('leaves a fault case out by design, with CI=true too', async () => {
  vi.stubEnv('CI', 'true');
  expect(await launch(absent(true))).toEqual({ absent: 'no engine' });
});

it('never takes another error for an absent broker', async () => {
  vi.stubEnv('CI', '');
  const broken = () => Promise.reject(new TypeError('broken launcher'));
  await expect(launch(broken)).rejects.toThrow('broken launcher');
});

it.each([
  ['ACKORD_RABBITMQ_URL', 'amqp://localhost', startRabbitmq],
  ['ACKORD_POSTGRES_URL', 'postgres://localhost', startPostgres],
] as const)('refuses faults on the broker that %s gives', async (variable, url, start) => {
  vi.stubEnv(variable, url);
  await expect(start({ isolated: true })).rejects.toMatchObject({
    name: 'BrokerUnavailable',
    byDesign: true,
    message: expect.stringContaining(variable),
  });
});

it('takes the container that the run handed over and leaves its removal to the run', async () => {
  vi.stubEnv('ACKORD_POSTGRES_URL', '');
  vi.stubEnv('ACKORD_TEST_POSTGRES', '{"url":"postgres://127.0.0.1:2/x","containerId":"c1"}');
  const postgres = await startPostgres();
  expect(postgres).toMatchObject({
    url: 'postgres://127.0.0.1:2/x',
    owned: true,
    containerId: 'c1',
  });
  await postgres.remove();
});

it('takes an image named by the environment as one of the local kind', async () => {
  vi.stubEnv('ACKORD_BROKERS_IMAGE', 'mine:1');
  expect(await brokerImage('rabbitmq')).toEqual({ name: 'mine:1', kind: 'local' });
});

it('repeats a question until its deadline and tells the last answer', async () => {
  let asked = 0;
  const ask = async (): Promise<void> => {
    asked += 1;
    if (asked < 3) throw new Error('not yet');
  };
  await untilAnswered('It', 5_000, ask);
  expect(asked).toBe(3);
  await expect(
    untilAnswered('It', 0, () => Promise.reject(new Error('ECONNREFUSED'))),
  ).rejects.toThrow('It did not answer within 0 ms: Error: ECONNREFUSED');
});

it('prints addresses without their passwords', () => {
  expect(printable('amqp://guest:secret@host:5672/v')).toBe('amqp://host:5672/v');
});

it('calls the management API of the right vhost with decoded credentials', async () => {
  const calls: [string, string | null][] = [];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    calls.push([url, new Headers(init.headers).get('authorization')]);
    return new Response(null, { status: 204 });
  });
  const management = new RabbitmqManagement('http://u:a%2Fb@h:15672', 'amqp://h/%2Fv');
  await management.deleteQueue('a/b');
  const credentials = `Basic ${Buffer.from('u:a/b').toString('base64')}`;
  expect(calls).toEqual([['http://h:15672/api/queues/%2Fv/a%2Fb', credentials]]);
});
