import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Report, type Step, StepFailed } from '../steps/report.ts';

let printed: string;

beforeEach(() => {
  printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

const step = (name: string, run: Step['run']): Step => ({ name, mend: `mend ${name}`, run });
const lastLine = (): string | undefined => printed.trimEnd().split('\n').at(-1);

it('adds tests one by one and other steps as one each', async () => {
  const report = new Report();
  const { signal } = new AbortController();
  await report.run(
    [
      step('lint', async () => undefined),
      step('unit', async () => ({ passed: 40, failed: 0, skipped: 2 })),
    ],
    signal,
  );
  expect(report.close(signal)).toBe(0);
  expect(lastLine()).toBe('41 passed, 0 failed, 2 skipped');
});

it('goes on after a failure, says what to do and ends with 1', async () => {
  const report = new Report();
  const { signal } = new AbortController();
  await report.run(
    [
      step('lint', () => Promise.reject(new StepFailed('  a.ts:1 is bad'))),
      step('unit', async () => ({ passed: 1, failed: 2, skipped: 0 })),
    ],
    signal,
  );
  expect(report.close(signal)).toBe(1);
  expect(printed).toContain('a.ts:1 is bad');
  expect(printed).toContain('FAILED lint: mend lint\nFAILED unit: mend unit\n');
  expect(lastLine()).toBe('1 passed, 3 failed, 0 skipped');
});

it('starts nothing after an abort and ends with 130', async () => {
  const report = new Report();
  const controller = new AbortController();
  const late = vi.fn<Step['run']>();
  await report.run(
    [
      step('unit', async () => {
        controller.abort();
        return { passed: 3, failed: 0, skipped: 0 };
      }),
      step('broker', late),
    ],
    controller.signal,
  );
  expect(report.close(controller.signal)).toBe(130);
  expect(late).not.toHaveBeenCalled();
  expect(lastLine()).toBe('3 passed, 0 failed, 0 skipped');
});
