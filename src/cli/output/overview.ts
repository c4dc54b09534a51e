// The fleet at a glance: health with its reasons and what to type, capacity, then the task types. Used by the stats
// command. Shows what the API says; computes nothing.
import type { HealthReasonBody, OverviewBody } from '../../api/client.ts';
import { taskTable } from './stats-tables.ts';
import type { Style } from './style.ts';

/** On a terminal heading, reasons and a table; behind a pipe the task lines alone. */
export function overviewText(overview: OverviewBody, style: Style): string {
  const table = taskTable(overview.tasks, style);
  if (!style.forPeople) return table;
  const reasons = overview.health_reasons.map((reason) => reasonLines(reason, style));
  return `${headline(overview, style)}\n${capacityLine(overview, style)}\n${reasons.join('')}\n${table}`;
}

function headline({ health, cards_total, init, workers }: OverviewBody, style: Style): string {
  const shown = style.health(health);
  const eta = init.eta_seconds === null ? '' : `, ${style.seconds(init.eta_seconds).text} left`;
  const loaded = init.status === 'completed' ? 'completed' : `${init.status}, ${init.percent} %${eta}`;
  return [
    style.paint(shown.text, shown.colour),
    `${style.number(cards_total).text} cards`,
    `${style.number(workers.length).text} ${workers.length === 1 ? 'instance' : 'instances'}`,
    `initialisation ${loaded}`,
  ].join('   ');
}

function capacityLine({ capacity }: OverviewBody, style: Style): string {
  const { demand_per_second, capacity_per_second, headroom_percent, drain_seconds, advice } = capacity;
  const facts = [`demand ${style.number(demand_per_second).text}/s`];
  if (capacity_per_second === null) return `${facts[0]}   capacity not measured yet`;
  facts.push(`capacity ${style.number(capacity_per_second).text}/s`);
  facts.push(`headroom ${style.number(headroom_percent).text} %`);
  if (drain_seconds === 0) facts.push('no backlog');
  else if (drain_seconds !== null) facts.push(`backlog gone in ${style.seconds(drain_seconds).text}`);
  else facts.push(advice === null ? 'backlog: not known yet' : `backlog gone: never, ${advice}`);
  return facts.join('   ');
}

function reasonLines({ severity, text, command }: HealthReasonBody, style: Style): string {
  const { text: label, colour } = style.health(severity);
  const what = `${style.paint(label.split(' ')[0] ?? '', colour)} ${style.text(text).text}\n`;
  return command === null ? what : `${what}  ${style.paint(style.text(command).text, 'dim')}\n`;
}
