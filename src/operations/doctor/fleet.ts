// The checks of the fleet when both stores answer, whether or not an instance is alive. Used by src/doctor.ts.

import type { Receivers } from '../../domain/alerts/receiver.ts';
import type { CardMembership } from '../../domain/cards/card.ts';
import { type Finding, failed, ok, reasonFindings, skipped, warning } from '../../domain/finding.ts';
import { groupBy } from '../../domain/group-by.ts';
import type { GatewayFacts } from '../../domain/limits/rate-limit.ts';
import { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import { countedText, observedWords, STOPS_COUNTED, type StopSettings } from '../../domain/stops/stop.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import { countWords } from '../../domain/words.ts';
import { isLeaderless } from '../../health/fleet-faults.ts';
import type { FleetHealth } from '../../health/fleet-health.ts';
import { readStopFigures, type StopFigures } from '../../health/stop-figures.ts';
import type { InitProgress, InstanceInfo } from '../../store/ports/live/coordination.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RunningCount } from '../../store/ports/live/work-queue.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { OperationDeps } from '../deps.ts';
import { answered } from './finding.ts';
import { stoppableFinding } from './stoppable.ts';
import { rateLimitFindings, upkeepFindings } from './upkeep.ts';

interface FleetFacts extends GatewayFacts, Pick<OperationDeps, 'live' | 'records' | 'clock'> {
  readonly random: () => number;
  /** Waits as long as a changed card needs to reach its rings. */
  readonly settle: () => Promise<void>;
  readonly timeZone: string;
  /** Cron expression in that time zone, or `off`. */
  readonly cleanupSchedule: string;
  readonly receivers: Receivers;
  readonly stops: StopSettings;
  /** null: the daemon reports the health of the fleet. */
  readonly health: Pick<FleetHealth, 'judge'> | null;
}

export async function fleetFindings(facts: FleetFacts): Promise<Finding[]> {
  const { live, records, random, settle, stops } = facts;
  const progress = await live.coordination.initProgress();
  const instances = await live.coordination.instances();
  const isLed = !isLeaderless(instances);
  const groups = await Promise.all([
    [...instanceFindings(instances), ...heartbeatFindings(instances)],
    answered('running counts', () => runningCountFindings(live)),
    answered('scheduled cards', () => ringSampleFindings({ live, records, isLed }, progress, random, settle)),
    answered('stop mode', () => stopModeFindings(records, stops)),
    answered('stops possible', async () => [await stoppableFinding(records, facts)]),
    answered('rate limits', () => rateLimitFindings(records, facts)),
    answered('alert rules', () => upkeepFindings(records, facts)),
    answered('fleet', () => aliveFindings(facts, progress, instances.length)),
  ]);
  return groups.flat();
}

/** The health of the fleet, read from its stores when no daemon answers. Skipped before the first start. */
async function aliveFindings(
  { health }: FleetFacts,
  { status, updatedAtMs }: InitProgress,
  instances: number,
): Promise<Finding[]> {
  if (health === null) return [];
  if (instances === 0 && status === 'pending' && updatedAtMs === null) {
    return [skipped('fleet', 'no instance has polled yet')];
  }
  const { reasons, capacity } = await health.judge();
  const found = reasonFindings(reasons, capacity.drainSeconds);
  return found.length === 0
    ? [ok('fleet', `${countWords(instances, 'instance')} alive, health normal`)]
    : found;
}

/** The live instances, and whether they run one version. */
export function instanceFindings(instances: readonly InstanceInfo[]): Finding[] {
  const check = 'instances';
  if (instances.length === 0) return [skipped(check, 'no instance is alive')];
  const versions = groupBy(instances, ({ version }) => version);
  const said = [...versions].map(([version, ofIt]) => `${ofIt.length} of ${version}`).join(', ');
  if (versions.size === 1) return [ok(check, said)];
  return [
    warning(check, `${said}: mixed versions are meant only for the time of an upgrade`, {
      hint: 'upgrade the older ones',
      command: 'cardpoll stats instances',
    }),
  ];
}

/** The state of the outgoing heartbeats; no finding without alerts.heartbeat_url, or without a leader. */
function heartbeatFindings(instances: readonly InstanceInfo[]): Finding[] {
  return instances.flatMap(({ outsideHeartbeat }) => {
    if (outsideHeartbeat === null) return [];
    const { sentAtMs, trouble } = outsideHeartbeat;
    const last =
      sentAtMs === null ? 'none was sent yet' : `last accepted at ${new Date(sentAtMs).toISOString()}`;
    if (trouble === null) return [ok('heartbeat', last)];
    const hint = 'the watchdog will page whoever is on call';
    return [warning('heartbeat', `not sent, ${last}: ${trouble}`, { hint, command: 'cardpoll stats' })];
  });
}

/**
 * Compares the running counts that operators see with the slots held (operations interface, section 7: leaked counters).
 * A live leader rewrites them every few seconds, so a count stays wrong only without one.
 */
export async function runningCountFindings({ work }: LiveStore): Promise<Finding[]> {
  const counted = await Promise.all(
    TASK_TYPES.map(async (taskType) => [taskType, await work.runningCount(taskType)] as const),
  );
  const wrong = counted
    .filter(([, count]) => !isRight(count))
    .map(([taskType, count]) => wrongCount(taskType, count));
  if (wrong.length > 0) return wrong;
  const running = counted.map(([taskType, { live }]) => `${taskType} ${live}`).join(', ');
  return [ok('running counts', `match the running calls: ${running}`)];
}

/** A count expires with the last slot, and includes ended leases until they are taken back. */
function isRight({ shown, held, live }: RunningCount): boolean {
  return shown === null || shown === String(held) || shown === String(live);
}

function wrongCount(taskType: TaskType, { shown, live }: RunningCount): Finding {
  return failed(
    `running count of ${taskType}`,
    `shows ${shown}, but ${live} calls run: it leaked, or another program wrote it`,
    {
      hint: 'polling does not depend on this count; to correct it now',
      command: `cardpoll concurrency reset ${taskType} --yes`,
    },
  );
}

/** Reads the records itself, because the health of the fleet does not wait for a slow database. */
async function stopModeFindings(records: RecordStore, settings: StopSettings): Promise<Finding[]> {
  const check = 'stop mode';
  const figures = await readStopFigures(records, settings);
  const { mode, observed } = figures;
  const detail = `${mode}${originOf(figures, settings)}: `;
  if (mode === 'enforce') return [ok(check, `${detail}${countsOf(figures)}`)];
  return [
    warning(check, `${detail}${observedWords(observed)}`, {
      hint: 'look at cardpoll stops list --state observed, then stop cards again',
      command: "cardpoll stops mode enforce --reason 'checked what it would stop'",
    }),
  ];
}

/** Who set the mode, when and why, and whether the setting differs. */
function originOf({ setMode }: StopFigures, setting: StopSettings): string {
  if (setMode === null) return ', by the setting stops.mode';
  const { by, sinceMs, reason, mode } = setMode;
  const differs =
    mode === setting.mode ? '' : `; the setting stops.mode says ${setting.mode}, without effect`;
  return `, set by ${by} at ${new Date(sinceMs).toISOString()} (${reason})${differs}`;
}

function countsOf({ doneHour, budgetHour, doneDay, budgetDay, held, fleetCards }: StopFigures): string {
  const made = (done: number, budget: number | null) =>
    budget === null ? `${done}` : `${done} of ${budget}`;
  return `${made(doneHour, budgetHour)} stops in the last hour, ${made(doneDay, budgetDay)} in the last day, of ${fleetCards} cards; ${countedText(held, STOPS_COUNTED, String)} held`;
}

const RING_CHECK = 'scheduled cards';
const PLACES = 20;
const CARDS_A_PLACE = 50;

/**
 * Checks that cards are in the rings that poll them. It checks a new random sample each time, so that ten million cards take
 * as long as a thousand. The leader compares all cards (docs/decisions/0012-reconciliation.md).
 * @param isLed whether an instance leads; the leader adds cards to their rings
 * @param random uniform in [0, 1)
 * @param settle waits as long as a changed card needs to reach its rings
 */
export async function ringSampleFindings(
  { live, records, isLed }: Pick<OperationDeps, 'live' | 'records'> & { readonly isLed: boolean },
  progress: InitProgress,
  random: () => number,
  settle: () => Promise<void>,
): Promise<Finding[]> {
  if (progress.status !== 'completed') return [skipped(RING_CHECK, 'the initialisation is not completed')];
  const cards = await sample(records, random);
  let { places, missing } = await lookUp(live, records, cards);
  if (missing.size > 0) {
    await settle();
    // Read again, because some may be deleted by now.
    ({ missing } = await lookUp(live, records, await records.cards.byIds([...missing])));
  }
  if (missing.size === 0)
    return [ok(RING_CHECK, `${countWords(cards.length, 'card')} checked, all in the schedule`)];
  const detail = `${countWords(missing.size, 'card')} of ${cards.length} checked (${places} places) are missing from the schedule`;
  const remedy = isLed
    ? { hint: 'compare the schedule with all cards', command: 'cardpoll init rebuild --yes' }
    : { hint: 'no instance leads; the next leader adds them', command: 'cardpoll stats instances' };
  return [failed(RING_CHECK, detail, remedy)];
}

/** @returns how many memberships the cards should have, and the cards that lack one. */
async function lookUp(live: LiveStore, records: RecordStore, cards: readonly CardMembership[]) {
  const [configs, rings] = await Promise.all([records.configs.list(), live.rings.list()]);
  const matcher = new ConfigMatcher(configs);
  const wanted = cards.flatMap((card) =>
    TASK_TYPES.flatMap((taskType) => {
      const config = matcher.match(taskType, card);
      if (config === null) return [];
      const ring = rings.find((one) => one.configId === config.id && one.taskType === taskType);
      return { cardId: card.cardId, ring };
    }),
  );
  const missing = new Set<number>();
  for (const [ring, ofRing] of groupBy(wanted, (one) => one.ring)) {
    const ids = ofRing.map(({ cardId }) => cardId);
    const isBuilt = ring !== undefined && ring.generation > 0;
    const members = isBuilt ? await live.rings.contains(ring, ids) : [];
    for (const [i, cardId] of ids.entries()) if (members[i] !== true) missing.add(cardId);
  }
  return { places: wanted.length, missing };
}

async function sample(records: RecordStore, random: () => number): Promise<CardMembership[]> {
  const last = await records.cards.lastId();
  const starts = [0, ...Array.from({ length: PLACES - 1 }, () => Math.floor(random() * last))];
  const pages = await Promise.all(starts.map((after) => records.cards.page(after, CARDS_A_PLACE)));
  return [...new Map(pages.flat().map((card) => [card.cardId, card])).values()];
}
