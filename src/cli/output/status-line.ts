// The state of the fleet in one line of at most 80 columns. Used by the demo, which prints one every two seconds:
//   ● normal  10k cards  realname 165/s q12  carddata 12/s q0 97%  package 9/s q0
// A task type has polls a second, queue length, and its success rate when that is below 100 %. Where not all is normal, a
// second line has the worst cause and the command to type.
import type { OverviewBody, TaskBody } from '../../api/client/client-bodies.ts';
import { abbreviated, type Style } from './style.ts';

const WIDTH = 80;

/** What a line shows. The first layout that fits is used. */
const LAYOUTS = [
  { cards: true, queue: true, success: true, gap: '  ' },
  { cards: false, queue: true, success: true, gap: '  ' },
  { cards: false, queue: true, success: true, gap: ' ' },
  { cards: false, queue: true, success: false, gap: ' ' },
  { cards: false, queue: false, success: false, gap: ' ' },
] as const;
type Layout = (typeof LAYOUTS)[number];

export function statusLine(overview: OverviewBody, style: Style): string {
  const health = style.health(overview.health);
  const lines = LAYOUTS.map((layout) => [health.text, ...facts(overview, layout)].join(layout.gap));
  const line = lines.find(({ length }) => length <= WIDTH) ?? lines.at(-1) ?? '';
  return `${style.paint(health.text, health.tone)}${line.slice(health.text.length)}\n${worstCause(overview, style)}`;
}

function worstCause({ health_reasons: [worst] }: OverviewBody, style: Style): string {
  if (worst === undefined) return '';
  const { text, command } = worst;
  return `  ${style.text(command === null ? text : `${text}: ${command}`).text}\n`;
}

function facts({ cards_total, init, tasks }: OverviewBody, layout: Layout): string[] {
  return [
    ...(layout.cards ? [`${short(cards_total)} cards`] : []),
    ...(init.status === 'completed' ? [] : [initFact(init)]),
    ...tasks.map((task) => taskFacts(task, layout)),
  ];
}

function initFact({ status, percent }: OverviewBody['init']): string {
  return `init ${status === 'stuck' ? 'stuck at ' : ''}${Math.floor(percent)}%`;
}

function taskFacts({ task_type, rate_per_second, queue_length, success_rate }: TaskBody, layout: Layout) {
  const rate =
    rate_per_second > 0 && rate_per_second < 9.95 ? rate_per_second.toFixed(1) : short(rate_per_second);
  const queue = layout.queue ? ` q${short(queue_length)}` : '';
  // Rounded down, so that 99.9 is not shown as 100.
  const shown = layout.success && success_rate !== null && success_rate < 100;
  const success = shown ? ` ${Math.floor(success_rate)}%` : '';
  return `${task_type} ${rate}/s${queue}${success}`;
}

/** At most four characters: 999, 1.2k, 12k, 1.2M. */
function short(value: number): string {
  return value < 999.5 ? String(Math.round(value)) : abbreviated(value);
}
