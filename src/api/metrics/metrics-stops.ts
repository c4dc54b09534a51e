// Metrics of the stops of cards, of the whole fleet. Missing while the database does not answer. Used by metrics.ts.
import { STOP_MODES } from '../../domain/stops/stop.ts';
import type { Overview } from '../../operations/stats/stats-report.ts';
import type { Page } from './metrics-page.ts';

export function addStops(page: Page, { stops, healthReasons }: Overview): void {
  const mode = page.gauge('stops_mode', '1 for the mode of stops in force', ['mode']);
  const done = page.gauge('stops_done', 'Stops of the last hour and the last day', ['window']);
  const budget = page.gauge('stops_budget', 'Stops allowed in an hour and in a day', ['window']);
  const resumed = page.gauge('stops_resumed', 'Cards resumed in the last day', ['window']);
  // Nothing of it is known, or all of it.
  if (stops.mode === null) return;
  for (const one of STOP_MODES) mode.set({ mode: one }, one === stops.mode ? 1 : 0);
  done.set({ window: 'hour' }, stops.doneHour ?? 0);
  done.set({ window: 'day' }, stops.doneDay ?? 0);
  // Missing without a limit.
  if (stops.budgetHour !== null) budget.set({ window: 'hour' }, stops.budgetHour);
  if (stops.budgetDay !== null) budget.set({ window: 'day' }, stops.budgetDay);
  resumed.set({ window: 'day' }, stops.resumedDay ?? 0);
  page.gauge('stops_held', 'Stops that wait for an operator').set(stops.held ?? 0);
  page.gauge('stops_observed', 'Stops that mode observe did not make').set(stops.observed ?? 0);
  page
    .gauge('stops_unconfirmed', 'Cards that still run although the gateway acknowledged their stop')
    .set(stops.unconfirmed ?? 0);
  page
    .gauge('usage_jump', '1 while the readings of the fleet grow too fast to be believed')
    .set(healthReasons.some(({ code }) => code === 'usage_jump') ? 1 : 0);
}
