// A daemon of a bench that polls every card at one interval, as fast as the limits allow. Used by the benches of the whole product.
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { waitFor } from '../support/wait-for.ts';
import { getJson, putJson } from './stack.ts';

/** Those of a new database. */
export const CONFIG_IDS = [1, 2, 3, 4];

interface Schedule {
  readonly cards: number;
  /** max_concurrency of each task type. */
  readonly limit: number;
  readonly intervalSeconds: number;
  /** Default 120 s. */
  readonly withinMs?: number;
}

/** Sets limits and intervals, and waits until every ring has all cards. @param daemonUrl without a path */
export async function scheduleAll(
  daemonUrl: string,
  { cards, limit, intervalSeconds, withinMs = 120_000 }: Schedule,
): Promise<void> {
  const admin = `${daemonUrl}/api/admin`;
  for (const type of TASK_TYPES)
    await putJson(`${admin}/polling-concurrency/${type}`, { max_concurrency: limit });
  for (const id of CONFIG_IDS)
    await putJson(`${admin}/polling-configs/${id}`, { interval_seconds: intervalSeconds });
  await waitFor(
    async () => {
      const { items } = await getJson<{ items: Array<{ scheduled_cards: number }> }>(
        `${admin}/polling-stats/queues`,
      );
      return items.every((item) => item.scheduled_cards === cards);
    },
    { timeoutMs: withinMs, everyMs: 100, what: 'all cards to be scheduled' },
  );
}
