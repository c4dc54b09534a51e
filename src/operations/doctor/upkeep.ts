// Checks of everything that an operator sets up and maintains: polling configs that the rate limits allow; alert rules and the
// cleanup, whose absence shows only when they are needed; and admin tokens of the configuration, which expire. Used by fleet.ts,
// also before the first start, so the check of the rate limits reads the records only; for the tokens, by src/doctor.ts.
import { Cron } from 'croner';
import type { AdminToken } from '../../domain/admin-token.ts';
import type { AlertRule } from '../../domain/alerts/alert-rule.ts';
import {
  missingSecrets,
  type Receivers,
  receiverNamed,
  STANDARD,
  webhookFormatOf,
} from '../../domain/alerts/receiver.ts';
import { type Finding, failed, ok, warning } from '../../domain/finding.ts';
import type { CardsPerCall } from '../../domain/gateway-interface.ts';
import { groupBy } from '../../domain/group-by.ts';
import {
  callLimitsOf,
  type GatewayFacts,
  type RateLimit,
  rateLimitWords,
  stopWithinSeconds,
} from '../../domain/limits/rate-limit.ts';
import type { PollingConfig } from '../../domain/schedule/polling-config.ts';
import { perTaskType, TASK_TYPES, TASKS } from '../../domain/task-type.ts';
import { spanWords } from '../../domain/words.ts';
import { paceShareOf, paceShortWords } from '../../health/capacity.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { tooFrequent } from '../schedule/configs.ts';

/** A run that is missed while no leader is alive is skipped. One missed run of a daily schedule is no reason to warn. */
const CLEANUP_OVERDUE_MS = 2 * 86_400_000;
const RULES_LOOKED_AT = 1_000;

interface UpkeepFacts {
  readonly clock: Clock;
  readonly timeZone: string;
  /** Cron expression in that time zone, or `off`. */
  readonly cleanupSchedule: string;
  /** The receivers of this configuration. */
  readonly receivers: Receivers;
}

export async function upkeepFindings(records: RecordStore, facts: UpkeepFacts): Promise<Finding[]> {
  return [...(await alertFindings(records, facts)), await cleanupFinding(records, facts)];
}

const ALERT_CHECK = 'alert rules';
const NAMES_SHOWN = 3;

export async function alertFindings(
  { alerts }: Pick<RecordStore, 'alerts'>,
  { receivers }: Pick<UpkeepFacts, 'receivers'>,
): Promise<Finding[]> {
  const { items, total } = await alerts.rules({ offset: 0, limit: RULES_LOOKED_AT });
  const rules = groupBy(items, (rule) => (rule.isEnabled ? receiverProblem(rule, receivers) : null));
  const unheard = [...rules].flatMap(([problem, ofIt]) =>
    problem === null ? [] : unheardFinding(ofIt, problem),
  );
  return unheard.length > 0 ? unheard : [notifyingFinding(items, total)];
}

/** Why messages of the rule cannot be made; null: no problem. */
function receiverProblem(rule: AlertRule, receivers: Receivers): string | null {
  if (!rule.notifyChannels.includes('webhook')) return null;
  const name = webhookFormatOf(rule.webhookFormat, rule.webhookUrl, receivers);
  const receiver = receiverNamed(name, receivers);
  if (receiver === undefined) return name === STANDARD ? null : `it has no receiver ${name}`;
  const missing = missingSecrets(receiver, rule.webhookSecrets);
  return missing.length === 0 ? null : `its receiver ${name} has no secret ${missing.join(', ')}`;
}

function unheardFinding(rules: readonly AlertRule[], problem: string): Finding {
  const names = rules.map(({ name }) => name);
  const hint =
    'add it to webhooks.receivers and restart, or give the rule another receiver; then send a test. If daemons have another configuration, examine theirs';
  return failed(
    ALERT_CHECK,
    `a daemon with this configuration notifies no one by ${namesText(names)}: ${problem}`,
    {
      hint,
      command: `cardpoll alerts test ${rules[0]?.id}`,
    },
  );
}

function namesText(names: readonly string[]): string {
  const [shown, more] = [names.slice(0, NAMES_SHOWN).join(', '), names.length - NAMES_SHOWN];
  return more > 0 ? `${shown} and ${more} more rules` : shown;
}

function notifyingFinding(items: readonly AlertRule[], total: number): Finding {
  const check = ALERT_CHECK;
  const enabled = items.filter(({ isEnabled }) => isEnabled);
  const notifying = enabled.filter(({ notifyChannels }) => notifyChannels.length > 0).length;
  if (notifying > 0) {
    return ok(check, `${enabled.length} of ${total} rules enabled, ${notifying} with a webhook`);
  }
  if (enabled.length > 0) {
    return warning(
      check,
      `${enabled.length} of ${total} rules enabled, but none has a webhook: no one is notified`,
      {
        hint: '`cardpoll alerts recommended --apply --webhook-url URL` gives them one',
        command: 'cardpoll alerts rules',
      },
    );
  }
  return total === 0
    ? warning(check, 'there are none: no one is notified when polling fails', {
        hint: 'to be notified as well, add --webhook-url URL to the command',
        command: 'cardpoll alerts recommended --apply',
      })
    : warning(check, `all ${total} are disabled: no one is notified when polling fails`, {
        command: `cardpoll alerts rules update ${items[0]?.id} --enable`,
      });
}

