import { INBOX_OUTBOX } from './0001-inbox-outbox.ts';

/** In order; the version of a schema is the number of those applied. Never edited once released. */
export const MIGRATIONS: readonly { readonly name: string; readonly sql: string }[] = [
  { name: '0001-inbox-outbox', sql: INBOX_OUTBOX },
];
