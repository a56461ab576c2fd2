import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../src/errors/codes.ts';
import * as creators from '../../src/errors/create.ts';
import type { MessagingError } from '../../src/errors/messaging-error.ts';

const cause = new Error('cause');
const message = { broker: 'b', destination: 'orders', id: 'm1', type: 't', cause };
const store = { store: 'postgres', cause };

/** One call per creator, by its name. */
const samples: Readonly<Record<keyof typeof creators, () => MessagingError>> = {
  configInvalid: () => creators.configInvalid({ option: 'o', value: -1, expected: 'more' }),
  configDelayUnsupported: () =>
    creators.configDelayUnsupported({ profile: 'p', option: 'retry.jitter', reason: 'no' }),
  configDelayTooLong: () =>
    creators.configDelayTooLong({ profile: 'p', askedMs: 2_000, maxMs: 1_000 }),
  configDedupeWindow: () =>
    creators.configDedupeWindow({ consumer: 'c', windowMs: 1, neededMs: 2 }),
  configNoStore: () => creators.configNoStore({ what: 'context.tx', consumer: 'c' }),
  configDuplicateConsumer: () => creators.configDuplicateConsumer({ consumer: 'c' }),
  configUnknownDestination: () =>
    creators.configUnknownDestination({ destination: 'orders', known: ['other'] }),
  configOrderUnsupported: () =>
    creators.configOrderUnsupported({ consumer: 'c', policy: 'latest', reason: 'no store' }),
  connectUnreachable: () =>
    creators.connectUnreachable({ broker: 'b', address: 'h:1', waitedMs: 10, cause }),
  connectAuth: () => creators.connectAuth({ broker: 'b', address: 'h:1', cause }),
  connectForbidden: () => creators.connectForbidden({ broker: 'b', cause }),
  connectTopologyMissing: () =>
    creators.connectTopologyMissing({ broker: 'b', resources: ['queue q'], mode: 'verify' }),
  connectTopologyDrift: () =>
    creators.connectTopologyDrift({
      broker: 'b',
      drift: [{ resource: 'queue q', expected: 'quorum', actual: undefined }],
    }),
  connectClosed: () => creators.connectClosed({ broker: 'b', reason: 'r', cause }),
  publishUnroutable: () => creators.publishUnroutable(message),
  publishTooLarge: () => creators.publishTooLarge({ ...message, bytes: 2, maxBytes: 1 }),
  publishInvalid: () => creators.publishInvalid({ ...message, reason: 'r' }),
  publishRefused: () => creators.publishRefused({ ...message, reason: 'r' }),
  publishThrottled: () => creators.publishThrottled(message),
  publishAuth: () => creators.publishAuth(message),
  publishUnconfirmed: () => creators.publishUnconfirmed({ ...message, timeoutMs: 1 }),
  publishAborted: () => creators.publishAborted(message),
  publishClosed: () => creators.publishClosed(message),
  consumeHandlerTimeout: () =>
    creators.consumeHandlerTimeout({ consumer: 'c', timeoutMs: 10, id: 'm1' }),
  consumeIntake: () =>
    creators.consumeIntake({ broker: 'b', consumer: 'c', source: 'queue q', cause }),
  consumeCopyUnconfirmed: () =>
    creators.consumeCopyUnconfirmed({ broker: 'b', consumer: 'c', id: 'm1', copy: 'retry' }),
  settleStale: () => creators.settleStale({ broker: 'b', consumer: 'c', what: 'ack', id: 'm1' }),
  contractInvalidJson: () => creators.contractInvalidJson({ reason: 'r', bytes: 3, cause }),
  contractInvalidEnvelope: () =>
    creators.contractInvalidEnvelope({ field: 'id', value: 1, expected: 'text' }),
  contractUnknownType: () => creators.contractUnknownType({ type: 't', consumer: 'c' }),
  contractUnknownVersion: () =>
    creators.contractUnknownVersion({ type: 't', version: 3, known: [1, 2] }),
  contractInvalidData: () =>
    creators.contractInvalidData({
      type: 't',
      version: 1,
      issues: [{ path: 'a.b', text: 'too small' }],
    }),
  contractUpcastFailed: () => creators.contractUpcastFailed({ type: 't', from: 1, to: 2, cause }),
  contractNoId: () => creators.contractNoId({ id: 'unnamed:1', source: 'queue q' }),
  orderVersionMissing: () =>
    creators.orderVersionMissing({ consumer: 'c', id: 'm1', policy: 'latest' }),
  storeSchema: () => creators.storeSchema({ ...store, expected: '2', actual: 'none' }),
  storeCommitRefused: () => creators.storeCommitRefused(store),
  storeCommitUnknown: () => creators.storeCommitUnknown(store),
  storeDuplicateId: () => creators.storeDuplicateId({ ...store, id: 'm1' }),
  storeTxEnded: () => creators.storeTxEnded({ store: 'postgres', why: 'timeout' }),
  storeUnavailable: () => creators.storeUnavailable(store),
  parkUnreadable: () => creators.parkUnreadable({ reason: 'r', id: 'm1' }),
  shutdownDeadline: () => creators.shutdownDeadline({ timeoutMs: 10, left: ['2 handlers'] }),
};

