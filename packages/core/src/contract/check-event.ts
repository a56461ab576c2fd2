import { isText, MAX_NAME_CHARS, NAME_FORM } from '../envelope/field-rules.ts';
import { configInvalid } from '../errors/create.ts';
import type { EventOptions } from './contract.ts';
import type { StandardSchema } from './standard-schema.ts';

const KEYS: ReadonlySet<string> = new Set<keyof EventOptions<StandardSchema>>([
  'version',
  'destination',
  'data',
  'upcast',
]);

/** @throws MSG_CONFIG_INVALID */
export function checkEvent(type: string, options: EventOptions<StandardSchema>): void {
  if (!isText(type, MAX_NAME_CHARS)) throw invalid('type', type, NAME_FORM);
  const where = `event('${type}')`;
  for (const key of Object.keys(options)) {
    if (!KEYS.has(key)) throw invalid(where, key, `no key but ${[...KEYS].join(', ')}`);
  }
  const { version, destination, data, upcast = {} } = options;
  if (!Number.isSafeInteger(version) || version < 1) {
    throw invalid(`${where}.version`, version, 'an integer >= 1');
  }
  if (!isText(destination, MAX_NAME_CHARS)) {
    throw invalid(`${where}.destination`, destination, NAME_FORM);
  }
  if (typeof data?.['~standard']?.validate !== 'function') {
    throw invalid(`${where}.data`, data, 'a schema with the Standard Schema interface');
  }
  checkSteps(upcast, version, `${where}.upcast`);
}

/** A hole would strand the versions below it. */
function checkSteps(steps: Readonly<Record<number, unknown>>, version: number, at: string): void {
  const from = Object.keys(steps).map(Number);
  const lowest = version - from.length;
  for (const key of from) {
    if (!Number.isInteger(key) || key < Math.max(lowest, 1) || key >= version) {
      throw invalid(at, from.join(', '), `steps without a hole up to version ${version - 1}`);
    }
    if (typeof steps[key] !== 'function') throw invalid(`${at}[${key}]`, steps[key], 'a function');
  }
}

function invalid(option: string, value: unknown, expected: string): Error {
  return configInvalid({ option, value, expected });
}
