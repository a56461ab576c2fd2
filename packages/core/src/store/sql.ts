/** The seam to a SQL transaction: fits pg, Kysely, Drizzle, Prisma, Knex and TypeORM adapters. */
export interface SqlTx {
  query<R = Record<string, unknown>>(
    text: string,
    params?: readonly unknown[],
  ): Promise<{ readonly rows: R[]; readonly rowCount: number | null }>;
}
