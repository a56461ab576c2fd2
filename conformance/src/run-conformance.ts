import { afterAll, describe, it } from 'vitest';
import type { ConformanceCase } from './case.ts';
import type { Databases } from './database/case-database.ts';
import { PgliteDatabases } from './database/pglite-databases.ts';
import { PostgresDatabases } from './database/postgres-databases.ts';
import { type Launched, launch } from './launchers/launch.ts';
import { type Planned, planCases } from './plan-cases.ts';
import type { Profile } from './profile.ts';
import { type Verdict, writeResult } from './results.ts';
import { type Ground, runCase } from './run-case.ts';

/** PGlites of a file; each takes about 300 MB. */
const PGLITES = 3;
/** Generous: a case has its own deadline, which does not count the wait for a database or a first image. */
const VITEST_TIMEOUT_MS = 900_000;

/**
 * Registers the cases as tests of one profile: side by side where they can, then those that stop
 * their servers one by one on servers of their own, then those that measure time, each by itself.
 *
 * `ACKORD_PROFILE` and `ACKORD_CASE` (ids with commas between) choose. The verdicts of a whole run go to `results/`.
 */
export function runConformance(profile: Profile, cases: readonly ConformanceCase[]): void {
  const { ACKORD_PROFILE: wanted, ACKORD_CASE: chosenIds } = process.env;
  if (wanted && wanted !== profile.name) {
    describe(profile.name, () => it.skip('was not chosen'));
    return;
  }
  const ids = chosenIds?.split(',') ?? [];
  // `S01` chooses its variants `S01b`, … too.
  const planned = planCases(profile, cases).filter(
    ({ each }) => ids.length === 0 || ids.some((id) => each.id.startsWith(id)),
  );
  const verdicts: Record<string, Verdict> = {};
  const pglites = new PgliteDatabases(PGLITES);
  describe(profile.name, () => {
    if (planned.length === 0) it.skip('has none of the chosen cases');
    const groups = (['shared', 'isolated', 'alone'] as const).map((group) => ({
      group,
      chosen: planned.filter((each) => each.group === group),
    }));
    for (const { group, chosen } of groups) {
      const ground = new SharedGround({ profile, isolated: group === 'isolated', pglites });
      register(ground, group, chosen, verdicts);
    }
    afterAll(async () => {
      await pglites.close();
      if (ids.length === 0) writeResult({ profile: profile.name, cases: verdicts });
    }, VITEST_TIMEOUT_MS);
  });
}

function register(
  ground: SharedGround,
  group: Planned['group'],
  planned: readonly Planned[],
  verdicts: Record<string, Verdict>,
): void {
  if (planned.length === 0) return;
  // A wrapper without a name of its own would stand in the names of the tests.
  const each = group === 'shared' ? it.concurrent : it;
  for (const plan of planned) {
    const { id, title } = plan.each;
    each(`${id} ${title}`, { timeout: VITEST_TIMEOUT_MS }, async ({ skip }) => {
      if (plan.skip !== undefined) {
        verdicts[id] = { title, verdict: 'skipped', reason: plan.skip };
        skip(plan.skip);
      }
      const absent = await ground.absent();
      if (absent !== undefined) {
        verdicts[id] = { title, verdict: 'absent', reason: absent };
        skip(absent);
      }
      await judged(await ground.get(), plan, verdicts);
    });
  }
  afterAll(() => ground.close(), VITEST_TIMEOUT_MS);
}

async function judged(
  ground: Ground,
  { each, deviation }: Planned,
  verdicts: Record<string, Verdict>,
): Promise<void> {
  const { title, id } = each;
  try {
    const figures = await runCase(ground, each);
    verdicts[id] = {
      title,
      verdict: deviation === undefined ? 'passed' : 'failed',
      ...(Object.keys(figures).length > 0 && { figures }),
    };
  } catch (error) {
    verdicts[id] = { title, verdict: 'failed' };
    if (deviation === undefined) throw error;
    verdicts[id] = { title, verdict: 'deviates', reason: deviation };
    return;
  }
  if (deviation !== undefined)
    throw new Error(`${id} passes, but a deviation is declared: ${deviation}`);
}

interface GroundOptions {
  readonly profile: Profile;
  readonly isolated: boolean;
  /** Of the whole file: a PGlite has no server that a case could stop for others. */
  readonly pglites: Databases;
}

interface Started extends Ground {
  remove(): Promise<void>;
}

/** Servers that the cases of a group share, started by the first of them that runs. */
class SharedGround {
  readonly #options: GroundOptions;
  #started: Promise<Launched<Started>> | undefined;

  constructor(options: GroundOptions) {
    this.#options = options;
  }

  /** Why there are no servers; undefined: there are. */
  async absent(): Promise<string | undefined> {
    return (await this.#launched()).absent;
  }

  async get(): Promise<Ground> {
    const { broker, absent } = await this.#launched();
    if (broker === undefined) throw new Error(absent);
    return broker;
  }

  async close(): Promise<void> {
    await (await this.#started)?.broker?.remove();
  }

  #launched(): Promise<Launched<Started>> {
    this.#started ??= launch(() => this.#start());
    return this.#started;
  }

  async #start(): Promise<Started> {
    const { profile, isolated, pglites } = this.#options;
    const broker = await profile.start({ isolated });
    if (profile.database === 'pglite') {
      return { profile, broker, databases: pglites, remove: () => broker.close() };
    }
    const databases = await PostgresDatabases.start({ isolated });
    const remove = async (): Promise<void> => {
      await databases.close();
      await broker.close();
    };
    return { profile, broker, databases, remove };
  }
}
