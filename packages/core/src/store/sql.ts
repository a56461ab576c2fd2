/** The seam to a SQL transaction: a client of pg fits; others are wrapped in an object with this `query`. */
export interface SqlTx {
  query<R = Record<string, unknown>>(
    text: string,
    params?: readonly unknown[],
  ): Promise<{ readonly rows: R[]; readonly rowCount: number | null }>;
}
