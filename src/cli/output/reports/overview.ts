// The fleet at a glance: health with its causes and the commands that help, the gateway first, then capacity and the task
// types. Used by the stats command. Shows what the API says; computes nothing.
import type { HealthReasonBody, OverviewBody } from '../../../api/client/client-bodies.ts';
import { capacityFacts, stopsLine } from '../fleet-lines.ts';
import { flow } from '../line.ts';
import { labelledLines, type Style, sentenceLines } from '../style.ts';
import { taskTable } from './stats-tables.ts';

type Cause = Pick<HealthReasonBody, 'severity' | 'text' | 'command'>;
type InterfaceBody = OverviewBody['gateway']['interfaces'][number];

const INDENT = '  ';
const GAP = '   ';

/** Heading, causes and a table; as records the task types alone. */
export function overviewText(overview: OverviewBody, style: Style): string {
  const { summaryColumns, textColumns, widthOf } = style.layout;
  const table = taskTable(overview.tasks, style, summaryColumns);
  if (!style.forPeople) return table;
  const capacity = capacityFacts(overview, {
    count: (value) => style.number(value).text,
    seconds: (value) => style.seconds(value).text,
  }).map((fact) => style.text(fact).text);
  const facts = [factsOf(overview, style), capacity].flatMap((parts) =>
    flow(parts, GAP, textColumns, widthOf),
  );
  const lines = [...causeLines(overview, style), ...facts, ...stopsFact(overview, style)];
  return `${lines.join('\n')}\n\n${table}`;
}

/** The first line is the health of the whole fleet with the worst cause. */
function causeLines(overview: OverviewBody, style: Style): string[] {
  const health = style.health(overview.health);
  const [worst, ...others] = causesOf(overview, style);
  if (worst === undefined) return [style.paint(health.text, health.tone)];
  const first = labelledLines(health, ': ', worst.text, style);
  return [...first, ...commandLine(worst, style), ...others.flatMap((cause) => linesOf(cause, style))];
}

/** A gateway outage is shown once, not for each task type that it affects. */
function causesOf({ gateway, health_reasons: reasons }: OverviewBody, style: Style): Cause[] {
  const down = gateway.interfaces.filter(({ breaker }) => breaker !== 'closed');
  const rest = down.length === 0 ? reasons : reasons.filter(({ code }) => code !== 'breaker_open');
  return [
    ...down.map((one) => gatewayCause(one, style)),
    ...rest.map((reason) => reasonCause(reason, style)),
  ];
}

function reasonCause({ severity, text, command, since }: HealthReasonBody, style: Style): Cause {
  const began = since ? ` (since ${style.clockTime(since)})` : '';
  return { severity, text: `${text}${began}`, command };
}

function gatewayCause(one: InterfaceBody, style: Style): Cause {
  const { breaker, since, reason, next_probe_at: next, instances } = one;
  const name = one.interface === 'gateway' ? 'gateway' : `gateway interface ${one.interface}`;
  const [state, word] = breaker === 'open' ? ['DOWN', 'open'] : ['recovering', 'half open'];
  const began = since === null ? '' : ` since ${style.clockTime(since)}`;
  const parts = [
    ...(reason === null ? [] : [reason]),
    ...(next === null ? [] : [`next probe ${style.time(next).text}`]),
    ...(instances > 1 ? [`on ${instances} instances`] : []),
  ];
  const severity = breaker === 'open' ? 'alert' : 'warning';
  return {
    severity,
    text: `${name} ${state}${began} (breaker ${word})${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`,
    command: 'cardpoll doctor',
  };
}

function linesOf(cause: Cause, style: Style): string[] {
  const { text, tone } = style.health(cause.severity);
  const symbol = text.split(' ')[0] ?? '';
  return [...labelledLines({ text: symbol, tone }, ' ', cause.text, style), ...commandLine(cause, style)];
}

/** On one line, so that it can be copied. */
function commandLine({ command }: Cause, style: Style): string[] {
  return command === null ? [] : [`${INDENT}${style.paint(style.text(command).text, 'dim')}`];
}

function factsOf({ cards_total, init, workers }: OverviewBody, style: Style): string[] {
  const eta = init.eta_seconds === null ? '' : `, ${style.seconds(init.eta_seconds).text} left`;
  const loaded = init.status === 'completed' ? 'completed' : `${init.status}, ${init.percent} %${eta}`;
  return [
    `${style.number(cards_total).text} cards`,
    `${style.number(workers.length).text} ${workers.length === 1 ? 'instance' : 'instances'}`,
    `initialisation ${loaded}`,
  ];
}

function stopsFact({ stops }: OverviewBody, style: Style): string[] {
  const { text, isUrgent } = stopsLine(stops, (count) => style.number(count).text);
  return sentenceLines(`stops: ${text}`, style, '').map((line) =>
    isUrgent ? style.paint(line, style.health('warning').tone) : line,
  );
}
