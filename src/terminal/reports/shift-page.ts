// What `cardpoll report` shows: a shift on one page, or all of it with -o wide; as records one event a line. Shows what the API says.
import { countWords, grouped, span } from '../../domain/words.ts';
import type { ShiftReportBody } from '../../resources/report.ts';
import { fitted } from '../line.ts';
import { INDENT, type Style, sentenceLines } from '../style.ts';
import { textOf } from '../table.ts';
import { widthOf } from '../width.ts';
import { changeText } from './change-text.ts';

/** How the reader's clock shows a time (RFC 3339). */
export interface ReaderClock {
  readonly zone: string;
  /** Time of day, with the date where that is not the day of `near`. */
  short(at: string, near: string): string;
  full(at: string): string;
  /** As it may be typed. */
  typed(at: string): string;
}

/** Cells of one line; the last one may be cut. */
type Row = readonly [...begin: string[], text: string];
type ChangeRow = ShiftReportBody['changes']['groups'][number];
type Counts = Omit<ShiftReportBody['stops']['carriers'][number], 'carrier_id'>;

/** Lines of a section on one page. Together with their headings and the lines above they are less than a screen of 40 lines. */
const LINES = { reasons: 5, alerts: 4, changes: 10, carriers: 3, open: 6 } as const;

export function shiftPage(body: ShiftReportBody, style: Style, clock: ReaderClock): string {
  if (!style.forPeople) return recordsOf(body);
  const at = (time: string) => clock.short(time, body.until);
  const { since, until, alerts, changes, stops } = body;
  const bounds = [since, until].map((time) => clock.full(time)).join(' to ');
  const seconds = (Date.parse(until) - Date.parse(since)) / 1000;
  const carriers = stops.carriers.map((one): Row => [carrierName(one.carrier_id), countsText(one)]);
  const { imports } = changes;
  const changed = changes.total + (imports?.count ?? 0);
  const alertCounts = `${alerts.fired} fired, ${alerts.resolved} resolved, ${alerts.open} open`;
  const counted = stops.is_cut ? ' (the latest alone)' : '';
  const rest = (command: string) => commandsOfTime(command, body, clock);
  return textOf([
    style.paint(`${bounds} (${clock.zone}, ${span(Math.round(seconds))})`, 'bold'),
    ...notesOf(body, at)
      .flatMap((note) => sentenceLines(note, style))
      .map((line) => style.paint(line, 'yellow')),
    ...section(
      style,
      'reasons',
      countOr(body.reasons.length),
      LINES.reasons,
      rest('cardpoll report -o wide'),
      [...body.reasons.map((one): Row => [betweenText(one, at), one.text])],
    ),
    ...section(
      style,
      'alerts',
      alerts.items.length === 0 ? 'none' : alertCounts,
      LINES.alerts,
      rest('cardpoll alerts history'),
      alerts.items.map(
        (one): Row => [
          at(one.fired_at),
          one.resolved_at === null ? `open ${span(one.duration_seconds)}` : span(one.duration_seconds),
          one.cause === null ? one.rule : `${one.rule}: ${one.cause}`,
        ],
      ),
    ),
    ...section(style, 'changes', countOr(changed), LINES.changes, rest('cardpoll audit'), [
      ...(imports === null ? [] : [importsRow(imports, at)]),
      ...changes.groups.map((group) => changeRow(group, at)),
    ]),
    ...section(
      style,
      'stops',
      countsText(stops) === '' ? 'none' : `${countsText(stops)}${counted}`,
      LINES.carriers,
      rest('cardpoll stops'),
      carriers,
    ),
    ...pollLines(body, style),
    ...openLines(body, style, at),
  ]);
}

