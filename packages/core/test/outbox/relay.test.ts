import { describe, expect, it } from 'vitest';
import { CONFIRMED, LOST, RelayRig, refusedAs } from './relay-fixture.ts';

async function started(...names: readonly string[]): Promise<RelayRig> {
  return await startedWith({}, ...names);
}

async function startedWith(
  options: ConstructorParameters<typeof RelayRig>[0],
  ...names: readonly string[]
): Promise<RelayRig> {
  const rig = new RelayRig(options);
  await rig.add(...names);
  rig.relay.start();
  await rig.clock.advance(0);
  return rig;
}

describe('a relay', () => {
  it('deletes a row only after its confirm', async () => {
    const rig = await started('a');
    expect(rig.open).toEqual(['a']);
    await rig.clock.advance(900);
    expect(rig.rows).toEqual(['a']);
    await rig.answer(CONFIRMED, 'a');
    expect(rig.rows).toEqual([]);
  });

  it('sends a row of unknown outcome again under the same id', async () => {
    const rig = await started('a');
    await rig.answer(LOST, 'a');
    expect(rig.rows).toEqual(['a']);
    await rig.clock.advance(200);
    expect(rig.sent).toEqual(['a', 'a']);
    await rig.answer(CONFIRMED, 'a');
    expect(rig.rows).toEqual([]);
  });

  it('backs off longer with each outcome that is unknown', async () => {
    const rig = await started('a');
    const atMs: number[] = [];
    for (let tries = 0; tries < 6; tries += 1) {
      await rig.clock.runUntil(() => rig.open.length > 0);
      atMs.push(rig.clock.now());
      await rig.answer(LOST, 'a');
    }
    const pauses = atMs.slice(1).map((ms, i) => ms - (atMs[i] ?? 0));
    expect(pauses).toEqual([56, 111, 221, 441, 550]);
  });

  it('sends rows of one key one after another, of others beside them', async () => {
    const rig = await started('a1@a', 'a2@a', 'b1@b', 'c');
    expect(rig.open).toEqual(['a1', 'b1', 'c']);
    await rig.answer(LOST, 'a1');
    await rig.clock.advance(200);
    expect(rig.open).toEqual(['b1', 'c', 'a1']);
    await rig.answer(CONFIRMED, 'a1');
    expect(rig.open).toEqual(['b1', 'c', 'a2']);
  });

  it.each([
    ['invalid', 1],
    ['unroutable', 5],
  ] as const)(
    'parks a row that is %s after %i tries, and what follows it waits',
    async (kind, tries) => {
      const rig = await started('a1@a', 'a2@a', 'b1@b');
      await rig.answer(CONFIRMED, 'b1');
      for (let n = 0; n < tries; n += 1) {
        await rig.clock.runUntil(() => rig.open.length > 0);
        await rig.answer(refusedAs(kind), 'a1');
      }
      await rig.clock.advance(5_000);
      expect(rig.sent.filter((id) => id !== 'b1')).toEqual(Array(tries).fill('a1'));
      expect(rig.events).toContainEqual(
        expect.objectContaining({ event: 'outbox.refused', messageId: 'a1', kind }),
      );
      await rig.store.outbox.retryRefused();
      await rig.clock.advance(2_000);
      await rig.answer(CONFIRMED, 'a1');
      await rig.answer(CONFIRMED, 'a2');
      expect(rig.rows).toEqual([]);
    },
  );

  it('does not count an outage toward the tries of an unroutable row', async () => {
    const rig = await started('a');
    for (let n = 0; n < 6; n += 1) {
      await rig.clock.runUntil(() => rig.open.length > 0);
      await rig.answer(refusedAs('refused'), 'a');
    }
    await rig.clock.runUntil(() => rig.open.length > 0);
    await rig.answer(refusedAs('unroutable'), 'a');
    await rig.clock.runUntil(() => rig.open.length > 0);
    expect(rig.events.some(({ event }) => event === 'outbox.refused')).toBe(false);
  });

  it('goes on with a row whose refusal could not be written', async () => {
    const rig = await started('a');
    rig.database.down();
    await rig.answer(refusedAs('invalid'), 'a');
    rig.database.up();
    await rig.clock.runUntil(() => rig.open.length > 0);
    await rig.answer(refusedAs('invalid'), 'a');
    expect(rig.events.filter(({ event }) => event === 'outbox.refused')).toHaveLength(1);
  });

  it('goes on with a row in whose send an interceptor failed', async () => {
    let failures = 1;
    const rig = new RelayRig({
      intercept: () => {
        failures -= 1;
        if (failures >= 0) throw new Error('a broken interceptor');
      },
    });
    await rig.add('a');
    rig.relay.start();
    await rig.clock.runUntil(() => rig.sent.length === 2);
    await rig.answer(CONFIRMED, 'a');
    expect(rig.rows).toEqual([]);
  });

  it('sends nothing once its lease may have expired', async () => {
    const rig = await startedWith({ publishTimeoutMs: 60_000 }, 'a1@a', 'a2@a');
    rig.database.down();
    await rig.clock.advance(3_000);
    await rig.answer(LOST, 'a1');
    await rig.clock.advance(5_000);
    expect(rig.sent).toEqual(['a1']);
    rig.database.up();
    await rig.clock.runUntil(() => rig.open.length > 0);
    expect(rig.open).toEqual(['a1']);
  });

  it('keeps its slots while it is idle, however short their lease is', async () => {
    const rig = await startedWith({ leaseTtlMs: 600 });
    const { signal } = new AbortController();
    for (let polls = 0; polls < 20; polls += 1) {
      await rig.clock.advance(150);
      const share = await rig.store.outbox.lease({ owner: 'two', ttlMs: 10, busy: [], signal });
      expect(share).toEqual([]);
    }
  });

  it('does not overtake a row that it lost with its lease and got back', async () => {
    const rig = await startedWith({ publishTimeoutMs: 60_000 }, 'a1@a');
    await rig.clock.advance(200);
    rig.database.down();
    await rig.clock.advance(3_000);
    rig.database.up();
    // Somebody else had the slots meanwhile.
    const { outbox } = rig.store;
    const signal = new AbortController().signal;
    await outbox.lease({ owner: 'two', ttlMs: 10, busy: [], signal });
    await outbox.release('two');
    await rig.add('a2@a');
    await rig.clock.advance(2_000);
    await rig.answer(LOST, 'a1');
    await rig.clock.advance(3_000);
    expect(rig.sent).toEqual(['a1', 'a1']);
    await rig.answer(CONFIRMED, 'a1');
    expect(rig.open).toEqual(['a2']);
  });

  it('keeps a row whose deletion failed and sends it again', async () => {
    const rig = await started('a');
    rig.database.down();
    await rig.answer(CONFIRMED, 'a');
    rig.database.up();
    expect(rig.rows).toEqual(['a']);
    await rig.clock.runUntil(() => rig.open.length > 0);
    await rig.answer(CONFIRMED, 'a');
    expect(rig.sent).toEqual(['a', 'a']);
    expect(rig.rows).toEqual([]);
  });

  it('polls fast for a second after a wake, and once in about a second otherwise', async () => {
    const rig = await started();
    await rig.clock.advance(10_000);
    await rig.add('idle');
    await rig.clock.advance(40);
    expect(rig.open).toEqual([]);
    await rig.clock.runUntil(() => rig.open.length > 0, { limitMs: 1_200 });
    await rig.answer(CONFIRMED, 'idle');
    await rig.clock.advance(5_000);
    rig.relay.wake();
    await rig.clock.advance(800);
    await rig.add('woken');
    await rig.clock.advance(50);
    expect(rig.open).toEqual(['woken']);
  });

  it('stops: starts nothing new, waits for what is in flight, gives its slots back', async () => {
    const rig = await started('a1@a', 'a2@a');
    const stopped = rig.relay.stop(1_000);
    await rig.answer(CONFIRMED, 'a1');
    await rig.clock.advance(10);
    expect(await stopped).toBe(0);
    expect(rig.rows).toEqual(['a2']);
    expect(rig.open).toEqual([]);
    const signal = new AbortController().signal;
    const slots = await rig.store.outbox.lease({ owner: 'two', ttlMs: 10, busy: [], signal });
    expect(slots).toHaveLength(64);
  });

  it('ends its stop in time although a publish has no outcome', async () => {
    const rig = await started('a');
    const stopped = rig.relay.stop(300);
    await rig.clock.advance(300);
    expect(await stopped).toBe(1);
    expect(rig.rows).toEqual(['a']);
  });

  it('ends its stop in time although the store gives no answer, and leaves no statement behind', async () => {
    const rig = new RelayRig();
    let aborted = false;
    const never = (): Promise<never> => new Promise(() => {});
    rig.store.outbox.lease = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(signal.reason);
        });
      });
    rig.store.outbox.release = never;
    rig.relay.start();
    await rig.clock.advance(10);
    const stopped = rig.relay.stop(300);
    await rig.clock.advance(1_500);
    expect(await stopped).toBe(0);
    expect(aborted).toBe(true);
  });

  it('goes on when the clock was put back', async () => {
    let backMs = 0;
    const rig = new RelayRig({}, (clock) => ({
      now: () => clock.now() - backMs,
      after: (ms, run) => clock.after(ms, run),
    }));
    rig.relay.start();
    await rig.clock.advance(100);
    backMs = 3_600_000;
    // The store's clock was not: there the leases of three seconds run out.
    await rig.clock.advance(10_000);
    await rig.add('a');
    await rig.clock.advance(1_500);
    expect(rig.open).toEqual(['a']);
  });
});
