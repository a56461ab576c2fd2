import { MemoryStoreError } from '@ackord/memory';
import { expect, it } from 'vitest';
import { transient } from '../../src/failure/failures.ts';
import { PipelineRig, type Run } from './pipeline-fixture.ts';

const AGGREGATE = { type: 'order', id: '42', version: 7 } as const;

/** Changes everything that it was given, and fails in the end as told. */
function changing(seen: string[], end: (run: number) => void): Run {
  return (message) => {
    seen.push(JSON.stringify(message));
    Object.assign(message.data, { count: 99 });
    Object.assign(message.aggregate ?? {}, { id: 'changed', version: 1_000 });
    Object.assign(message, { id: 'changed' });
    end(seen.length);
  };
}

it('hands a repeat in place the message as it came, whatever the run before changed', async () => {
  const seen: string[] = [];
  const run = changing(seen, (count) => {
    if (count < 3) throw new MemoryStoreError('again');
  });
  const rig = new PipelineRig({ run });
  expect(await rig.verdict('m', { aggregate: AGGREGATE })).toEqual({ step: 'ack' });
  expect(seen).toHaveLength(3);
  expect(seen[0]).toContain('"count":1');
  expect(new Set(seen).size).toBe(1);
});

it('judges a failed message by its envelope as it came', async () => {
  const run = changing([], () => {
    throw transient('busy');
  });
  const verdict = await new PipelineRig({ run }).verdict('m', { aggregate: AGGREGATE });
  expect(verdict).toMatchObject({ message: { id: 'm', envelope: { aggregate: AGGREGATE } } });
});

it('records the aggregate version as it came', async () => {
  const run = changing([], () => {});
  const rig = new PipelineRig({ run, consumer: { order: 'latest' } });
  await rig.take('m7', { aggregate: AGGREGATE });
  await rig.take('m8', { aggregate: { ...AGGREGATE, version: 8 } });
  expect(rig.eventsOf('message.stale')).toEqual([]);
  expect(rig.eventsOf('message.applied')).toHaveLength(2);
});