function section(
  style: Style,
  name: string,
  summary: string,
  most: number,
  commands: readonly string[],
  rows: readonly Row[],
): string[] {
  const room = style.layout.summaryColumns;
  const shown = room === null || rows.length <= most ? rows : rows.slice(0, most - 1);
  const left = rows.length - shown.length;
  const lines = [
    ...aligned(shown),
    ...(left === 0
      ? []
      : [
          fittingOf(
            commands.map((one) => `${INDENT}and ${grouped(left)} more: ${one}`),
            room,
          ),
        ]),
  ];
  return [
    `${style.paint(name, 'bold')}  ${summary}`,
    ...lines.map((line) =>
      fitted([{ text: line }], room ?? Number.POSITIVE_INFINITY)
        .map(({ text }) => text)
        .join(''),
    ),
  ];
}

/** A command that is cut cannot be typed. @param lines the best first. */
function fittingOf(lines: readonly string[], room: number | null): string {
  return lines.find((line) => room === null || widthOf(line) <= room) ?? lines.at(-1) ?? '';
}

/** For the same time; and for all since its start, which is shorter. */
function commandsOfTime(
  command: string,
  { since, until, generated_at: now }: ShiftReportBody,
  clock: ReaderClock,
) {
  const from = `${command} --since ${clock.typed(since)}`;
  return until < now ? [`${from} --until ${clock.typed(until)}`, from] : [from];
}

/** All cells but the last one in columns. */
function aligned(rows: readonly Row[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ''))));
  return rows.map((row) => {
    const cells = row.map((cell, at) =>
      at === row.length - 1 ? cell : cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell)),
    );
    return `${INDENT}${cells.join('  ')}`.trimEnd();
  });
}

function notesOf(
  { unknown, kept_from: kept, polls }: ShiftReportBody,
  at: (time: string) => string,
): string[] {
  const late = Object.entries(kept).flatMap(([what, from]) => {
    // Their own line says that they are not known.
    const isListed = what === 'polls' && polls.length === 0;
    return from === null || isListed ? [] : [`${what} ${at(from)}`];
  });
  return [
    ...(unknown === null ? [] : [`polls, pauses and the reasons of now are not known: ${unknown}`]),
    ...(late.length === 0 ? [] : [`known only from: ${late.join(', ')}`]),
  ];
}

function countOr(count: number): string {
  return count === 0 ? 'none' : grouped(count);
}

function betweenText(
  { began_at: began, ended_at: ended }: ShiftReportBody['reasons'][number],
  at: (time: string) => string,
): string {
  const from = began === null ? '?' : at(began);
  if (ended === null) return `${from} goes on`;
  return began === null
    ? `${from} to ${at(ended)}`
    : `${from} to ${at(ended)} (${span(Math.round((Date.parse(ended) - Date.parse(began)) / 1000))})`;
}

function importsRow(
  imports: NonNullable<ShiftReportBody['changes']['imports']>,
  at: (time: string) => string,
): Row {
  const { count, failed, inserted, updated, rejected, over_package: over, actors } = imports;
  const facts = [
    `${grouped(inserted)} new, ${grouped(updated)} changed`,
    ...(rejected === 0 ? [] : [`${countWords(rejected, 'row')} rejected`]),
    ...(over === 0 ? [] : [`${grouped(over)} over their package`]),
    ...(failed === 0 ? [] : [`${grouped(failed)} failed`]),
  ];
  return [at(imports.last_at), actors.join(', '), timesText('cards.import', count), facts.join(', ')];
}

function changeRow(group: ChangeRow, at: (time: string) => string): Row {
  const { actor, action, count, objects, object } = group;
  const change = changeText(group);
  const of = objects === 1 ? object : `${grouped(objects)} objects, last ${object}`;
  return [at(group.last_at), actor, timesText(action, count), change === '' ? of : `${of}: ${change}`];
}

function timesText(action: string, count: number): string {
  return count === 1 ? action : `${action} x${grouped(count)}`;
}

function carrierName(carrierId: number | null): string {
  return carrierId === null ? 'removed cards' : `carrier ${carrierId}`;
}

const STOP_WORDS = ['done', 'requested', 'held', 'observed', 'dismissed', 'resumed'] as const;

function countsText(counts: Counts): string {
  return STOP_WORDS.filter((word) => counts[word] > 0)
    .map((word) => `${grouped(counts[word])} ${word}`)
    .join(', ');
}

