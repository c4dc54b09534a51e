// What `--once` prints: the overview as text or as data. Reads each source of the overview one time.
import type { ApiClient } from '../api/client/client.ts';
import { messageOf } from '../platform/errors.ts';
import { renderLines } from './frames.tsx';
import { reduce } from './model.ts';
import { readSource } from './snapshot-feed.ts';
import { initialState, type State } from './state.ts';
import { stillLines } from './views/frame.ts';

interface Once {
  readonly data: OnceData;
  readonly state: State;
}

/** A part is null where the daemon did not answer; `problems` has the reasons. */
interface OnceData {
  readonly overview: State['data']['overview']['body'];
  readonly history: State['data']['history']['body'];
  readonly firing: State['data']['firing']['body'];
  readonly cleanup: State['data']['cleanup']['body'];
  readonly problems: readonly string[];
}

/** Throws CardpollError when the daemon does not answer with an overview. */
export async function readOnce(client: ApiClient, given: Parameters<typeof initialState>[0]): Promise<Once> {
  const problems: string[] = [];
  const atMs = given.nowMs;
  const parts = (['history', 'firing', 'cleanup'] as const).map((source) => readSource(client, source));
  const [first, rest] = await Promise.all([readSource(client, 'overview'), Promise.allSettled(parts)]);
  let state = reduce(initialState(given), { type: 'received', reading: first, atMs });
  for (const one of rest) {
    if (one.status === 'fulfilled') state = reduce(state, { type: 'received', reading: one.value, atMs });
    else problems.push(messageOf(one.reason));
  }
  const { overview, history, firing, cleanup } = state.data;
  const bodies = { history: history.body, firing: firing.body, cleanup: cleanup.body };
  return { state, data: { overview: overview.body, ...bodies, problems } };
}

export function onceText({ state, data }: Once): string {
  const lines = [
    ...renderLines(stillLines(state), state.columns),
    ...data.problems.map((problem) => `not known: ${problem}`),
  ];
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}
