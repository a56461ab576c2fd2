import { createServer } from 'node:net';
import { TcpProxy } from '@ackord/conformance';
import { describeBroker, type RabbitmqBroker, startRabbitmq } from '@ackord/conformance/launchers';
import { systemClock } from '@ackord/core/driver';
import { expect, it } from 'vitest';
import { rabbitmq } from '../src/index.ts';
import { openLine } from './line.ts';
import { count, openRig, outgoing, receive, send, sourceOf, TOPOLOGY } from './rig.ts';

const opening = (driver: ReturnType<typeof rabbitmq>, signal = AbortSignal.timeout(10_000)) =>
  driver.open({ plan: driver.plan(TOPOLOGY), signal, clock: systemClock, notice: () => {} });

async function failureOf(driver: ReturnType<typeof rabbitmq>): Promise<unknown> {
  return opening(driver).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describeBroker('rabbitmq session', startRabbitmq, (broker: () => RabbitmqBroker) => {
  it('creates its topology twice without drift, and verifies it', async () => {
    const rig = await openRig(broker().url);
    expect(await rig.session.apply(rig.plan.resources, 'create')).toEqual([]);
    expect(await rig.session.apply(rig.plan.resources, 'create')).toEqual([]);
    const drifts = await rig.session.apply(rig.plan.resources, 'verify');
    expect(drifts.map(({ resource, actual }) => [resource.split(' ')[0], actual])).toEqual([
      ['binding', undefined],
      ['binding', undefined],
    ]);
    expect(await rig.session.doctor(TOPOLOGY)).toEqual([]);
    await rig.end();
  });

  it('verify reports what is missing and creates nothing', async () => {
    const rig = await openRig(broker().url);
    const declared = rig.plan.resources.filter(({ kind }) => kind !== 'binding');
    const drifts = await rig.session.apply(declared, 'verify');
    expect(drifts).toEqual(
      declared.map(({ kind, name }) => ({
        resource: `${kind} ${name}`,
        expected: 'present',
        actual: 'missing',
      })),
    );
    await expect(count(rig, `${rig.prefix}reserve`)).rejects.toMatchObject({ code: 404 });
    await rig.end();
  });

  it('names the setting that differs', async () => {
    const rig = await openRig(broker().url);
    const channel = await rig.raw.createChannel();
    await channel.assertExchange(`${rig.prefix}orders`, 'direct');
    await channel.assertQueue(`${rig.prefix}reserve`, { arguments: { 'x-queue-type': 'quorum' } });
    const bucket = rig.plan.resources.find(({ name }) => name.endsWith('.300ms'));
    await channel.assertQueue(bucket?.name ?? '', {
      arguments: { ...bucket?.settings, 'x-message-ttl': 70_000 },
    });
    const drifts = await rig.session.apply(rig.plan.resources, 'create');
    expect(drifts).toEqual([
      { resource: `exchange ${rig.prefix}orders type`, expected: 'topic', actual: 'direct' },
      {
        resource: `queue ${rig.prefix}reserve x-delivery-limit`,
        expected: '-1',
        actual: 'none',
      },
      { resource: `queue ${bucket?.name} x-message-ttl`, expected: '300', actual: '70000' },
    ]);
    await rig.end();
  });

  it('does not wait for a server that accepts and stays silent', async () => {
    const server = createServer((socket) => socket.on('error', () => {}));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const driver = rabbitmq({ url: `amqp://u:hidden@127.0.0.1:${port}`, connectTimeoutMs: 200 });
    const error = await failureOf(driver);
    expect(String(error)).toMatch(/ETIMEDOUT/);
    expect(String(error)).not.toMatch(/hidden/);
    expect(driver.classify(error)).toBe('connection');
    server.close();
  });

  it('takes the next node when one is down, and says which were tried when all are', async () => {
    const down = 'amqp://u:hidden@127.0.0.1:1';
    const session = await opening(rabbitmq({ url: [down, broker().url] }));
    await session.close();
    const all = rabbitmq({ url: [down, 'amqp://u:hidden@127.0.0.1:2'] });
    const error = await failureOf(all);
    expect(String(error)).toMatch(/127\.0\.0\.1:1 .*127\.0\.0\.1:2 /);
    expect(String(error)).not.toMatch(/hidden/);
    expect(all.classify(error)).toBe('connection');
  });

  it('knows refused credentials and a missing vhost for good', async () => {
    const wrong = new URL(broker().url);
    wrong.password = 'wr0ng';
    const driver = rabbitmq({ url: wrong.href });
    const error = await failureOf(driver);
    expect(driver.classify(error)).toBe('auth');
    expect(String(error)).not.toMatch(/wr0ng/);
    const lost = new URL(broker().url);
    lost.pathname = '/no-such-vhost';
    expect(driver.classify(await failureOf(rabbitmq({ url: lost.href })))).toBe('auth');
  });

  it('gives up opening when the signal aborts', async () => {
    const driver = rabbitmq({ url: broker().url });
    await expect(opening(driver, AbortSignal.abort(new Error('stopped')))).rejects.toThrow(
      'stopped',
    );
  });

  it('tells missing rights from a wrong topology', async () => {
    const rig = await openRig(broker().url);
    await rig.session.apply(rig.plan.resources, 'create');
    const url = await broker().management.createUser(rig.prefix, 'pw', {
      configure: '',
      write: '',
      read: '.*',
    });
    const poor = await openRig(url, { prefix: rig.prefix });
    const [to = ''] = poor.plan.address({ at: 'destination', name: 'orders' });
    const [outcome] = await send(poor.session, [outgoing(to)], { alone: true });
    expect(outcome).toMatchObject({ is: 'rejected', kind: 'auth' });
    const refused = await poor.session
      .apply(poor.plan.resources, 'create')
      .catch((e: unknown) => e);
    expect(rabbitmq({ url }).classify(refused)).toBe('auth');
    const unknown = await poor.session.apply(poor.plan.resources, 'verify');
    expect(unknown).toHaveLength(poor.plan.resources.length);
    expect(unknown.every(({ actual }) => actual === undefined)).toBe(true);
    await poor.session.close();
    await poor.raw.close();
    await broker().management.deleteUser(rig.prefix);
    await rig.end();
  });

  it('passes on that the broker takes no messages, and that it does again', async ({ skip }) => {
    if (!broker().containerId) skip('needs rabbitmqctl');
    const rig = await openRig(broker().url);
    await rig.session.apply(rig.plan.resources, 'create');
    const [to = ''] = rig.plan.address({ at: 'destination', name: 'orders' });
    await broker().ctl('set_vm_memory_high_watermark', '0.00001');
    try {
      // The broker tells a connection only once it publishes.
      const [waiting] = await send(rig.session, [outgoing(to)], {
        signal: AbortSignal.timeout(1_500),
      });
      expect(waiting).toMatchObject({ is: 'unknown', why: 'aborted' });
      expect(rig.notices.map(({ kind }) => kind)).toEqual(['blocked']);
    } finally {
      await broker().ctl('set_vm_memory_high_watermark', '0.6');
    }
    await expect.poll(() => rig.notices.map(({ kind }) => kind)).toEqual(['blocked', 'unblocked']);
    await rig.end();
  });

  it('settles and closes as ever while the broker takes no messages', async ({ skip }) => {
    if (!broker().containerId) skip('needs rabbitmqctl');
    const rig = await openRig(broker().url);
    await rig.session.apply(rig.plan.resources, 'create');
    const [to = ''] = rig.plan.address({ at: 'destination', name: 'orders' });
    await send(rig.session, [outgoing(to), outgoing(to)]);
    const inbox = await receive(rig.session, sourceOf(rig, 'reserve', 'live'), 1);
    await expect.poll(() => inbox.deliveries.length).toBe(1);
    await broker().ctl('set_vm_memory_high_watermark', '0.00001');
    try {
      await send(rig.session, [outgoing(to)], { signal: AbortSignal.timeout(1_500) });
      const [{ token } = { token: undefined }] = inbox.deliveries;
      await inbox.receiver.settle([{ token, how: { do: 'ack' } }], new AbortController().signal);
      // The window was full: the next one comes only once the broker has read the ack.
      await expect.poll(() => inbox.deliveries.length).toBe(2);
      await inbox.receiver.close();
      await expect.poll(() => count(rig, `${rig.prefix}reserve`)).toBe(1);
    } finally {
      await broker().ctl('set_vm_memory_high_watermark', '0.6');
    }
    await rig.end();
  });

  it('closes in time over a connection that went silent', async () => {
    const rig = await openRig(broker().url);
    await rig.session.apply(rig.plan.resources, 'create');
    const line = await openLine(broker().url);
    const far = await openRig(line.url, { prefix: rig.prefix, connectTimeoutMs: 300 });
    const inbox = await receive(far.session, sourceOf(far, 'reserve', 'live'), 5);
    const [to = ''] = far.plan.address({ at: 'destination', name: 'orders' });
    await send(far.session, [outgoing(to)]);
    await expect.poll(() => inbox.deliveries.length).toBe(1);
    line.hold();
    const startedAt = Date.now();
    await far.session.close();
    expect(Date.now() - startedAt).toBeLessThan(2_000);
    expect(inbox.faults).toEqual([]);
    // The socket is gone, so the broker takes the delivery back.
    await expect.poll(() => count(rig, `${rig.prefix}reserve`)).toBe(1);
    line.cut();
    await rig.end();
  });

  it('closes at once after the network took all of its connections', async () => {
    const rig = await openRig(broker().url);
    await rig.session.apply(rig.plan.resources, 'create');
    const line = await TcpProxy.listen(broker().url);
    const far = await openRig(line.url(broker().url), { prefix: rig.prefix });
    const [to = ''] = far.plan.address({ at: 'destination', name: 'orders' });
    await send(far.session, [outgoing(to)]);
    // Its events come one by one: the close begins while the other connection seems to live.
    line.cut();
    expect(await far.session.lost).toMatchObject({ kind: 'connection' });
    const startedAt = Date.now();
    await far.session.close();
    // The time limit of a close is 5 s.
    expect(Date.now() - startedAt).toBeLessThan(2_000);
    await line.close();
    await rig.end();
  });

  it('closes twice, and keeps lost pending after a close', async () => {
    const rig = await openRig(broker().url);
    await Promise.all([rig.session.close(), rig.session.close()]);
    const answer = await Promise.race([rig.session.lost, Promise.resolve('pending')]);
    expect(answer).toBe('pending');
    expect(await send(rig.session, [outgoing('q:any')])).toMatchObject([
      { is: 'unknown', why: 'session' },
    ]);
    await rig.end();
  });
});
