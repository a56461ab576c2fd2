/** A broker or database that tests talk to, and the faults that can be put on it. */
export interface Broker {
  /** Address for clients, with user and password. It stays the same over stop and start. */
  readonly url: string;
  /** False when the address came from outside: every fault then throws {@link BrokerUnavailable}. */
  readonly owned: boolean;
  /** Stops the server in good order (SIGTERM, SIGKILL after 10 s). Its data stay. */
  stop(): Promise<void>;
  /** Starts a stopped or killed server on the same port and resolves once it answers a client. */
  start(): Promise<void>;
  /** Freezes all its processes: connections stay open, nothing answers. */
  pause(): Promise<void>;
  unpause(): Promise<void>;
  /** SIGKILL, without any chance to flush. */
  kill(): Promise<void>;
  /** Removes the container and its data; nothing happens to a broker that this process did not start. */
  remove(): Promise<void>;
}

export interface LaunchOptions {
  /** Takes a container of its own, for tests that stop, pause or kill it. Default: the shared one of the run. */
  readonly isolated?: boolean;
}

/** Why there is no broker, in words that say what to do. */
export class BrokerUnavailable extends Error {
  override readonly name = 'BrokerUnavailable';
  /** True when the caller chose brokers from outside, so that a fault case is left out by design. */
  readonly byDesign: boolean;

  constructor(
    reason: string,
    options: { readonly byDesign?: boolean; readonly cause?: unknown } = {},
  ) {
    super(reason, { cause: options.cause });
    this.byDesign = options.byDesign ?? false;
  }
}
