/** A signal that aborts when the process is asked to end, so that what was started can be removed first. */
export function interrupt(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // A terminal sends it to every process of the group and tools/run.mjs passes it on: it can come twice.
    process.on(name, () => controller.abort());
  }
  return controller.signal;
}
