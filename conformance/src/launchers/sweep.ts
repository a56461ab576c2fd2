import { hostname } from 'node:os';
import { type ContainerEngine, containerEngine } from './image.ts';

/** Every container of the tests carries these labels; `run` names the process that has to remove it. */
const TEST_LABEL = 'ackord.test';
const RUN_LABEL = 'ackord.run';

/** Labels of a container that this process starts. */
export function runLabels(): Record<string, string> {
  return { [TEST_LABEL]: '1', [RUN_LABEL]: `${hostname()}:${process.pid}` };
}

/** Removes containers whose process on this host has ended without removing them. Resolves to their number. */
export async function sweepLeftovers(engine?: ContainerEngine): Promise<number> {
  const { dockerode } = (engine ?? (await containerEngine())).container;
  const found = await dockerode.listContainers({
    all: true,
    filters: { label: [`${TEST_LABEL}=1`] },
  });
  const dead = found.filter(({ Labels }) => isDead(Labels[RUN_LABEL] ?? ''));
  for (const { Id } of dead) {
    // Another process may sweep the same container at the same moment.
    await dockerode.getContainer(Id).remove({ force: true, v: true }).catch(ignoreAbsent);
  }
  return dead.length;
}

/** Passes over "no such container" and "removal already in progress"; throws everything else. */
export function ignoreAbsent(error: unknown): void {
  const status = (error as { statusCode?: number }).statusCode;
  if (status !== 404 && status !== 409) throw error;
}

function isDead(run: string): boolean {
  const at = run.lastIndexOf(':');
  if (run.slice(0, at) !== hostname()) return false;
  try {
    process.kill(Number(run.slice(at + 1)), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
