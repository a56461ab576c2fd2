import { expect, it } from 'vitest';
import { parkedBy, resultOf, runDemo, SMALL } from './run-demo.ts';

/** Containers and, on a fresh machine, their image included. */
const TIMEOUT_MS = 600_000;

it('loses and doubles nothing when processes and the database are killed', {
  timeout: TIMEOUT_MS,
}, async ({ skip }) => {
  const ran = await runDemo('--broker', 'rabbitmq', '--orders', SMALL, '--json');
  if (ran.code === 2 && process.env['CI'] !== 'true') skip(ran.stderr);
  expect(ran.code, ran.stderr).toBe(0);
  const result = resultOf(ran);
  expect(result.tally).toMatchObject({
    ordersIn: 12,
    effects: 10,
    rejections: 1,
    lost: [],
    doubleEffects: 0,
  });
  expect(parkedBy(result)).toEqual({
    attempts: ['order.created/s-14'],
    invalid_contract: ['line-10', 'line-8', 'line-9'],
    permanent: ['order.created/s-5'],
  });
  expect(result.dead?.effects).toBe(1);
});
