import { expect, it } from 'vitest';
import { parkedBy, resultOf, runDemo, SMALL } from './run-demo.ts';

const TIMEOUT_MS = 120_000;

it('ends every line in one effect, one rejection or one parked message', {
  timeout: TIMEOUT_MS,
}, async () => {
  const ran = await runDemo('--orders', SMALL, '--json');
  expect(ran.stderr).toContain('small.jsonl:9 is not JSON');
  expect(ran.code).toBe(0);
  const result = resultOf(ran);
  expect(result.tally).toMatchObject({
    ordersIn: 12,
    injected: { again: 2, older: 1, bad: 3 },
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
  expect(result.outage).toMatch(/away/);
  // The killed commit comes again, and so do the two that were sent again.
  expect(result.tally.duplicatesDropped).toBeGreaterThanOrEqual(3);
  expect(result.tally.lateness?.earliestMs).toBeGreaterThanOrEqual(0);
});

it('fails without the Inbox and says why', { timeout: TIMEOUT_MS }, async () => {
  const { code, stdout } = await runDemo('--orders', SMALL, '--without-inbox');
  expect(code).toBe(1);
  expect(stdout).toMatch(/double effects: [1-9]/);
  expect(stdout).toContain('Without the Inbox a message that is delivered again');
});

it.each([
  [['--orders', '/nowhere/orders.jsonl'], /does not exist.*\n.*--orders FILE/],
  [['--orders', '/tmp'], /is a directory/],
  [['--orders', '/dev/null'], /holds no order. It is empty.*\n.*"orderId"/],
  [['--orders'], /argument missing.*\n.*--help/],
  [['--broker', 'pigeon'], /pigeon is unknown; known are memory and rabbitmq/],
  [['--with-inbox'], /Unknown option '--with-inbox'.*\n.*--help/],
])('refuses %j with a way out', { timeout: TIMEOUT_MS }, async (args, text) => {
  const { code, stderr } = await runDemo(...args);
  expect(stderr).toMatch(text);
  expect(stderr).not.toContain('    at ');
  expect(code).toBe(2);
});
