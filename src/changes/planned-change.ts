// A change of the fleet before it is made: what an operator reads of it (old and new value, how many cards it affects, the
// command that does the same), and the request that makes it. Commands ask for a confirmation of it, the dashboard shows it.
// The files beside this one make the changes, by what they change.
import type { ApiClient } from '../api/client/client.ts';
import type { Answer } from '../api/client/client-calls.ts';

/** What an operator is shown before a change is made, and what makes it. */
export interface PlannedChange<Body = unknown> {
  /** Old and new value, without a full stop. */
  readonly title: string;
  /** Which cards it affects, and the consequences: whole sentences. */
  readonly effects: readonly string[];
  /** The command that does the same. */
  readonly command: string;
  /** Throws CardpollError. */
  readonly perform: (client: ApiClient) => Promise<Answer<Body>>;
  /** The result, as one sentence without a full stop. A method, so that a list of changes may have answers of any kind. */
  said(body: Body): string;
}

/** One fact per line, for a command that asks for a confirmation. */
export function planLines({ title, effects }: Pick<PlannedChange, 'title' | 'effects'>): readonly string[] {
  return [`${title}.`, ...effects];
}
