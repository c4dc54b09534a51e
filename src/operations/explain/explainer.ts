// Looks up why a card is or is not polled. Used by the admin API. It makes a fixed number of look-ups by key, however
// many cards there are; task-explanation.ts interprets them, and the stops of the card become history entries here.
import { dated } from '../../domain/date-of.ts';
import { leastIntervalSeconds } from '../../domain/limits/rate-limit.ts';
import { manualEntry } from '../../domain/manual-trigger.ts';
import { roundedMb } from '../../domain/numbers.ts';
import { type MaintenanceWindow, maintenanceOf, pauseOfWindow } from '../../domain/schedule/maintenance.ts';
import type { HoldReason, StopState } from '../../domain/stops/stop.ts';
import { TASK_TYPES, TASKS, type TaskType } from '../../domain/task-type.ts';
import { spanWords } from '../../domain/words.ts';
import { awaitedWords } from '../../health/capacity.ts';
import {
  gatewayReportOf,
  heldByAll,
  heldInterfacesOf,
  type InterfaceReport,
} from '../../health/gateway-report.ts';
import { shellWord } from '../../platform/shell-word.ts';
import type { CardExplanation, TaskExplanation } from '../../resources/explanation.ts';
import type { PauseReport } from '../../resources/limits.ts';
import type { InstanceInfo } from '../../store/ports/live/coordination.ts';
import type { CardRecord } from '../../store/ports/records/card-records.ts';
import type { CardStop, RunsOver } from '../../store/ports/records/stop-records.ts';
import { readCardSchedules } from '../cards/card-schedule.ts';
import type { CardOperations } from '../cards/cards.ts';
import type { OperationDeps } from '../deps.ts';
import { type PauseOperations, pauseReport } from '../limits/pauses.ts';
import { findCard } from '../requirements.ts';
import { failingCardOf } from '../stats/history.ts';
import { allowanceOriginOf } from './allowance-origin.ts';
import { taskExplanationOf } from './task-explanation.ts';

const MONTHS_SHOWN = 12;
const TRIGGERS_SHOWN = 20;

interface ExplainerDeps
  extends Pick<OperationDeps, 'health' | 'live' | 'records' | 'offers' | 'rateLimits' | 'logDir'> {
  readonly cards: CardOperations;
  readonly pauses: PauseOperations;
}

export class Explainer {
  constructor(private readonly deps: ExplainerDeps) {}

  /** @param cardIdOrIccid digits; 18 or more are an iccid. @throws CardpollError `not_found`, `unavailable`. */
  async explain(cardIdOrIccid: string): Promise<CardExplanation> {
    const { records, cards } = this.deps;
    const card = await findCard(records.cards, cardIdOrIccid);
    const { cardId, iccid } = card;
    const month = cards.month();
    const [surroundings, usage, stops, runsOver, allowance] = await Promise.all([
      readSurroundings(card, this.deps),
      records.cards.monthlyUsage(cardId, MONTHS_SHOWN),
      records.stops.ofCard(cardId, MONTHS_SHOWN),
      records.stops.runsOver(cardId, month),
      allowanceOriginOf(records, cardId),
    ]);
    return {
      generatedAt: new Date(surroundings.nowMs),
      card: cards.reportOf(card, surroundings.schedules),
      tasks: await Promise.all(
        TASK_TYPES.map((taskType) => this.#task(taskType, card, { ...surroundings, runsOver })),
      ),
      allowance,
      usage,
      stops: stopEntries(stops, card, surroundings.nowMs),
      openTriggers: surroundings.openTriggers,
      ...whereLogsAre(iccid, surroundings.instances, this.deps.logDir),
    };
  }

  async #task(
    taskType: TaskType,
    card: CardRecord,
    surroundings: Surroundings & { readonly runsOver: RunsOver | null },
  ): Promise<TaskExplanation> {
    const { live, offers, rateLimits } = this.deps;
    const { nowMs, init, schedules, openTriggers, pauses, paces, instances } = surroundings;
    const [counts, reading, noted] = await Promise.all([
      live.work.counts(taskType),
      live.stats.read(taskType),
      live.failures.last(taskType, [card.cardId]),
    ]);
    const isOfType = (one: { readonly taskType: TaskType }) => one.taskType === taskType;
    const lastFailure = noted.get(card.cardId);
    const polling = instances.filter(({ roles }) => roles.includes('worker'));
    const { interface: name } = TASKS[taskType];
    return taskExplanationOf({
      ...schedules[taskType],
      taskType,
      offered: offers(name),
      card: { ...card, lastPolledAtMs: card.lastPolledAtMs[taskType] ?? null },
      usage: taskType === 'carddata' ? card.usage : null,
      stopWords: taskType === 'package' ? runsOverWords(surroundings.runsOver) : [],
      nowMs,
      counts,
      reading,
      pauses: pauses.filter(isOfType),
      breakers: holdingAll(taskType, polling),
      heldBy: heldByAll(taskType, polling),
      leastIntervalSeconds: leastIntervalSeconds(rateLimits, name),
      isTriggered: openTriggers.some(isOfType),
      paceWords: awaitedWords(paces, taskType),
      workers: polling.length,
      init,
      lastFailure: lastFailure === undefined ? null : failingCardOf(lastFailure),
    });
  }
}

