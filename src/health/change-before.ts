// Finds the change in the audit trail that came before a reason and may explain it, and puts it in words. Used by
// change-watch.ts. Pure.
//
// The words state an order in time, not a cause. Only a change that can cause the reason is named: a shorter interval can explain
// a backlog, a higher limit cannot, and no import explains a slow gateway.
import { groupBy } from '../domain/group-by.ts';
import type { ReasonCode } from '../domain/reasons.ts';
import { ConfigMatcher, type PollingConfig } from '../domain/schedule/polling-config.ts';
import { TASK_TYPES, type TaskType } from '../domain/task-type.ts';
import { countWords, span } from '../domain/words.ts';
import { camelKeys } from '../platform/snake-keys.ts';
import type { RingState } from '../store/ports/live/rings.ts';
import type { AuditRecord } from '../store/ports/records/audit-records.ts';
import { isOfAccess, LOAD, QUEUES, STRAIN } from './explains.ts';
import type { HealthReason } from './reason.ts';

export type RecordedChange = Pick<
  AuditRecord,
  'id' | 'atMs' | 'name' | 'action' | 'object' | 'before' | 'after'
>;

/** The cards that configs poll now. */
export interface PresentSchedule {
  readonly configs: readonly PollingConfig[];
  readonly rings: readonly RingState[];
}

interface Effect {
  readonly taskTypes: readonly TaskType[];
  /** The reasons that it can explain. */
  readonly explains: readonly ReasonCode[];
}

const MORE_POLLS: readonly ReasonCode[] = [...LOAD, ...STRAIN];

type Values = Readonly<Record<string, unknown>>;
type Of = (change: { before: Values; after: Values; object: string }, schedule: PresentSchedule) => Effect[];

/** Changes of other kinds explain no reason. A later change of the same object cancels the effect of an earlier one. */
const EFFECTS: Readonly<Record<string, Of>> = {
  'config.create': configEffects,
  'config.update': configEffects,
  'config.delete': configEffects,
  'concurrency.set': ({ before, after, object }) => {
    const [was, is] = [Number(before.maxConcurrency), Number(after.maxConcurrency)];
    const explains = is < was ? [...QUEUES, 'overloaded' as const] : is > was ? STRAIN : [];
    return [{ taskTypes: typesOf(object), explains }];
  },
  'pause.begin': ({ object }) => [{ taskTypes: typesOf(object), explains: QUEUES }],
  // All waiting cards come at once.
  'pause.end': ({ object }) => [{ taskTypes: typesOf(object), explains: STRAIN }],
  'trigger.create': ({ after }) => [
    { taskTypes: TASK_TYPES.filter((one) => one === after.taskType), explains: [...QUEUES, ...STRAIN] },
  ],
  'trigger.cancel': () => [],
  'cards.import.begin': () => [{ taskTypes: TASK_TYPES, explains: LOAD }],
  'cards.import.end': importEffects,
  'cards.import.failed': importEffects,
  'stops.mode': ({ before, after }) => {
    const stopsMore = after.mode === 'enforce' && (before.mode === 'observe' || 'acceptedJump' in after);
    return stopsMore ? [{ taskTypes: ['package'], explains: ['stop_surge'] }] : [];
  },
};

export const NAMED_ACTIONS = Object.keys(EFFECTS);

/** The reasons that any change can explain. */
export const EXPLAINED: readonly ReasonCode[] = [...MORE_POLLS, 'stop_surge'];

/** A change that may explain a reason. */
export interface KnownChange extends Pick<RecordedChange, 'id' | 'atMs'> {
  /** The reasons that it can explain. */
  readonly explains: readonly ReasonCode[];
  /** The change takes effect as a whole when it is made, so its own consequences follow at once. An import takes minutes. */
  readonly isImmediate: boolean;
  /** Text about the change, to follow the text of the reason. */
  readonly words: string;
}

/**
 * @param changes of the time before the reason, in any order
 * @returns the last change that may explain it, the number of such changes, and the reasons it can explain; null: none.
 */
export function changeBefore(
  reason: Pick<HealthReason, 'code' | 'taskType' | 'kind'>,
  changes: readonly RecordedChange[],
  schedule: PresentSchedule,
) {
  const { code, taskType } = reason;
  if (isOfAccess(reason)) return null;
  const explains = (change: RecordedChange) =>
    effectsOf(change, schedule).some(
      (effect) =>
        effect.explains.includes(code) &&
        effect.taskTypes.some((affected) => taskType === null || affected === taskType),
    );
  const found = [...groupBy(changes, ({ object }) => object).values()].flatMap((ofObject) => {
    const inTurn = [...ofObject].sort((a, b) => a.id - b.id);
    const [first, last] = [inTurn[0], inTurn.at(-1)];
    // A change that was undone before the reason began does not explain it.
    if (first === undefined || last === undefined || !explains({ ...last, before: first.before })) return [];
    return inTurn.findLast(explains) ?? [];
  });
  const change = found.sort((a, b) => a.id - b.id).at(-1);
  if (change === undefined) return null;
  const all = effectsOf(change, schedule).flatMap((effect) => effect.explains);
  return {
    ...{ change, count: found.length, explains: all },
    isImmediate: !change.action.startsWith('cards.import.'),
  };
}

