/** What a query answers: the part of `pg`'s result that is read here. */
export interface SqlResult<R = Record<string, unknown>> {
  readonly rows: R[];
  readonly rowCount: number | null;
  /** First word of the command tag, for example `COMMIT`. */
  readonly command?: string;
}

/** The calls of a `pg` client that are used. */
export interface SqlClient {
  query<R = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<SqlResult<R>>;
  /** With an error: the connection is closed and not used again. */
  release(error?: Error): void;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  removeListener?(event: 'error', listener: (error: Error) => void): unknown;
  /** pg's pipeline mode, which takes no batches. */
  pipeline?: boolean;
  /** pg's protocol layer with the socket below; what has none gets its statements one after the other. */
  readonly connection?: { readonly stream?: { write?: unknown } };
}

/** Fits a `pg.Pool`. `pglitePool` gives the same over PGlite. */
export interface SqlPool {
  connect(): Promise<SqlClient>;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  removeListener?(event: 'error', listener: (error: Error) => void): unknown;
}

/** One statement with its values, `$1` first. */
export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Prepared once per connection under this name, where the client can. */
  readonly name?: string | undefined;
  /** Names of what it returns, in their order, for a batch, which asks for no description. */
  readonly columns?: readonly string[] | undefined;
}
