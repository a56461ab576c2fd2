import { describeBroker, type RabbitmqBroker, startRabbitmq } from '@ackord/conformance/launchers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  count,
  DELAY_MS,
  type Inbox,
  mostSeen,
  openRig,
  outgoing,
  physical,
  type Rig,
  receive,
  send,
  sourceOf,
} from './rig.ts';

const ack = ({ deliveries }: Inbox, from = 0, to = deliveries.length) =>
  deliveries.slice(from, to).map(({ token }) => ({ token, how: { do: 'ack' } as const }));
const never = new AbortController().signal;

describeBroker('rabbitmq receive', startRabbitmq, (broker: () => RabbitmqBroker) => {
  let rig: Rig;
  let orders: string;
  const live = () => sourceOf(rig, 'reserve', 'live');
  const queue = () => physical(live()?.address);
  const publish = (n: number) =>
    send(
      rig.session,
      Array.from({ length: n }, () => outgoing(orders)),
    );
  beforeEach(async () => {
    rig = await openRig(broker().url);
    await rig.session.apply(rig.plan.resources, 'create');
    [orders = ''] = rig.plan.address({ at: 'destination', name: 'orders' });
  });
  afterEach(() => rig.end());

  it('delivers the message as it was sent, without the private tag', async () => {
    const message = outgoing(orders, { headers: { 'ackord-x': 'ü', 'x-death': 'forged' } });
    await send(rig.session, [message]);
    const inbox = await receive(rig.session, live(), 10);
    await expect.poll(() => inbox.deliveries.length).toBe(1);
    const [delivery] = inbox.deliveries;
    expect(delivery).toMatchObject({
      native: { id: message.mirror.id, type: 'order.created', subject: 'order.created' },
      redelivered: false,
      nativeCount: 1,
    });
    expect(delivery?.headers).toEqual({ 'ackord-x': 'ü' });
    expect(Buffer.from(delivery?.body ?? []).toString()).toBe('{}');
    expect(delivery?.leaseUntilMs).toBe((delivery?.receivedAtMs ?? 0) + 1_800_000);
  });

  it('holds no more than the window, and takes none at zero', async () => {
    await publish(30);
    const inbox = await receive(rig.session, live(), 0);
    inbox.receiver.setWindow(5);
    await expect.poll(() => inbox.deliveries.length).toBe(5);
    inbox.receiver.setWindow(0);
    await inbox.receiver.settle(ack(inbox), never);
    await expect.poll(() => count(rig, queue())).toBe(25);
    inbox.receiver.setWindow(8);
    await expect.poll(() => inbox.deliveries.length).toBe(13);
    expect(await count(rig, queue())).toBe(17);
    inbox.receiver.setWindow(3);
    await inbox.receiver.settle(ack(inbox, 5), never);
    await expect.poll(() => inbox.deliveries.length).toBe(16);
    expect(inbox.faults).toEqual([]);
  });

  it('holds at most two windows however often the window changes', async () => {
    await publish(60);
    const inbox = await receive(rig.session, live(), 10);
    const stays = async (held: number) => {
      await expect.poll(() => inbox.deliveries.length).toBe(held);
      inbox.receiver.setWindow(9);
      await mostSeen(rig, `${rig.prefix}reserve.parking`, 300);
      expect(inbox.deliveries).toHaveLength(held);
    };
    await stays(10);
    inbox.receiver.setWindow(10);
    await stays(20);
    await inbox.receiver.settle(ack(inbox, 0, 11), never);
    await expect.poll(() => inbox.deliveries.length).toBe(29);
  });

  it('answers stale to a second ack and to a stranger, and the channel lives', async () => {
    await publish(2);
    const inbox = await receive(rig.session, live(), 10);
    await expect.poll(() => inbox.deliveries.length).toBe(2);
    const [first] = ack(inbox, 0, 1);
    if (!first) throw new Error('nothing delivered');
    const settle = (batch: Parameters<typeof inbox.receiver.settle>[0]) =>
      inbox.receiver.settle(batch, never);
    expect(await settle([first, first])).toEqual(['ok', 'stale']);
    expect(await settle([first])).toEqual(['stale']);
    expect(await settle([{ token: { deliveryTag: 2 }, how: { do: 'ack' } }])).toEqual(['stale']);
    expect(await settle([{ token: undefined, how: { do: 'ack' } }])).toEqual(['stale']);
    const token = inbox.deliveries[1]?.token;
    expect(await settle([{ token, how: { do: 'return', delayMs: 5 } }])).toEqual(['unknown']);
    expect(await settle([{ token, how: { do: 'ack' } }])).toEqual(['ok']);
    await inbox.receiver.close();
    expect(inbox.faults).toEqual([]);
    expect(await count(rig, queue())).toBe(0);
  });

  it('acks around what it must not cover: dropped and released ones come back', async () => {
    await publish(5);
    const inbox = await receive(rig.session, live(), 5);
    await expect.poll(() => inbox.deliveries.length).toBe(5);
    const how = ['ack', 'drop', 'ack', 'release', 'ack'] as const;
    const batch = inbox.deliveries.map(({ token }, i) => ({ token, how: { do: how[i] ?? 'ack' } }));
    await inbox.receiver.stop();
    const answers = await inbox.receiver.settle(
      batch as Parameters<typeof inbox.receiver.settle>[0],
      never,
    );
    expect(answers).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
    await inbox.receiver.close();
    const again = await receive(rig.session, live(), 10);
    await expect.poll(() => again.deliveries.length).toBe(2);
    const ids = again.deliveries.map(({ native }) => native.id).toSorted();
    expect(ids).toEqual([1, 3].map((i) => inbox.deliveries[i]?.native.id).toSorted());
  });

  it('does not count a release as a failure', async () => {
    await publish(1);
    const first = await receive(rig.session, live(), 1);
    await expect.poll(() => first.deliveries.length).toBe(1);
    const [{ token } = { token: undefined }] = first.deliveries;
    await first.receiver.settle([{ token, how: { do: 'release' } }], never);
    await expect.poll(() => first.deliveries.length).toBeGreaterThan(1);
    expect(first.deliveries[1]).toMatchObject({ redelivered: true, nativeCount: 1 });
  });

  it('does not take a release again once the window is zero', async () => {
    await publish(5);
    const inbox = await receive(rig.session, live(), 5);
    await expect.poll(() => inbox.deliveries.length).toBe(5);
    inbox.receiver.setWindow(0);
    const batch = inbox.deliveries.map(({ token }) => ({ token, how: { do: 'release' } as const }));
    expect(new Set(await inbox.receiver.settle(batch, never))).toEqual(new Set(['ok']));
    await expect.poll(() => count(rig, queue())).toBe(5);
    expect(inbox.deliveries).toHaveLength(5);
  });

  it('loses no ack of 300 that were sent in the tick before the close', async () => {
    // Without a barrier two of three rounds lose some (4.3.6).
    for (let round = 0; round < 5; round += 1) {
      await publish(300);
      const inbox = await receive(rig.session, live(), 500);
      await expect.poll(() => inbox.deliveries.length).toBe(300);
      expect(inbox.deliveries.filter(({ redelivered }) => redelivered)).toEqual([]);
      await inbox.receiver.stop();
      // Every second one first, so that no frame covers several.
      const all = ack(inbox);
      const order = [...all.filter((_, i) => i % 2), ...all.filter((_, i) => i % 2 === 0)];
      const settled = order.map((one) => inbox.receiver.settle([one], never));
      await Promise.all([...settled, inbox.receiver.close()]);
    }
    expect(await mostSeen(rig, queue())).toBe(0);
  });

  it('loses none of the 16 settles that are few enough to need no barrier', async () => {
    for (let round = 0; round < 10; round += 1) {
      await publish(17);
      const inbox = await receive(rig.session, live(), 50);
      await expect.poll(() => inbox.deliveries.length).toBe(17);
      await inbox.receiver.stop();
      // Last one first, so that no frame covers several.
      for (const one of ack(inbox, 1).toReversed()) void inbox.receiver.settle([one], never);
      await inbox.receiver.close();
      const left = await receive(rig.session, live(), 50);
      await expect.poll(() => left.deliveries.length).toBe(1);
      await left.receiver.settle(ack(left), never);
      await left.receiver.close();
    }
    expect(await mostSeen(rig, queue())).toBe(0);
  });

  it('leaves messages and their order as they were when all that was looked at is released', async () => {
    await publish(8);
    const looked = async (window: number) => {
      const inbox = await receive(rig.session, live(), window);
      await expect.poll(() => inbox.deliveries.length).toBe(window);
      await inbox.receiver.stop();
      const batch = inbox.deliveries.map(({ token }) => ({
        token,
        how: { do: 'release' } as const,
      }));
      await inbox.receiver.settle(batch, never);
      await inbox.receiver.close();
      await expect.poll(() => count(rig, queue())).toBe(8);
      expect(inbox.deliveries.map(({ nativeCount }) => nativeCount)).toEqual(Array(window).fill(1));
      return inbox.deliveries.map(({ native }) => native.id);
    };
    // A quorum queue gives what was returned first, so a smaller look after a larger one begins elsewhere.
    const before = await looked(3);
    expect(await looked(3)).toEqual(before);
    expect((await looked(8)).slice(0, 3)).toEqual(before);
  });

  it('loses no ack when the whole session closes at once', async () => {
    await publish(200);
    const inbox = await receive(rig.session, live(), 500);
    await expect.poll(() => inbox.deliveries.length).toBe(200);
    for (const one of ack(inbox).toReversed()) void inbox.receiver.settle([one], never);
    await rig.session.close();
    expect(await mostSeen(rig, queue())).toBe(0);
  });

  it('reports a deleted queue as cancelled, and settles nothing afterwards', async () => {
    await publish(1);
    const inbox = await receive(rig.session, live(), 10);
    await expect.poll(() => inbox.deliveries.length).toBe(1);
    await broker().management.deleteQueue(queue());
    await expect.poll(() => inbox.faults).toEqual([{ fault: { kind: 'cancelled' }, ended: true }]);
    expect(await inbox.receiver.settle(ack(inbox), never)).toEqual(['stale']);
    await inbox.receiver.stop();
    await inbox.receiver.close();
    expect(inbox.faults).toHaveLength(1);
    expect(await publish(1)).toEqual([{ is: 'confirmed' }]);
  });

  it('rejects to receive from a queue that does not exist', async () => {
    await broker().management.deleteQueue(queue());
    await expect(receive(rig.session, live(), 1)).rejects.toMatchObject({ code: 404 });
  });

  it('says nothing of its own when the session is lost', async () => {
    const inbox = await receive(rig.session, live(), 10);
    await expect
      .poll(
        () => broker().management.closeConnections((one) => one.user_provided_name === rig.prefix),
        { timeout: 10_000 },
      )
      .toBe(1);
    expect(await rig.session.lost).toMatchObject({ kind: 'connection', error: { code: 320 } });
    expect(inbox.faults).toEqual([]);
    await inbox.receiver.stop();
    await inbox.receiver.close();
    await rig.session.close();
  });

  it('lets a bucket expire into the own retry queue only, never early', async () => {
    const retry = await receive(rig.session, sourceOf(rig, 'reserve', 'retry'), 100);
    const [bucket = ''] = rig.plan.address({ at: 'retry', consumer: 'reserve', delayMs: DELAY_MS });
    const sentAt = new Map<string, number>();
    const batch = Array.from({ length: 50 }, () => outgoing(bucket));
    for (const { mirror } of batch) sentAt.set(mirror.id, Date.now());
    const outcomes = await send(rig.session, batch);
    expect(outcomes.every(({ is }) => is === 'confirmed')).toBe(true);
    expect(await rig.session.inspect(retrySource())).toMatchObject({ ready: 0, held: 50 });
    await expect.poll(() => retry.deliveries.length, { timeout: 10_000 }).toBe(50);
    for (const { native, receivedAtMs } of retry.deliveries) {
      expect(receivedAtMs - (sentAt.get(native.id ?? '') ?? 0)).toBeGreaterThanOrEqual(DELAY_MS);
    }
    expect(await count(rig, queue())).toBe(0);
    expect(await count(rig, `${rig.prefix}audit`)).toBe(0);
    expect(await count(rig, `${rig.prefix}audit.retry`)).toBe(0);
    await retry.receiver.settle(ack(retry), never);
  });

  const retrySource = () => {
    const source = sourceOf(rig, 'reserve', 'retry');
    if (!source) throw new Error('no retry source');
    return source;
  };
});