async function cleanupFinding(
  { cleanup, migrations }: RecordStore,
  { clock, timeZone, cleanupSchedule }: UpkeepFacts,
): Promise<Finding> {
  const check = 'cleanup';
  const command = 'cardpoll cleanup run --yes --wait';
  const [last, tables] = await Promise.all([cleanup.latest(), migrations.status()]);
  if (last?.status === 'failed') {
    const errors = last.items.flatMap(({ target, error }) => (error === null ? [] : `${target}: ${error}`));
    return warning(check, `the last run failed: ${errors.join('; ')}`, { command });
  }
  const nowMs = clock.now();
  const atMs = last === null ? null : (last.finishedAtMs ?? last.startedAtMs);
  const at = atMs === null ? null : new Date(atMs).toISOString();
  if (last?.status === 'running') return ok(check, `running since ${at}`);
  if (cleanupSchedule === 'off') {
    if (at !== null) return ok(check, `last run at ${at}`);
    return warning(check, 'it has never run and has no schedule: expired data is never removed', {
      hint: 'set cleanup.schedule, or run it from cron',
      command,
    });
  }
  const sinceMs = last?.startedAtMs ?? Math.min(...tables.map(({ appliedAtMs }) => appliedAtMs ?? nowMs));
  const due = new Cron(cleanupSchedule, { timezone: timeZone }).nextRun(new Date(sinceMs));
  if (due === null || nowMs - due.getTime() <= CLEANUP_OVERDUE_MS) {
    return ok(
      check,
      at === null ? `has not run yet; its schedule is ${cleanupSchedule}` : `last run at ${at}`,
    );
  }
  const found =
    atMs === null ? 'it has never run' : `the last run was ${spanWords((nowMs - atMs) / 1000)} ago, at ${at}`;
  return warning(
    check,
    `${found}, although its schedule is ${cleanupSchedule}: no leader was alive at these times, or the schedule is new`,
    { command },
  );
}

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

/** One finding for each token that has expired or expires soon; none without tokens. */
export function tokenFindings(tokens: ReadonlyArray<Omit<AdminToken, 'hash'>>, nowMs: number): Finding[] {
  if (tokens.length === 0) return [];
  const ending = tokens.filter(({ expiresAtMs }) => (expiresAtMs ?? Infinity) - nowMs < SOON_DAYS * DAY_MS);
  if (ending.length === 0) {
    return [ok('admin tokens', `${tokens.length} known, none expires within ${SOON_DAYS} days`)];
  }
  return ending.map(({ name, role, expiresAtMs }) => {
    const endsMs = expiresAtMs ?? nowMs;
    const lastDay = new Date(endsMs - 1).toISOString().slice(0, 10);
    const is =
      endsMs <= nowMs ? `expired: ${lastDay} was its last day` : `expires: ${lastDay} is its last day`;
    return warning('admin tokens', `the token of ${name} ${is}`, {
      hint: 'add the line of a new token, reload, and remove the old line when the new token is in use',
      command: `cardpoll token new --name ${name} --role ${role}`,
    });
  });
}

const RATE_CHECK = 'rate limits';

/** Checks whether the rate limits allow the polling configs. @returns no finding without a limit. */
export async function rateLimitFindings(
  records: Pick<RecordStore, 'configs' | 'cards'>,
  { rateLimits: limits, offers, cardsPerCall }: GatewayFacts,
): Promise<Finding[]> {
  if (limits.length === 0) return [];
  const [configs, cards] = await Promise.all([records.configs.list(), records.cards.estimate()]);
  const enabled = configs.filter(({ taskType, status }) => status === 1 && offers(TASKS[taskType].interface));
  const findings = [
    ...frequentFindings(enabled, limits),
    ...shortFindings(enabled, cards, limits, cardsPerCall),
  ];
  const met = findings.length > 0 ? findings : [ok(RATE_CHECK, limits.map(rateLimitWords).join('; '))];
  return [...met, ...stopTimeFindings(limits, offers)];
}

/** The same figure as the start logs (`stop_within_s`). A time below a second does not depend on the rate limits. */
function stopTimeFindings(limits: readonly RateLimit[], offers: GatewayFacts['offers']): Finding[] {
  const seconds = stopWithinSeconds(callLimitsOf(limits));
  if (seconds < 1 || !offers('stop')) return [];
  return [ok(RATE_CHECK, `the rate limits allow a stop within ${spanWords(seconds)} of its reading`)];
}

function frequentFindings(configs: readonly PollingConfig[], limits: readonly RateLimit[]): Finding[] {
  return configs.flatMap(({ id, taskType, intervalSeconds }) => {
    const problem = tooFrequent(taskType, intervalSeconds, limits);
    if (problem === null) return [];
    const command = `cardpoll configs set ${id} --interval-seconds SECONDS`;
    return warning(RATE_CHECK, `config ${id}: interval_seconds is ${intervalSeconds}, and ${problem}`, {
      command,
    });
  });
}

/** Assumes that each type polls all cards at its longest interval: the least demand, whatever each config selects. */
function shortFindings(
  configs: readonly PollingConfig[],
  cards: number,
  limits: readonly RateLimit[],
  cardsPerCall: CardsPerCall,
): Finding[] {
  const intervals = perTaskType((taskType) => {
    const own = configs.filter((config) => config.taskType === taskType);
    return Math.max(0, ...own.map(({ intervalSeconds }) => intervalSeconds));
  });
  const demand = perTaskType((taskType) => (intervals[taskType] === 0 ? 0 : cards / intervals[taskType]));
  return TASK_TYPES.flatMap((taskType) => {
    const share = paceShareOf(taskType, callLimitsOf(limits), demand, cardsPerCall);
    if (share === null || demand[taskType] <= share.perSecond) return [];
    const words = paceShortWords(share, demand[taskType], intervals[taskType]);
    return warning(RATE_CHECK, `${taskType}: ${words}`, {
      hint: 'poll less often, or ask the owner of the gateway for more calls',
      command: 'cardpoll configs',
    });
  });
}
