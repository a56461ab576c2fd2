/** One creator per code: the texts live here only. */
export * from './create-config.ts';
export * from './create-connect.ts';
export * from './create-consume.ts';
export * from './create-contract.ts';
export * from './create-publish.ts';
export * from './create-store.ts';