/**
 * A command for each host, and one for all hosts with the same directories. An instance of an older version does not say where it
 * logs: as this one does. @param logDir of this instance
 */
function whereLogsAre(iccid: string, instances: readonly InstanceInfo[], logDir: string | null) {
  const polling = instances.filter(({ roles }) => roles.includes('worker'));
  const logsOn = [...new Set(polling.map(({ hostname }) => hostname))].sort();
  const hostsOf = new Map<string, string[]>();
  for (const host of logsOn) {
    const own = polling.filter(({ hostname }) => hostname === host);
    for (const command of logCommands(
      iccid,
      own.map((one) => one.logDir ?? (one.logDir === null ? null : logDir)),
    ))
      hostsOf.set(command, [...(hostsOf.get(command) ?? []), host]);
  }
  const logsCommands = [...hostsOf].map(([command, hosts]) => ({ command, hosts }));
  const [ofThis = ''] = logCommands(iccid, [logDir]);
  return { logsCommand: logsCommands[0]?.command ?? ofThis, logsCommands, logsOn, logsDirectory: logDir };
}

/** @param directories null: standard output, which systemd keeps for each unit, such as cardpoll@2. */
function logCommands(iccid: string, directories: ReadonlyArray<string | null>): string[] {
  const roots = [...new Set(directories)].flatMap((directory) => directory ?? []).sort();
  return [
    ...(roots.length > 0 ? [`cardpoll logs --roots ${shellWord(roots.join(':'))} --iccid ${iccid}`] : []),
    ...(directories.includes(null) ? [`journalctl --unit 'cardpoll*' --grep ${iccid}`] : []),
  ];
}

type Surroundings = Awaited<ReturnType<typeof readSurroundings>>;

/** Facts that all task types share. */
async function readSurroundings(card: CardRecord, deps: ExplainerDeps) {
  const { live, records } = deps;
  const [nowMs, pauses, paces, instances, progress, triggers, windows] = await Promise.all([
    live.now(),
    deps.pauses.list(),
    live.pace.states(),
    live.coordination.instances(),
    live.coordination.initProgress(),
    records.triggers.openFor(card, TRIGGERS_SHOWN),
    records.maintenance.open(),
  ]);
  const ofCarriers = windows.filter(({ carrierId }) => carrierId !== null);
  const schedules = await readCardSchedules(deps, card, (taskType) => [
    String(card.cardId),
    ...triggers
      .filter((trigger) => trigger.taskType === taskType)
      .map(({ triggerId }) => manualEntry(card.cardId, triggerId)),
  ]);
  const init = deps.health.init.of(progress, nowMs);
  const held = TASK_TYPES.flatMap((taskType) => {
    const window = maintenanceOf(ofCarriers, taskType, card.carrierId, nowMs);
    return window === null ? [] : [pauseOfCarrier(window, taskType)];
  });
  return {
    ...{ nowMs, schedules, paces, instances, init, openTriggers: triggers.map(dated) },
    pauses: [...pauses, ...held],
  };
}

/** To a card of the carrier a window of it is a pause. */
function pauseOfCarrier(window: MaintenanceWindow, taskType: TaskType): PauseReport {
  const { reason, by, startsAtMs: sinceMs, endsAtMs: untilMs } = window;
  const id = pauseOfWindow(window.id);
  return pauseReport({ taskType, source: 'operator', reason, by, id, sinceMs, untilMs });
}

/** Breakers that are open on every polling instance: while one instance has it closed, the card may be polled there. */
function holdingAll(taskType: TaskType, polling: readonly InstanceInfo[]): InterfaceReport[] {
  return heldInterfacesOf(taskType, gatewayReportOf(polling)).filter(
    ({ breaker, instances }) => breaker === 'open' && instances === polling.length,
  );
}

type Entry = CardExplanation['stops'][number];

const HELD_BECAUSE: Record<HoldReason, string> = {
  usage_jump: 'the readings of the whole fleet jumped',
  budget_hour: 'the stops allowed in an hour were used up',
  budget_day: 'the stops allowed in a day were used up',
  reading_fell: 'its counter fell while it was held, so its usage may be wrong',
};

/**
 * The stops of a card as history entries: when it was stopped and resumed, and why it was not stopped although it was over its
 * package. Only the logs say when a card was found running again (复机); here it is only known that it runs now.
 * @param stops latest first, at most one for each month.
 * @param card.stopped whether it is stopped now
 */
