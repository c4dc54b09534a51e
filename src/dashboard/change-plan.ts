// What an operator is shown before a change is made.
export interface ChangePlan {
  readonly title: string;
  /** Which cards it affects, and the consequences. */
  readonly effects: readonly string[];
  /** The command that does the same. */
  readonly command: string;
}
