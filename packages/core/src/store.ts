/** Entry `@ackord/core/store`: what authors of a store need. */
export { configInvalid } from './errors/create-config.ts';
export * from './errors/create-store.ts';
export { MessagingError } from './errors/messaging-error.ts';
export type * from './store/inbox-store.ts';
export type * from './store/outbox-store.ts';
export { OUTBOX_SLOTS } from './store/outbox-store.ts';
export type * from './store/sql.ts';
export type * from './store/store.ts';