export function stopEntries(
  stops: readonly CardStop[],
  card: { readonly cardId: number; readonly stopped: boolean },
  nowMs: number,
): CardExplanation['stops'] {
  return stops.map((stop, index) => ({
    at: new Date(stop.resumedAtMs ?? stop.completedAtMs ?? stop.requestedAtMs),
    ...wordsOf(stop, card.cardId, index === 0 && !card.stopped, nowMs),
  }));
}

/** @param runs whether the stop is the card's last one, and the card runs. */
function wordsOf(stop: CardStop, cardId: number, runs: boolean, nowMs: number): Omit<Entry, 'at'> {
  const used = usedWords(stop);
  const order = stop.orderedBy === null ? '' : `by order of ${stop.orderedBy}: ${stop.reason}`;
  switch (stop.state) {
    case 'done':
      return runs
        ? entry('stopped, runs again', used, order, 'not stopped a second time in the month')
        : entry('stopped', used, order);
    case 'resumed':
      return entry(
        // A card that somebody else stopped has a stop without a call, which spares it.
        stop.attempts === 0 ? 'resumed' : 'stopped and resumed',
        used,
        order,
        stop.stopAgain
          ? 'stopped again in the month if a later reading is over the allowance'
          : 'not stopped a second time in the month',
      );
    case 'held': {
      const why = stop.heldBy === null ? '' : `, because ${HELD_BECAUSE[stop.heldBy]}`;
      return entry(
        'stop held',
        used,
        `not stopped${why}`,
        holdEndWords(stop),
        `cardpoll stops release ${cardId} --reason TEXT stops it, cardpoll stops dismiss ${cardId} --reason TEXT gives it up`,
      );
    }
    case 'observed':
      return entry(
        'stop observed',
        used,
        'not stopped, because stops were only observed (cardpoll stops mode)',
      );
    case 'dismissed':
      return entry('stop dismissed', used, `not stopped in the month, ${order}`);
    case 'requested':
      return requestedWords(stop, used, order, nowMs);
  }
}

function holdEndWords({ heldFor, heldUntilMs }: CardStop): string {
  if (heldFor === 'operator') return 'waits until an operator decides';
  const end = heldUntilMs === null ? 'the jump' : new Date(heldUntilMs).toISOString();
  return `judged again by a reading after ${end} that is over the allowance`;
}

function requestedWords(stop: CardStop, used: string, order: string, nowMs: number): Omit<Entry, 'at'> {
  const { unconfirmed, lastError, attempts, pendingSinceMs } = stop;
  const requested = pendingSinceMs === null ? 'stop requested' : 'stop under way';
  return entry(
    unconfirmed === 0 ? requested : 'stop unconfirmed',
    used,
    order,
    underWayWords(stop, nowMs),
    order !== '' && attempts === 0
      ? 'it is called as soon as package has a free slot, unless stops are only observed'
      : '',
    unconfirmed === 0 ? '' : `acknowledged ${unconfirmed} times without effect`,
    lastError === null ? '' : `last error: ${lastError}`,
  );
}

function underWayWords({ pendingSinceMs, pendingUntilMs }: CardStop, nowMs: number): string {
  if (pendingSinceMs === null || pendingUntilMs === null) return '';
  const seconds = Math.max(0, Math.round((nowMs - pendingSinceMs) / 1_000));
  const until = new Date(pendingUntilMs).toISOString();
  return `under way for ${spanWords(seconds)}: the vendor works on it, and nothing is called before ${until}`;
}

function entry(action: string, ...parts: readonly string[]): Omit<Entry, 'at'> {
  return { action, detail: parts.filter((part) => part !== '').join('; ') };
}

function usedWords({ usedMb, allowanceMb, month }: CardStop): string {
  return `${roundedMb(usedMb)}${allowanceMb === null ? '' : ` of ${allowanceMb}`} MB used in ${month}`;
}

/** Why a card that is over its package runs, where no stop of the history says so, or an operator decided it. */
export function runsOverWords(runs: RunsOver | null): string[] {
  if (runs === null) return [];
  const { why, stop } = runs;
  if (why === 'spared') {
    const decided = stop === 'dismissed' ? 'its stop was dismissed' : 'it was resumed after its stop';
    return [`it is over its package and runs: ${decided}, so it is spared for the rest of the month`];
  }
  const because: Partial<Record<StopState, string>> = {
    done: 'it was stopped in the month and runs again by somebody else, so only an operator stops it again',
    requested: 'its stop was claimed and is not acknowledged, and its next poll tries again',
  };
  const next = stop === null ? undefined : because[stop];
  return [
    `it is over its package and runs, and no stop is open (over_running): ${next ?? 'its next poll decides about it'}`,
  ];
}
