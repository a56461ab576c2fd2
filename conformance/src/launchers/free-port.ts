import { createServer } from 'node:net';

/** Below the range from which systems take ports of outgoing connections, so that a stopped broker keeps its port. */
const FIRST_PORT = 20_000;
const PORTS = 12_000;
const TRIES = 50;

/** A TCP port on which nothing listens now. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port found in ${TRIES} tries from ${FIRST_PORT} on.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((answer) => {
    server.once('error', () => answer(false));
    server.listen(port, '0.0.0.0', () => answer(true));
  });
  if (free) await new Promise((closed) => server.close(closed));
  return free;
}
