import { publishBugs } from './publish-bugs.ts';
import { retryBugs } from './retry-bugs.ts';
import type { SeededBug } from './seeded-bug.ts';
import { settleBugs } from './settle-bugs.ts';
import { storeBugs } from './store-bugs.ts';

/** Every seeded bug. */
export const SEEDED_BUGS: readonly SeededBug[] = [
  ...publishBugs,
  ...settleBugs,
  ...retryBugs,
  ...storeBugs,
];
