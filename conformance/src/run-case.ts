import { randomUUID } from 'node:crypto';
import type { ConformanceCase } from './case.ts';
import { CaseContext } from './case-context.ts';
import { judge } from './checker/gather.ts';
import type { Databases } from './database/case-database.ts';
import { printHistory } from './history/print.ts';
import { LostPromises } from './lost-promises.ts';
import type { BrokerRun, Profile } from './profile.ts';

const DEFAULT_TIMEOUT_MS = 30_000;

/** What the cases of a profile share. */
export interface Ground {
  readonly profile: Profile;
  readonly broker: BrokerRun;
  readonly databases: Databases;
}

/**
 * Runs one case and judges it; resolves to its figures. An error carries the history in its text.
 * Its deadline starts when the case does, not while it waits for a database.
 */
export async function runCase(
  { profile, broker, databases }: Ground,
  each: ConformanceCase,
): Promise<Readonly<Record<string, number>>> {
  const namespace = `${each.id.toLowerCase()}_${randomUUID().slice(0, 6)}`;
  const database = await databases.open(namespace);
  const caseBroker = await broker.open(namespace);
  const abort = new AbortController();
  const parts = { profile, namespace, database, broker: caseBroker, signal: abort.signal };
  const context = new CaseContext(parts);
  const lost = new LostPromises();
  try {
    await within(each, context, abort);
    await context.cast.close();
    const violations = await judge(context, lost.texts);
    if (violations.length > 0) throw new Error(`The checker found:\n  ${violations.join('\n  ')}`);
    return context.figures;
  } catch (error) {
    abort.abort(error);
    throw withHistory(error, each, context);
  } finally {
    lost.stop();
    await context.cast.close();
    await caseBroker.close();
    await database.close();
  }
}

async function within(
  each: ConformanceCase,
  context: CaseContext,
  abort: AbortController,
): Promise<void> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = each;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`${each.id} did not end within ${timeoutMs} ms.`);
      abort.abort(error);
      reject(error);
    }, timeoutMs);
  });
  const run = each.run(context);
  // After the deadline nobody waits for it.
  run.catch(() => undefined);
  try {
    await Promise.race([run, late]);
  } finally {
    clearTimeout(timer);
  }
}

function withHistory(thrown: unknown, { id }: ConformanceCase, context: CaseContext): Error {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const title = `History of ${id} on ${context.profile.name} (${context.namespace})`;
  error.message += `\n\n${title}:\n${printHistory(context.history)}\n`;
  return error;
}