const codes = Object.keys(ERROR_CODES) as ErrorCode[];
const creatorOf = (code: string): string =>
  code
    .slice('MSG_'.length)
    .toLowerCase()
    .replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

it('has exactly one creator for each code', () => {
  const expected = codes.map(creatorOf);
  expect(new Set(expected).size).toBe(codes.length);
  expect(Object.keys(creators).toSorted()).toEqual(expected.toSorted());
});

it.each(codes)('%s: its creator gives its own code, class and a readable text', (code) => {
  const create = samples[creatorOf(code) as keyof typeof samples];
  const error = create();
  expect(error.code).toBe(code);
  expect(error.failure).toBe(ERROR_CODES[code].failure);
  expect(error.message).toMatch(/^[\w[{(].{20,}[.)]$/s);
  expect(error.message).not.toMatch(/undefined|NaN|\[object|null/);
});

it('documents each code under one heading, and no other', () => {
  const page = readFileSync(
    new URL('../../../../docs/reference/errors.md', import.meta.url),
    'utf8',
  );
  const headings = [...page.matchAll(/^## (MSG_\w+)$/gm)].map(([, code]) => code);
  expect(headings.toSorted()).toEqual(codes.toSorted());
  for (const code of codes) {
    expect(page).toContain(`## ${code}\n\n${ERROR_CODES[code].summary}`);
    expect(page.split(`## ${code}\n`)[1]).toMatch(
      new RegExp(`^[^#]*Class: ${ERROR_CODES[code].failure ?? 'none'}\\.`),
    );
  }
});

it('uses only the areas of the naming rule', () => {
  const areas =
    /^MSG_(CONFIG|CONNECT|PUBLISH|CONSUME|SETTLE|CONTRACT|ORDER|STORE|PARK|SHUTDOWN)_[A-Z_]+$/;
  expect(codes.filter((code) => !areas.test(code))).toEqual([]);
});

it('keeps secrets of an address out of text and details', () => {
  for (const create of [creators.connectUnreachable, creators.connectAuth]) {
    const error = create({
      broker: 'b',
      address: 'amqps://user:hunter2/@hunter2@host:5671/v?token=hunter2',
    });
    expect(`${error.message}${JSON.stringify(error.details)}`).not.toContain('hunter2');
    expect(error.message).toContain('amqps://host:5671/v');
  }
});

it('says what is wrong in an option in one sentence with the way out', () => {
  const error = creators.configInvalid({
    option: 'retry.jitter',
    value: 7,
    expected: 'a share from 0 to 1',
    fix: 'Use 0.2.',
  });
  expect(error.message).toBe('Option retry.jitter is 7: expected a share from 0 to 1. Use 0.2.');
});