function pollLines({ polls }: ShiftReportBody, style: Style): string[] {
  const said = polls.map(({ task_type, polls: count, success_rate: rate, on_time_percent: onTime }) => {
    const shares = [
      ...(rate === null ? [] : [`${style.percent(rate).text} % succeeded`]),
      ...(onTime === null ? [] : [`${style.percent(onTime).text} % on time`]),
    ];
    return `${task_type} ${grouped(count)}${shares.length === 0 ? '' : ` (${shares.join(', ')})`}`;
  });
  const isMeasured = polls.some(({ on_time_percent: onTime }) => onTime !== null);
  const text =
    said.length === 0 ? 'not known' : `${said.join(', ')}${isMeasured ? '' : '; on time: not known'}`;
  return sentenceLines(text, style, 'polls  ').map((line, at) =>
    at === 0 ? `${style.paint('polls', 'bold')}${line.slice('polls'.length)}` : line,
  );
}

function openLines(
  { open, generated_at: now }: ShiftReportBody,
  style: Style,
  at: (time: string) => string,
): string[] {
  const { alerts, acknowledged, held_stops: held, released_stops: released } = open;
  const rows = [
    ...(held === 0
      ? []
      : [`${countWords(held, 'stop is', 'stops are')} held: cardpoll stops list --state held`]),
    ...(released === 0 ? [] : [`${countWords(released, 'stop is', 'stops are')} released and not done yet`]),
    ...(open.stop_mode === 'enforce'
      ? []
      : [`mode observe, ${countWords(open.observed_stops, 'stop')} not made: cardpoll stops mode`]),
    ...(alerts === 0
      ? []
      : [
          `${countWords(alerts, 'alert fires', 'alerts fire')}, ${grouped(acknowledged)} acknowledged: cardpoll alerts`,
        ]),
    ...open.ends.map(({ kind, what, by, reason, since, until: end }) => {
      const from = kind === 'maintenance' && since > now ? ` from ${at(since)}` : '';
      const is = kind === 'pause' ? `${what} is paused` : `${what}${from}`;
      return `${is} until ${at(end)} by ${by}${reason === '' ? '' : `: ${reason}`}`;
    }),
    ...open.resumes.map(
      ({ by, reason, total, waiting }) =>
        `${countWords(waiting, 'card waits', 'cards wait')} of ${grouped(total)} to be resumed by ${by}: ${reason}`,
    ),
  ];
  const summary = rows.length === 0 ? 'nothing' : grouped(rows.length);
  const commands = ['cardpoll report -o wide'];
  return section(
    style,
    'open now',
    summary,
    LINES.open,
    commands,
    rows.map((row): Row => [row]),
  );
}

/** Kind, from, to, who or what, text. */
function recordsOf({ reasons, alerts, changes, stops, polls, open }: ShiftReportBody): string {
  const rows = [
    ...reasons.map((one) => ['reason', one.began_at, one.ended_at, one.code, one.text]),
    ...alerts.items.map((one) => ['alert', one.fired_at, one.resolved_at, one.rule, one.cause]),
    ...(changes.imports === null
      ? []
      : [
          [
            'import',
            null,
            changes.imports.last_at,
            changes.imports.actors.join(','),
            importsRow(changes.imports, String)[3],
          ],
        ]),
    ...changes.groups.map((one) => [
      'change',
      one.first_at,
      one.last_at,
      one.actor,
      `${timesText(one.action, one.count)} ${one.object}`,
    ]),
    ...stops.carriers.map((one) => ['stops', null, null, one.carrier_id, countsText(one)]),
    ...polls.map((one) => ['polls', null, null, one.task_type, `${one.polls} polls, ${one.failed} failed`]),
    ...open.ends.map((one) => [one.kind, one.since, one.until, one.what, one.reason]),
  ];
  return textOf(rows.map((row) => row.map((cell) => (cell === null || cell === '' ? '-' : cell)).join('\t')));
}
