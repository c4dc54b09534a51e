// The state of the fleet in one line. Used by the demo, which prints one every two seconds.
import type { OverviewBody } from '../../api/client.ts';
import type { Style } from './style.ts';

export function statusLine(overview: OverviewBody, style: Style): string {
  const health = style.health(overview.health);
  const { init } = overview;
  const loading = init.status === 'completed' ? '' : `  init ${init.status} ${init.percent} %`;
  const tasks = overview.tasks.map((task) => {
    const success = task.success_rate === null ? '-' : `${task.success_rate.toFixed(1)} %`;
    const rate = `${task.rate_per_second.toFixed(1)}/s`;
    return `${task.task_type} queue ${task.queue_length} running ${task.in_flight}/${task.concurrency.max} ${rate} ok ${success}`;
  });
  const cards = `${style.number(overview.cards_total).text} cards`;
  return `${style.paint(health.text, health.colour)}  ${cards}${loading}  ${tasks.join('  |  ')}\n`;
}
