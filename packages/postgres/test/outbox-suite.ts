import { OUTBOX_SLOTS } from '@ackord/core/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addRows,
  asTx,
  fetchRows,
  hashSlotOf,
  lease,
  never,
  openRig,
  outgoing,
  type Rig,
  type Server,
} from './rig.ts';

/** What the port promises of the outbox, on any server. */
export function outboxSuite(server: () => Server): void {
  describe('outbox', () => {
    let rig: Rig;
    beforeEach(async () => {
      rig = await openRig(server());
    });
    afterEach(() => rig.store.close());
    const fenced = (
      row: { seq: string; slot: number },
      leases: Awaited<ReturnType<typeof lease>>,
    ) => ({
      seq: row.seq,
      slot: row.slot,
      epoch: leases.find((l) => l.slot === row.slot)?.epoch ?? -1,
    });

    it('gives back exactly what was added, in writing order', async () => {
      const full = outgoing('b', {
        key: 'order:1',
        correlationId: 'c',
        occurredAtMs: 1_784_628_000_123,
        body: new Uint8Array([0, 255, 10]),
      });
      await addRows(rig, full, outgoing('a'));
      const [first, second] = await fetchRows(rig, await lease(rig, 'r1'));
      expect({ ...first, body: new Uint8Array(first?.body ?? []) }).toEqual({
        ...full,
        seq: expect.stringMatching(/^\d+$/),
        slot: hashSlotOf('order:1'),
        createdAtMs: expect.any(Number),
      });
      expect(second?.messageId).toBe('a');
      expect(second).not.toHaveProperty('key');
    });

    it('takes many rows in one call and honours limit, brokers and except', async () => {
      const ids = Array.from({ length: 450 }, (_, i) => `m${i}`);
      await addRows(rig, ...ids.map((id) => outgoing(id)));
      const leases = await lease(rig, 'r1');
      const rows = await fetchRows(rig, leases, { limit: 450 });
      expect(rows.map((r) => r.messageId)).toEqual(ids);
      const except = rows.slice(0, 5).map((r) => r.seq);
      expect((await fetchRows(rig, leases, { limit: 3, except })).map((r) => r.messageId)).toEqual([
        'm5',
        'm6',
        'm7',
      ]);
      expect(await fetchRows(rig, leases, { brokers: ['other'] })).toEqual([]);
    });

    it('fills the limit from one busy key too', async () => {
      const ids = Array.from({ length: 120 }, (_, i) => `m${i}`);
      await addRows(rig, ...ids.map((id) => outgoing(id, { key: 'hot' })), outgoing('z'));
      const rows = await fetchRows(rig, await lease(rig, 'r1'), { limit: 100 });
      expect(rows.map((r) => r.messageId)).toEqual(ids.slice(0, 100));
    });

    it('rejects an id that is there for the same broker and target, not for another target', async () => {
      await addRows(rig, outgoing('m1'), outgoing('m1', { target: 'x:audit' }));
      await expect(addRows(rig, outgoing('m1'))).rejects.toMatchObject({
        code: 'MSG_STORE_DUPLICATE_ID',
      });
    });

    it('finds the repeated id inside the error of an adapter', async () => {
      await addRows(rig, outgoing('m1'));
      const client = await rig.pool.connect();
      const wrapping = {
        query: (text: string, values?: unknown[]) =>
          client.query(text, values).catch((cause: unknown) => {
            throw new Error('Failed query', { cause });
          }),
      };
      await expect(rig.store.outbox.add(asTx(wrapping), [outgoing('m1')])).rejects.toMatchObject({
        code: 'MSG_STORE_DUPLICATE_ID',
      });
      client.release();
    });

    it('removes what was confirmed, and nothing for a frozen owner whose slots were taken over', async () => {
      await addRows(rig, outgoing('m1'));
      const old = await lease(rig, 'frozen', { ttlMs: 1 });
      const [row] = await fetchRows(rig, await lease(rig, 'frozen', { ttlMs: 60_000 }));
      await rig.sql(`update {schema}.outbox_slots set expires_at = now() - interval '1 s'`);
      await rig.sql(`update {schema}.outbox_relays set expires_at = now() - interval '1 s'`);
      const taken = await lease(rig, 'heir');
      expect(taken).toHaveLength(OUTBOX_SLOTS);
      if (!row) throw new Error('no row');
      expect(await rig.store.outbox.remove([fenced(row, old)], never)).toEqual([]);
      expect(
        await rig.store.outbox.refuse(
          fenced(row, old),
          { kind: 'unroutable', text: '', blocks: true },
          never,
        ),
      ).toBe(false);
      expect(await fetchRows(rig, old)).toEqual([]);
      expect(await rig.store.outbox.remove([fenced(row, taken)], never)).toEqual([row.seq]);
      expect(await fetchRows(rig, taken)).toEqual([]);
    });

    it('does not take over a live lease, and raises the epoch of an expired one', async () => {
      const first = await lease(rig, 'a');
      expect(first).toHaveLength(OUTBOX_SLOTS);
      expect(await lease(rig, 'b')).toEqual([]);
      await rig.sql(
        `update {schema}.outbox_slots set expires_at = now() - interval '1 s' where slot < 10`,
      );
      const second = await lease(rig, 'b');
      expect(second.map((l) => l.slot)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(second[0]?.epoch).toBe((first[0]?.epoch ?? 0) + 1);
    });

    it.each([
      [2, [32, 32]],
      [3, [20, 22, 22]],
    ])('shares the slots fairly among %i relays', async (count, shares) => {
      const owners = Array.from({ length: count }, (_, i) => `relay${i}`);
      let held: number[][] = [];
      for (let round = 0; round < 3; round += 1) {
        held = [];
        for (const owner of owners) held.push((await lease(rig, owner)).map((l) => l.slot));
      }
      expect(held.map((h) => h.length).sort()).toEqual(shares);
      expect(new Set(held.flat()).size).toBe(OUTBOX_SLOTS);
    });

    it('keeps busy slots although they are above the share', async () => {
      await lease(rig, 'a');
      await lease(rig, 'b');
      const busy = Array.from({ length: 50 }, (_, i) => OUTBOX_SLOTS - 1 - i);
      const held = (await lease(rig, 'a', { busy })).map((l) => l.slot);
      expect(held.toSorted((x, y) => y - x)).toEqual(busy);
      const rows = await rig.sql(
        `select slot from {schema}.outbox_slots where owner = 'a' and expires_at > now() order by slot desc`,
      );
      expect(rows.map((row) => row['slot'])).toEqual(busy);
    });

    it('gives all slots back on release', async () => {
      await lease(rig, 'a');
      await rig.store.outbox.release('a');
      expect(await lease(rig, 'b')).toHaveLength(OUTBOX_SLOTS);
    });

    it('keeps a refused row, holds back the later ones of its key only, and retries under the same id', async () => {
      await addRows(
        rig,
        outgoing('k1', { key: 'k' }),
        outgoing('k2', { key: 'k' }),
        outgoing('other', { key: 'l' }),
        outgoing('k3', { key: 'k', target: 'x:audit' }),
      );
      const leases = await lease(rig, 'a');
      const [row] = await fetchRows(rig, leases);
      if (!row) throw new Error('no row');
      expect(
        await rig.store.outbox.refuse(
          fenced(row, leases),
          { kind: 'unroutable', text: 'no queue', blocks: true },
          never,
        ),
      ).toBe(true);
      expect((await fetchRows(rig, leases)).map((r) => r.messageId)).toEqual(['other', 'k3']);
      expect(await rig.store.outbox.depth(never)).toMatchObject({
        ready: 3,
        refused: 1,
        oldestAtMs: expect.any(Number),
      });
      expect(await rig.store.outbox.retryRefused({ ids: ['else'] })).toBe(0);
      expect(await rig.store.outbox.retryRefused({ ids: ['k1'] })).toBe(1);
      expect((await fetchRows(rig, leases)).map((r) => r.messageId)).toEqual([
        'k1',
        'k2',
        'other',
        'k3',
      ]);
    });

    it('lets later rows pass a refused one that does not block', async () => {
      await addRows(rig, outgoing('k1', { key: 'k' }), outgoing('k2', { key: 'k' }));
      const leases = await lease(rig, 'a');
      const [row] = await fetchRows(rig, leases);
      if (!row) throw new Error('no row');
      await rig.store.outbox.refuse(
        fenced(row, leases),
        { kind: 'invalid', text: '', blocks: false },
        never,
      );
      expect((await fetchRows(rig, leases)).map((r) => r.messageId)).toEqual(['k2']);
    });

    it('says nothing waits when nothing waits', async () => {
      expect(await rig.store.outbox.depth(never)).toEqual({ ready: 0, refused: 0 });
    });

    it('numbers the versions of an aggregate from 1, per destination', async () => {
      const client = await rig.pool.connect();
      const of = { destination: 'orders', type: 'order', id: '1' };
      const next = (more: object = {}) =>
        rig.store.outbox.nextVersion(asTx(client), { ...of, ...more });
      expect([await next(), await next(), await next({ destination: 'audit' })]).toEqual([1, 2, 1]);
      client.release();
    });
  });
}
