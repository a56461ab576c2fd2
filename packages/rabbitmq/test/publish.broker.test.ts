import { TcpProxy } from '@ackord/conformance';
import { describeBroker, type RabbitmqBroker, startRabbitmq } from '@ackord/conformance/launchers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLine } from './line.ts';
import { count, openRig, outgoing, type Rig, send } from './rig.ts';

describeBroker('rabbitmq publish', startRabbitmq, (broker: () => RabbitmqBroker) => {
  let rig: Rig;
  let orders: string;
  beforeEach(async () => {
    rig = await openRig(broker().url);
    await rig.session.apply(rig.plan.resources, 'create');
    [orders = ''] = rig.plan.address({ at: 'destination', name: 'orders' });
  });
  afterEach(() => rig.end());

  it('confirms what a queue took', async () => {
    const outcomes = await send(rig.session, [outgoing(orders), outgoing(orders)]);
    expect(outcomes).toEqual([{ is: 'confirmed' }, { is: 'confirmed' }]);
    expect(await count(rig, `${rig.prefix}reserve`)).toBe(2);
  });

  it('rejects exactly the returned ones of a pipelined batch as unroutable', async () => {
    const nowhere = `q:${rig.prefix}nowhere`;
    const batch = Array.from({ length: 200 }, (_, i) => outgoing(i % 3 === 0 ? nowhere : orders));
    const outcomes = await send(rig.session, batch);
    for (const [i, outcome] of outcomes.entries()) {
      expect(outcome).toMatchObject(
        i % 3 === 0 ? { is: 'rejected', kind: 'unroutable' } : { is: 'confirmed' },
      );
    }
  });

  it('tells the messages of a missing exchange from innocents whose channel they closed', async () => {
    const missing = `x:${rig.prefix}missing`;
    const batch = Array.from({ length: 200 }, (_, i) => outgoing(i === 50 ? missing : orders));
    const outcomes = await send(rig.session, batch);
    expect(outcomes[50]).toMatchObject({ is: 'rejected', kind: 'unroutable' });
    const innocents = outcomes.filter((_, i) => i !== 50);
    const together = innocents.filter(({ is }) => is === 'together');
    expect(together.length).toBeGreaterThan(0);
    for (const outcome of innocents) {
      if (outcome.is === 'confirmed') continue;
      expect(outcome).toMatchObject({ is: 'together', kind: 'unroutable', stored: 'unknown' });
    }
    expect(await send(rig.session, [outgoing(orders)])).toEqual([{ is: 'confirmed' }]);
  });

  it('sends alone on a channel that hurts nobody', async () => {
    const batch = Array.from({ length: 300 }, () => outgoing(orders));
    await send(rig.session, batch.slice(0, 1));
    const [neighbours, [guilty]] = await Promise.all([
      send(rig.session, batch),
      send(rig.session, [outgoing(`x:${rig.prefix}missing`)], { alone: true }),
    ]);
    expect(guilty).toMatchObject({ is: 'rejected', kind: 'unroutable' });
    expect(neighbours.every(({ is }) => is === 'confirmed')).toBe(true);
  });

  it('finds what the broker or the client cannot take before it is sent', async () => {
    const mirror = outgoing(orders).mirror;
    const outcomes = await send(rig.session, [
      outgoing(orders, { body: Buffer.alloc(16 * 1024 * 1024 + 1) }),
      outgoing(orders, { headers: { wide: 'x'.repeat(70_000) } }),
      outgoing(orders, { mirror: { ...mirror, id: 'é'.repeat(128) } }),
      outgoing('orders'),
      outgoing(orders),
    ]);
    expect(outcomes).toMatchObject([
      { is: 'rejected', kind: 'too-large' },
      { is: 'rejected', kind: 'too-large' },
      { is: 'rejected', kind: 'invalid' },
      { is: 'rejected', kind: 'invalid' },
      { is: 'confirmed' },
    ]);
  });

  it('takes a body of 16 MiB, the limit that it states', async () => {
    const body = Buffer.alloc(rig.session.capabilities.bodyBytes);
    expect(await send(rig.session, [outgoing(orders, { body })])).toEqual([{ is: 'confirmed' }]);
  });

  it('blames the body when the server takes less than was stated', async () => {
    const lax = await openRig(broker().url, { maxMessageBytes: 32 * 1024 * 1024 });
    await lax.session.apply(lax.plan.resources, 'create');
    const [to = ''] = lax.plan.address({ at: 'destination', name: 'orders' });
    const body = Buffer.alloc(16 * 1024 * 1024 + 1);
    const [outcome] = await send(lax.session, [outgoing(to, { body })], { alone: true });
    expect(outcome).toMatchObject({ is: 'rejected', kind: 'too-large' });
    await lax.end();
  });

  it('carries a message at the stated limits of headers', async () => {
    const { count: most, bytes } = rig.session.capabilities.headers;
    const size = Math.floor(bytes / most);
    const names = Array.from({ length: most }, (_, i) => `h${i}`.padEnd(8, '-'));
    const headers = Object.fromEntries(names.map((name) => [name, 'x'.repeat(size - 8)]));
    expect(await send(rig.session, [outgoing(orders, { headers })])).toEqual([{ is: 'confirmed' }]);
  });

  it('answers unknown, not throttled, while the connection for sending cannot be opened', async () => {
    const proxy = await TcpProxy.listen(broker().url);
    const behind = await openRig(proxy.url(broker().url));
    await behind.session.apply(behind.plan.resources, 'create');
    const [to = ''] = behind.plan.address({ at: 'destination', name: 'orders' });
    proxy.refuse();
    expect(await send(behind.session, [outgoing(to)])).toMatchObject([
      { is: 'unknown', why: 'session' },
    ]);
    await proxy.accept();
    expect(await send(behind.session, [outgoing(to)])).toEqual([{ is: 'confirmed' }]);
    await behind.end();
    await proxy.close();
  });

  it('reports a full queue as throttled', async () => {
    const queue = `${rig.prefix}full`;
    const channel = await rig.raw.createChannel();
    await channel.assertQueue(queue, {
      arguments: { 'x-queue-type': 'quorum', 'x-max-length': 1, 'x-overflow': 'reject-publish' },
    });
    const kinds = new Set<string>();
    // The queue starts to refuse a moment after it is full.
    await expect
      .poll(async () => {
        const [outcome] = await send(rig.session, [outgoing(`q:${queue}`)]);
        if (outcome?.is === 'rejected') kinds.add(outcome.kind);
        return [...kinds];
      })
      .toEqual(['throttled']);
    await channel.deleteQueue(queue);
  });

  it('answers unknown when the signal aborts, before and after the send', async () => {
    const [before] = await send(rig.session, [outgoing(orders)], { signal: AbortSignal.abort() });
    expect(before).toMatchObject({ is: 'unknown', why: 'aborted' });
    const controller = new AbortController();
    const sent = send(rig.session, [outgoing(orders)], { signal: controller.signal });
    controller.abort();
    expect(await sent).toMatchObject([{ is: 'unknown', why: 'aborted' }]);
  });

  it('answers unknown to all that is open when the connection is cut', async () => {
    const line = await openLine(broker().url);
    const far = await openRig(line.url, { prefix: rig.prefix });
    expect(await send(far.session, [outgoing(orders)])).toEqual([{ is: 'confirmed' }]);
    line.hold();
    const batch = Array.from({ length: 50 }, () => outgoing(orders));
    const sent = send(far.session, batch);
    const late = send(far.session, [outgoing(orders)], { alone: true });
    await expect.poll(() => count(rig, `${rig.prefix}reserve`)).toBe(51);
    line.cut();
    for (const outcome of [...(await sent), ...(await late)]) {
      expect(outcome).toMatchObject({ is: 'unknown', why: 'session' });
    }
    expect(await far.session.lost).toMatchObject({ kind: 'connection' });
    await far.session.close();
  });

  it('loses the session when an operator kills the connection, which emits no error', async () => {
    // The management list is up to a second old.
    await expect
      .poll(
        () =>
          broker().management.closeConnections(
            (listed) => listed.user_provided_name === rig.prefix,
          ),
        { timeout: 10_000 },
      )
      .toBe(1);
    expect(await rig.session.lost).toMatchObject({ kind: 'connection', error: { code: 320 } });
    expect(await send(rig.session, [outgoing(orders)])).toMatchObject([
      { is: 'unknown', why: 'session' },
    ]);
  });
});
