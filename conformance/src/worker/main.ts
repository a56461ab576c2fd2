// A bus in a process of its own: `node main.ts <WorkerConfig as JSON>`. It ends when its standard input does.
import { writeSync } from 'node:fs';
import type { Driver } from '@ackord/core/driver';
import { buildBus } from '../bus-spec.ts';
import { poolOf } from '../database/postgres-databases.ts';
import { Gate } from '../gate.ts';
import { type Entry, seen } from '../history/entry.ts';
import { StopPoint } from '../process/process-spec.ts';
import type { WorkerConfig, WorkerLine } from './config.ts';

const config = JSON.parse(process.argv[2] ?? '') as WorkerConfig;
const { name: who, namespace, schema, delaysMs, spec } = config;
const stopPoint = new StopPoint(spec);
const module = (await import(config.driver.module)) as Record<string, (options: unknown) => Driver>;
const makeDriver = module[config.driver.export];
if (makeDriver === undefined)
  throw new Error(`${config.driver.module} has no ${config.driver.export}`);

const pool = poolOf(config.databaseUrl, 8);
const bus = buildBus(spec, {
  driver: makeDriver(config.driver.options),
  pool,
  namespace,
  schema,
  delaysMs,
  gate: new Gate(),
  record: (entry) => tell({ ...entry, atMs: Date.now(), who }),
  intercept: async (step, info) => {
    const { messageId: id, consumer = '', attempt = 0 } = info;
    tell({ what: 'step', step, id, consumer, attempt, atMs: Date.now(), who });
    const stop = stopPoint.at(step, info);
    if (stop === undefined) return;
    write({ is: 'reached' });
    if (stop === 'die') process.kill(process.pid, 'SIGKILL');
    await new Promise(() => undefined);
  },
});
bus.on((event) => tell({ what: 'event', event: seen(event), atMs: Date.now(), who }));

process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
process.on('SIGTERM', () => {
  void bus
    .close({ timeout: '5s' })
    .then(() => pool.end())
    .then(() => process.exit(0));
});
await bus.start();
write({ is: 'ready' });

function tell(entry: Entry): void {
  write({ is: 'entry', entry });
}

/** Written at once: what a process did before its SIGKILL must be known. */
function write(line: WorkerLine): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      // The pipe is full: the reader is busy.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}
