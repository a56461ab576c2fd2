/** Name of the store in errors and messages. */
export const STORE = 'postgres';
