// A change of the fleet before it is made: its text for the operator (old and new value, number of affected cards, the equivalent
// command), and the request that makes it. Commands ask for its confirmation, the dashboard shows it. The other files of this
// folder build the changes, by subject.
import type { ApiClient } from '../api/client/client.ts';
import type { Answer } from '../api/client/client-calls.ts';

/** The information for the operator before a change, and the function that makes it. */
export interface PlannedChange<Body = unknown> {
  /** Old and new value, without a full stop. */
  readonly title: string;
  /** Affected cards and consequences, as whole sentences. */
  readonly effects: readonly string[];
  /** The equivalent command. */
  readonly command: string;
  /** Throws CardpollError. */
  readonly perform: (client: ApiClient) => Promise<Answer<Body>>;
  /** The result, as one sentence without a full stop. A method, so that a list of changes may have answers of any type. */
  said(body: Body): string;
}

/** One fact per line, for a command that asks for a confirmation. */
export function planLines({ title, effects }: Pick<PlannedChange, 'title' | 'effects'>): readonly string[] {
  return [`${title}.`, ...effects];
}
