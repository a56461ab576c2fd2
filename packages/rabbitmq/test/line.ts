import { connect, createServer, type Socket } from 'node:net';

/** A way to the broker that can go silent toward the client, or be cut. */
export interface Line {
  readonly url: string;
  /** From now on nothing of the broker arrives; what the client sends does. */
  hold(): void;
  cut(): void;
}

export async function openLine(url: string): Promise<Line> {
  const target = new URL(url);
  const ends: Socket[] = [];
  const servers: Socket[] = [];
  const listener = createServer((client) => {
    const server = connect(Number(target.port || 5672), target.hostname);
    for (const end of [client, server]) end.on('error', () => {});
    client.pipe(server);
    server.pipe(client);
    ends.push(client, server);
    servers.push(server);
  });
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
  const at = listener.address();
  const near = new URL(url);
  near.host = `127.0.0.1:${typeof at === 'object' ? at?.port : 0}`;
  return {
    url: near.href,
    hold: () => {
      for (const server of servers) {
        server.unpipe();
        server.pause();
      }
    },
    cut: () => {
      listener.close();
      for (const end of ends) end.destroy();
    },
  };
}
