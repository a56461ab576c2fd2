import { expect } from 'vitest';
import type { ConformanceCase } from '../case.ts';

export const badCredentials: ConformanceCase = {
  id: 'H09',
  title: 'bad credentials end the start with their own error, after one try',
  async run(ctx) {
    const intruder = await ctx.startBus({}, { start: false, as: 'intruder' });
    const startMs = Date.now();
    const error = await intruder.start().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'MSG_CONNECT_AUTH', failure: 'permanent' });
    expect(String(error)).not.toContain('let-me-in');
    // The longest start would be 20 s.
    expect(Date.now() - startMs).toBeLessThan(10_000);
    expect(ctx.history.events('connection.failed')).toEqual([]);
    expect(ctx.history.events('connection.opened')).toEqual([]);
    expect(intruder.bus.health()).toMatchObject({ status: 'unhealthy' });
    expect(await ctx.publishFrom(intruder, ctx.order())).toMatchObject({
      code: 'MSG_PUBLISH_CLOSED',
    });

    // Others are not hurt.
    await ctx.startBus();
    const id = await ctx.publish();
    await ctx.settled(id);
  },
};