function effectsOf({ action, object, before, after }: RecordedChange, schedule: PresentSchedule): Effect[] {
  const of = EFFECTS[action];
  return of === undefined ? [] : of({ before: valuesOf(before), after: valuesOf(after), object }, schedule);
}

function valuesOf(value: unknown): Values {
  return typeof value === 'object' && value !== null ? (camelKeys(value as Values) as Values) : {};
}

function typesOf(object: string): readonly TaskType[] {
  return TASK_TYPES.filter((one) => object === `task_type ${one}` || object === 'task_type all');
}

const OTHER_CARRIER = -1;

/** The task types that now poll some cards more often. */
function configEffects({ before, after, object }: Parameters<Of>[0], schedule: PresentSchedule): Effect[] {
  const id = Number(object.split(' ').at(-1));
  const others = schedule.configs.filter((config) => config.id !== id);
  const withIt = (values: Values) => [...others, ...('intervalSeconds' in values ? [{ ...values, id }] : [])];
  const [was, is] = [before, after].map((values) => withIt(values) as PollingConfig[]) as [
    PollingConfig[],
    PollingConfig[],
  ];
  const [former, present] = [new ConfigMatcher(was), new ConfigMatcher(is)];
  // Every kind of card that configs distinguish: the carriers that they name, and one that they do not.
  const carriers = new Set([...was, ...is].map(({ carrierId }) => carrierId ?? OTHER_CARRIER));
  const cards = [...carriers.add(OTHER_CARRIER)].flatMap((carrierId) =>
    [true, false].map((realNameVerified) => ({ cardId: 0, carrierId, realNameVerified })),
  );
  const taskTypes = TASK_TYPES.filter((taskType) =>
    cards.some((card) => {
      const winner = present.match(taskType, card);
      return rateOf(winner) > rateOf(former.match(taskType, card)) && mayHaveCards(winner, schedule.rings);
    }),
  );
  return [{ taskTypes, explains: MORE_POLLS }];
}

/** Polls of a card in a second. */
function rateOf(config: PollingConfig | null): number {
  return config === null || config.status === 0 ? 0 : 1 / config.intervalSeconds;
}

function mayHaveCards(config: PollingConfig | null, rings: readonly RingState[]): boolean {
  const ring = rings.find(
    ({ configId, taskType }) => configId === config?.id && taskType === config.taskType,
  );
  return ring === undefined || !ring.loaded || ring.building !== null || ring.members > 0;
}

function importEffects({ after }: Parameters<Of>[0]): Effect[] {
  const counts = [after.inserted, after.updated].map((count) => Number(count ?? 0));
  const hasWritten = counts.some((count) => count > 0);
  return [
    { taskTypes: TASK_TYPES, explains: hasWritten ? LOAD : [] },
    { taskTypes: ['package'], explains: Number(after.overPackage ?? 0) > 0 ? ['stop_surge'] : [] },
  ];
}

/** `config 2, 1h -> 1m`. */
export function changeWords(change: RecordedChange): string {
  const { action, object } = change;
  const [before, after] = [valuesOf(change.before), valuesOf(change.after)];
  const of = object.replace(/^task_type all$/, 'all task types').replace(/^task_type /, '');
  switch (action) {
    case 'config.create':
      return `${object} created, every ${span(Number(after.intervalSeconds))}`;
    case 'config.delete':
      return `${object} deleted`;
    case 'config.update':
      return [object, ...configDifferences(before, after)].join(', ');
    case 'concurrency.set':
      return `limit of ${of}, ${before.maxConcurrency} -> ${after.maxConcurrency}`;
    case 'pause.begin':
      return `pause of ${of} for ${span(Number(after.seconds))}`;
    case 'pause.end':
      return `pause of ${of} ended`;
    case 'trigger.create':
      return `manual trigger of ${after.total === null ? 'cards' : countWords(Number(after.total), 'card')}`;
    case 'stops.mode':
      return before.mode === after.mode
        ? 'the jump of the readings was accepted'
        : `stops, ${before.mode} -> ${after.mode}`;
    default:
      return importWords(action, after);
  }
}

function configDifferences(before: Values, after: Values): string[] {
  return ['intervalSeconds', 'status', 'priority', 'carrierId', 'cardCondition', 'taskType'].flatMap(
    (name) => {
      const [was, is] = [before[name], after[name]];
      if (was === is) return [];
      if (name === 'intervalSeconds') return `${span(Number(was))} -> ${span(Number(is))}`;
      if (name === 'status') return is === 1 ? 'enabled' : 'disabled';
      const word = { carrierId: 'carrier', cardCondition: 'cards', taskType: 'task type' }[name] ?? name;
      return `${word} ${was ?? 'any'} -> ${is ?? 'any'}`;
    },
  );
}

function importWords(action: string, after: Values): string {
  if (action === 'cards.import.begin') return 'an import of cards';
  const [inserted, updated] = [after.inserted, after.updated].map((count) => Number(count ?? 0));
  return `an import of cards, ${inserted} new and ${updated} changed`;
}
