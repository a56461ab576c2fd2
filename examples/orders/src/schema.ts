import { migrate, type SqlPool } from '@ackord/postgres';
import { inTransaction } from './transaction.ts';

/** Pieces of each article at the start. */
export const STOCK: Readonly<Record<string, number>> = {
  'book-17': 400,
  'cup-3': 300,
  'lamp-8': 200,
  'pen-1': 500,
  'poster-5': 60,
  'vase-2': 12,
};

// Reservations and rejections have no key on purpose: the Inbox alone keeps them single, and a
// second one must be there to be counted.
const TABLES = `
create table orders (
  id text primary key,
  sku text not null,
  count integer not null,
  status text not null default 'created'
);
create table stock (
  sku text primary key,
  available integer not null,
  reserved integer not null default 0 check (reserved <= available)
);
create table reservations (order_id text not null, sku text not null, count integer not null);
create table rejections (order_id text not null, sku text not null);
`;

/** The library's tables and those of the two services, in an empty database. */
export async function createSchema(pool: SqlPool): Promise<void> {
  await migrate(pool);
  await inTransaction(pool, async (tx) => {
    await tx.query(TABLES);
    await tx.query(
      'insert into stock (sku, available) select * from unnest($1::text[], $2::int[])',
      [Object.keys(STOCK), Object.values(STOCK)],
    );
  });
}
