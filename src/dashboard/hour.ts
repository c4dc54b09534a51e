// The events of the last hour as marks on one time axis: outages, alerts, started instances, stops, changes and their authors.
// Pure. model.ts moves among them, views/strip.ts shows them.
import { instanceLabel } from '../domain/instance-id.ts';
import { TASK_TYPES } from '../domain/task-type.ts';
import type { AlertBody } from '../resources/alerts.ts';
import type { AuditBody } from '../resources/audit.ts';
import type { OverviewBody } from '../resources/stats.ts';
import type { StopBody } from '../resources/stops.ts';
import { alertText } from '../terminal/reports/alert-tables.ts';
import { changeText } from '../terminal/reports/change-text.ts';
import { count, since } from './format.ts';
import { LABEL_COLUMNS, type Span, span } from './layout.ts';
import {
  type Destination,
  dataTimeMs,
  hasStrip,
  listedAlerts,
  type Source,
  type State,
  type View,
} from './state.ts';

/** The worst first: it represents the others of its mark. */
export const KINDS = ['outage', 'alert', 'start', 'stop', 'change'] as const;
export type HappeningKind = (typeof KINDS)[number];

export interface Happening {
  /** Unique id. */
  readonly id: string;
  readonly kind: HappeningKind;
  readonly atMs: number;
  /** The event and its author. */
  readonly text: () => string;
  readonly place: Destination;
}

export const HOUR_MS = 3_600_000;
/** A mark is a symbol and a count. */
export const MARK_COLUMNS = 2;
/** The sources with pages: the name of their items, and the field with the time. */
const PAGED = [
  ['alerts', 'alerts', 'fired_at'],
  ['latest', 'stops', 'requested_at'],
  ['audit', 'changes', 'at'],
] as const satisfies readonly (readonly [Source, string, string])[];

/** The marks from left to right, each with the events in its time: the worst first, then the latest. Most are empty. */
export function marksOf(state: State): readonly (readonly Happening[])[] {
  const slots = Math.max(1, Math.floor((state.columns - LABEL_COLUMNS) / MARK_COLUMNS));
  const slotMs = HOUR_MS / slots;
  // The axis moves by whole marks.
  const endMs = Math.ceil(dataTimeMs(state) / slotMs) * slotMs;
  const marks = Array.from({ length: slots }, (): Happening[] => []);
  for (const one of happenings(state)) {
    const slot = Math.floor((one.atMs - (endMs - HOUR_MS)) / slotMs);
    // The clock of another host may be ahead.
    marks[Math.min(slot, slots - 1)]?.push(one);
  }
  const rank = ({ kind }: Happening) => KINDS.indexOf(kind);
  return marks.map((all) => all.sort((a, b) => rank(a) - rank(b) || b.atMs - a.atMs));
}

/** The marks with events, from left to right. */
function markedTimes(state: State): readonly (readonly Happening[])[] {
  return marksOf(state).filter(({ length }) => length > 0);
}

/** The event in the direction of an arrow: left and right to the next mark, up and down within a mark. It stops at all ends. */
export function nextHappening(state: State, key: string): Happening | null {
  const marks = markedTimes(state);
  const picked = pickedHappening(state, marks);
  if (picked === null) return marks.at(-1)?.[0] ?? null;
  const { at, mark, nth } = picked;
  const [aside, within] = STEPS[key] ?? [0, 0];
  return (aside === 0 ? mark[nth + within] : marks[at + aside]?.[0]) ?? picked.one;
}

const STEPS: Readonly<Record<string, readonly [aside: number, within: number]>> = {
  ...{ left: [-1, 0], h: [-1, 0], right: [1, 0], l: [1, 0] },
  ...{ up: [0, -1], k: [0, -1], down: [0, 1], j: [0, 1] },
};

/** The position of the picked event: its mark among those with events, and its place there; null: none is picked. */
export function pickedHappening(state: State, given?: ReturnType<typeof markedTimes>) {
  if (state.mark === null || !hasStrip(state)) return null;
  const marks = given ?? markedTimes(state);
  const at = marks.findIndex((all) => all.some(({ id }) => id === state.mark));
  // The picked event may be more than an hour ago by now.
  const mark = marks[Math.max(0, at)] ?? [];
  const nth = Math.max(
    0,
    mark.findIndex(({ id }) => id === state.mark),
  );
  const one = mark[nth];
  return one === undefined ? null : { at: Math.max(0, at), mark, nth, one };
}

