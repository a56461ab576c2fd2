import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TcpProxy } from '../../src/proxy/tcp-proxy.ts';

let echo: Server;
let proxy: TcpProxy;
let received: string;
let serverEnds: number;
const clients: Socket[] = [];

beforeEach(async () => {
  received = '';
  serverEnds = 0;
  echo = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received += chunk.toString();
      socket.write(chunk);
    });
    socket.on('end', () => {
      serverEnds += 1;
    });
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await TcpProxy.listen(`127.0.0.1:${(echo.address() as AddressInfo).port}`);
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.close();
  await new Promise((closed) => echo.close(closed));
});

interface Client {
  readonly socket: Socket;
  readonly seen: { text: string; closed: string | undefined };
}

async function client(): Promise<Client> {
  const socket = connect(proxy.port, '127.0.0.1');
  clients.push(socket);
  const seen: Client['seen'] = { text: '', closed: undefined };
  let code = 'end';
  socket.on('data', (chunk) => {
    seen.text += chunk.toString();
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    code = error.code ?? 'error';
  });
  socket.on('close', () => {
    seen.closed = code;
  });
  await once(socket, 'connect');
  return { socket, seen };
}

it('passes bytes both ways and counts them', async () => {
  const { socket, seen } = await client();
  socket.write('hello');
  await expect.poll(() => seen.text).toBe('hello');
  expect([proxy.bytes('up'), proxy.bytes('down')]).toEqual([5, 5]);
});

it('passes a megabyte unchanged under back-pressure', async () => {
  const { socket, seen } = await client();
  const text = 'abcdefgh'.repeat(131_072);
  socket.end(text);
  await expect.poll(() => seen.text.length).toBe(text.length);
  expect(seen.text === text).toBe(true);
});

it('puts its address into a URL and leaves the rest', () => {
  expect(proxy.url('amqp://guest:a%2Fb@elsewhere:5672/v?heartbeat=5')).toBe(
    `amqp://guest:a%2Fb@127.0.0.1:${proxy.port}/v?heartbeat=5`,
  );
});

it('holds answers back and releases them in order', async () => {
  const { socket, seen } = await client();
  proxy.hold('down');
  socket.write('one ');
  await expect.poll(() => received).toBe('one ');
  socket.write('two');
  await expect.poll(() => received).toBe('one two');
  expect(seen.text).toBe('');
  proxy.release();
  await expect.poll(() => seen.text).toBe('one two');
});

it('holds requests back, their end too', async () => {
  const { socket } = await client();
  proxy.hold('up');
  socket.end('late');
  await once(socket, 'finish');
  const other = await client();
  expect(other.socket.readyState).toBe('open');
  expect([received, serverEnds]).toEqual(['', 0]);
  proxy.release('up');
  await expect.poll(() => [received, serverEnds]).toEqual(['late', 1]);
});

it('cuts open connections with a reset and takes new ones', async () => {
  const first = await client();
  first.socket.write('x');
  await expect.poll(() => first.seen.text).toBe('x');
  proxy.cut();
  await expect.poll(() => first.seen.closed).toBe('ECONNRESET');
  expect(proxy.connections).toBe(0);
  const second = await client();
  second.socket.write('y');
  await expect.poll(() => second.seen.text).toBe('y');
});

it('cuts after an exact number of bytes up: the server has them, the client a reset', async () => {
  const { socket, seen } = await client();
  proxy.cutAfter('up', 4);
  socket.write('123456');
  await expect.poll(() => seen.closed).toBe('ECONNRESET');
  await expect.poll(() => [received, serverEnds]).toEqual(['1234', 1]);
  expect(seen.text).toBe('');
  await expect.poll(() => proxy.connections).toBe(0);
});

it('cuts after an exact number of bytes down: the client has them', async () => {
  const { socket, seen } = await client();
  proxy.cutAfter('down', 2);
  socket.write('123456');
  await expect.poll(() => seen.closed).toBeDefined();
  expect([received, seen.text]).toEqual(['123456', '12']);
});

it('swallows everything in a black hole and resets those connections at its end', async () => {
  const old = await client();
  old.socket.write('a');
  await expect.poll(() => old.seen.text).toBe('a');
  proxy.blackhole();
  const late = await client();
  old.socket.write('b');
  late.socket.write('c');
  await expect.poll(() => late.socket.bytesWritten).toBe(1);
  expect([received, old.seen.closed, late.seen.closed]).toEqual(['a', undefined, undefined]);
  proxy.restore();
  await expect
    .poll(() => [old.seen.closed, late.seen.closed])
    .toEqual(['ECONNRESET', 'ECONNRESET']);
  const fresh = await client();
  fresh.socket.write('d');
  await expect.poll(() => fresh.seen.text).toBe('d');
  expect(received).toBe('ad');
});

it('refuses new connections, keeps open ones, accepts again on the same port', async () => {
  const { socket, seen } = await client();
  const { port } = proxy;
  proxy.refuse();
  await expect(client()).rejects.toThrow(/ECONNREFUSED/);
  socket.write('still here');
  await expect.poll(() => seen.text).toBe('still here');
  await proxy.accept();
  expect(proxy.port).toBe(port);
  await client();
});

it('delays one direction by at least the time asked for', async () => {
  const { socket, seen } = await client();
  proxy.delay('down', 60);
  const startedAt = performance.now();
  socket.write('slow');
  await expect.poll(() => seen.text, { interval: 2 }).toBe('slow');
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(59);
});

it('resets the client when the target is down', async () => {
  await new Promise((closed) => echo.close(closed));
  const { seen } = await client();
  await expect.poll(() => seen.closed).toBe('ECONNRESET');
  echo.listen(0);
});
