/** A bug that is put into a copy of the sources, to see that the suite turns red. */
export interface SeededBug {
  /** Unique, lower case with hyphens. */
  readonly id: string;
  /** What the code does wrong. */
  readonly title: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Occurs exactly once in the file, line breaks included. */
  readonly find: string;
  readonly replace: string;
  /** Where the bug must show. */
  readonly profile: string;
  /** Conformance cases that must fail, each of them. A variant is named as such: `S01b`. */
  readonly cases: readonly string[];
}
