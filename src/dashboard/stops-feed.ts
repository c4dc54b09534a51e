// Which stops the view of stops lists: those that wait for an operator; where none does, those that were only observed; else
// the latest. Read by the feed.
import type { ApiClient } from '../api/client/client.ts';
import type { PageBody, StopBody } from '../api/client/client-bodies.ts';

export interface ListedStops extends PageBody<StopBody> {
  /** The state of all of them; null: the latest stops in any state. */
  readonly state: 'held' | 'observed' | null;
}

/** How many stops are listed. */
const LATEST = 100;

export async function readStops(client: ApiClient): Promise<ListedStops> {
  for (const state of ['held', 'observed'] as const) {
    const { body } = await client.stops({ state }, 1, LATEST);
    if (body.items.length > 0) return { ...body, state };
  }
  const { body } = await client.stops({}, 1, LATEST);
  return { ...body, state: null };
}
