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
  /** Present from pg 8.23: statements are sent without waiting for the answers before. */
  pipeline?: boolean;
  /** The socket below, so that statements that are sent together leave in one write. */
  readonly connection?: { readonly stream?: { cork?(): void; uncork?(): void } };
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
  readonly name?: string;
}
