import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type Direction, Pipe, type PipeRules } from './pipe.ts';

export type { Direction } from './pipe.ts';

interface Link {
  readonly client: Socket;
  readonly server: Socket | undefined;
  readonly pipes: readonly Pipe[];
}

/**
 * A TCP proxy on a free local port that puts network faults between a client and a broker.
 *
 * `up` is client to server, `down` is server to client. Every fault holds for the connections that are open and for new
 * ones, until it is undone. Held bytes are kept in memory.
 */
export class TcpProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #rules: Record<Direction, PipeRules> = { up: noRules(), down: noRules() };
  #port = 0;
  #blackholed = false;

  /** Listens in front of `target`, a URL or `host:port`, and resolves once clients can connect. */
  static async listen(target: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(target.includes('://') ? target : `tcp://${target}`);
    const proxy = new TcpProxy({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) });
    await proxy.accept();
    return proxy;
  }

  private constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#open(client));
  }

  get port(): number {
    return this.#port;
  }

  /** Client connections that are open now. */
  get connections(): number {
    return this.#links.size;
  }

  /** The same URL with the address of the proxy. */
  url(of: string): string {
    const url = new URL(of);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  /** Bytes passed on so far in this direction. */
  bytes(direction: Direction): number {
    return this.#rules[direction].passed;
  }

  /** Holds bytes back in this direction, the end of a stream too, until {@link release}. */
  hold(direction: Direction): void {
    this.#rules[direction].held = true;
  }

  /** Lets held bytes go in their order. Default: both directions. */
  release(direction?: Direction): void {
    for (const way of direction ? [direction] : (['up', 'down'] as const)) {
      this.#rules[way].held = false;
    }
    this.#pump();
  }

  /** Delays bytes that arrive from now on in this direction; 0 ends it. */
  delay(direction: Direction, delayMs: number): void {
    this.#rules[direction].delayMs = delayMs;
  }

  /** Resets every open connection on both sides. New ones are taken. */
  cut(): void {
    for (const link of [...this.#links]) reset(link);
  }

  /**
   * Passes exactly `bytes` more in this direction, then closes that connection: its receiver gets the end of the stream
   * after the bytes, its sender a reset. Happens once.
   */
  cutAfter(direction: Direction, bytes: number): void {
    this.#rules[direction].left = bytes;
  }

  /** Takes connections and bytes and lets nothing through, ends of streams included, until {@link restore}. */
  blackhole(): void {
    this.#blackholed = true;
    for (const way of ['up', 'down'] as const) this.#rules[way].swallowed = true;
  }

  /** Ends {@link blackhole}. Connections of that time are reset, because bytes of theirs are gone. */
  restore(): void {
    if (!this.#blackholed) return;
    this.#blackholed = false;
    for (const way of ['up', 'down'] as const) this.#rules[way].swallowed = false;
    this.cut();
  }

  /** Refuses new connections (nothing listens); open ones stay. */
  refuse(): void {
    if (this.#server.listening) this.#server.close();
  }

  /** Takes new connections again on the same port. Harmless when it does already. */
  async accept(): Promise<void> {
    if (this.#server.listening) return;
    await new Promise<void>((listening, failed) => {
      this.#server.once('error', failed);
      this.#server.listen(this.#port, '127.0.0.1', () => {
        this.#server.off('error', failed);
        listening();
      });
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Resets everything and stops listening. Harmless twice. */
  async close(): Promise<void> {
    this.cut();
    if (!this.#server.listening) return;
    await new Promise((closed) => this.#server.close(closed));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(client: Socket): void {
    const server = this.#blackholed ? undefined : connect({ ...this.#target, allowHalfOpen: true });
    const pipes = [
      new Pipe(client, server, this.#rules.up),
      ...(server ? [new Pipe(server, client, this.#rules.down)] : []),
    ];
    const link = { client, server, pipes };
    this.#links.add(link);
    for (const socket of [client, server]) {
      socket?.setNoDelay(true);
      socket?.on('close', (broken) => this.#closed(link, broken));
    }
  }

  #closed(link: Link, broken: boolean): void {
    if (this.#blackholed) return;
    if (broken) reset(link);
    if (link.client.destroyed && (link.server?.destroyed ?? true)) this.#links.delete(link);
  }

  #pump(): void {
    for (const link of this.#links) for (const pipe of link.pipes) pipe.pump();
  }
}

function noRules(): PipeRules {
  return { held: false, swallowed: false, delayMs: 0, left: undefined, passed: 0 };
}

function reset(link: Link): void {
  for (const pipe of link.pipes) pipe.drop();
  if (!link.client.destroyed) link.client.resetAndDestroy();
  if (link.server && !link.server.destroyed) link.server.resetAndDestroy();
}