/** The unknown parts of the hour, in words: no answer, or more than one page of events. */
export function unknownParts(state: State): Span[] {
  const fromMs = dataTimeMs(state) - HOUR_MS;
  return PAGED.flatMap(([source, name, time]) => {
    const { body, problem } = state.data[source];
    if (body === null)
      return [
        problem === null
          ? span(`${name}: asking ...`, 'dim')
          : span(`${name} not known: ${problem}`, 'yellow'),
      ];
    const last = body.items.at(-1) as Readonly<Record<string, unknown>> | undefined;
    const isCut = body.total > body.items.length && Date.parse(String(last?.[time])) > fromMs;
    return isCut ? [span(`only the latest ${body.items.length} ${name}`, 'yellow')] : [];
  });
}

function happenings(state: State): Happening[] {
  const { overview, latest, audit } = state.data;
  const nowMs = dataTimeMs(state);
  return [
    ...listedAlerts(state).map((alert) => ofAlert(alert, nowMs)),
    ...(overview.body?.workers ?? []).map(ofInstance),
    ...(latest.body?.items ?? []).map(ofStop),
    // Stops have separate marks.
    ...(audit.body?.items ?? []).filter(({ action }) => action !== 'card.stop').map(ofChange),
  ].filter(({ atMs }) => nowMs - atMs <= HOUR_MS);
}

/** The rule id of an outage of the stores, which no operator created. */
const OUTAGE_RULE = 0;

function ofAlert(alert: AlertBody, nowMs: number): Happening {
  const { id, rule_id, cause, fired_at: at, resolved_at: end } = alert;
  const isOutage = rule_id === OUTAGE_RULE;
  const lasted = () =>
    end === null ? `for ${since(at, nowMs)}, not over` : `over after ${since(at, Date.parse(end))}`;
  return {
    id: `alert ${id}`,
    kind: isOutage ? 'outage' : 'alert',
    atMs: Date.parse(at),
    text: () => `${isOutage ? (cause?.text ?? 'the stores did not answer') : alertText(alert)}, ${lasted()}`,
    place: { view: 'alerts', sought: `${id}` },
  };
}

function ofInstance(instance: OverviewBody['workers'][number]): Happening {
  const { worker_id, version, started_at } = instance;
  return {
    id: `start ${worker_id}`,
    kind: 'start',
    atMs: Date.parse(started_at),
    text: () => `of ${instanceLabel(worker_id)}, ${version}`,
    place: { view: 'instances', sought: worker_id },
  };
}

function ofStop({ card_id, month, state, used_mb, ordered_by, requested_at }: StopBody): Happening {
  return {
    id: `stop ${card_id} ${month}`,
    kind: 'stop',
    atMs: Date.parse(requested_at),
    text: () => `of card ${card_id} by ${ordered_by ?? 'cardpoll'}: ${state}, ${count(used_mb)} MB used`,
    place: { view: 'card', card: `${card_id}` },
  };
}

function ofChange({ id, at, actor, action, object, before, after }: AuditBody): Happening {
  return {
    id: `change ${id}`,
    kind: 'change',
    atMs: Date.parse(at),
    text: () => {
      const values = changeText({ before, after });
      return `by ${actor}: ${action} ${object}${values === '' ? '' : `: ${values}`}`;
    },
    place: placeOf(object),
  };
}

const VIEW_OF_OBJECT: Readonly<Record<string, View>> = {
  ...{ config: 'configs', alert_rule: 'alerts', alert: 'alerts', silence: 'alerts', instance: 'instances' },
  ...{ trigger: 'triggers', triggers: 'triggers', stops: 'stops', resume: 'stops' },
};

/** @param object as the audit trail names it: `config 3`, `task_type realname`, `card 42`. */
function placeOf(object: string): Destination {
  const [what = '', which = ''] = object.split(' ');
  if (what === 'card' && /^\d+$/.test(which)) return { view: 'card', card: which };
  const taskType = TASK_TYPES.find((one) => one === which);
  if (taskType !== undefined) return { view: 'task', taskType };
  const view = VIEW_OF_OBJECT[what];
  return view === undefined ? `no view says more: cardpoll audit --object ${what}` : { view, sought: which };
}
