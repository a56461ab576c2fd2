/** Regular expressions of resource names that a user may touch; an empty one allows nothing. */
export interface Permissions {
  readonly configure: string;
  readonly write: string;
  readonly read: string;
}

interface ListedConnection {
  readonly name: string;
  readonly user: string;
  readonly user_provided_name?: string;
}

const CALL_MS = 10_000;

/** Calls of RabbitMQ's management API that tests need, out of the band of the adapter under test. */
export class RabbitmqManagement {
  readonly #origin: string;
  readonly #authorization: string;
  readonly #amqpUrl: string;
  readonly #vhost: string;

  constructor(managementUrl: string, amqpUrl: string) {
    const { origin, username, password } = new URL(managementUrl);
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.#origin = origin;
    this.#authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
    this.#amqpUrl = amqpUrl;
    this.#vhost = encodeURIComponent(decodeURIComponent(new URL(amqpUrl).pathname.slice(1)) || '/');
  }

  /**
   * One call; `path` starts after `/api/` and `{vhost}` in it stands for the vhost of the broker's URL.
   * Resolves to the parsed answer, or `undefined` if there is none. Throws on every status that is not 2xx.
   */
  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const url = `${this.#origin}/api/${path.replaceAll('{vhost}', this.#vhost)}`;
    const response = await fetch(url, {
      method,
      headers: { authorization: this.#authorization, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(CALL_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  /**
   * Closes client connections as an operator would and resolves to their number.
   * The list is up to a second old: a connection that was just opened may be missing.
   */
  async closeConnections(
    matching: (connection: ListedConnection) => boolean = () => true,
  ): Promise<number> {
    const listed = (await this.call('GET', 'connections')) as readonly ListedConnection[];
    const chosen = listed.filter(matching);
    for (const { name } of chosen) {
      await this.call('DELETE', `connections/${encodeURIComponent(name)}`);
    }
    return chosen.length;
  }

  /** Deletes a queue with all its messages. Throws if there is none. */
  async deleteQueue(queue: string): Promise<void> {
    await this.call('DELETE', `queues/{vhost}/${encodeURIComponent(queue)}`);
  }

  /** Creates or replaces a user with these rights and resolves to the URL that logs in as it. */
  async createUser(name: string, password: string, permissions: Permissions): Promise<string> {
    const user = encodeURIComponent(name);
    await this.call('PUT', `users/${user}`, { password, tags: '' });
    await this.call('PUT', `permissions/{vhost}/${user}`, permissions);
    const url = new URL(this.#amqpUrl);
    url.username = user;
    url.password = encodeURIComponent(password);
    return url.href;
  }

  async deleteUser(name: string): Promise<void> {
    await this.call('DELETE', `users/${encodeURIComponent(name)}`);
  }
}
