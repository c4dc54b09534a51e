// The only source of advice on limits: which limit a task type should have, and why. `stats`, the doctor, the dashboard and
// `concurrency advise` show this advice and no other. Used by the judge. Pure.
//
// It combines two sources: the recommendation of the operations interface, section 8, for the gateway's response time, and the
// measurements at the limits that the type has had (domain/limits/concurrency-curve.ts). It never advises a higher limit when the
// gateway is the cause: more calls at a time make a slow gateway slower.
import { type CurvePoint, kneeOf } from '../domain/limits/concurrency-curve.ts';
import { MAX_CONCURRENCY_BOUNDS, recommendedConcurrency } from '../domain/limits/operator-limits.ts';
import { rounded } from '../domain/numbers.ts';
import { type Slowness, secondsWords } from '../domain/stats/usual-latency.ts';
import type { TaskType } from '../domain/task-type.ts';
import type { Capacity } from './capacity.ts';

export interface AdviceInputs {
  readonly taskType: TaskType;
  readonly capacity: Pick<
    Capacity,
    'demandPerSecond' | 'capacityPerSecond' | 'boundBy' | 'heldBy' | 'drainSeconds'
  >;
  /** Current duration of a poll; null: unknown. */
  readonly callMs: number | null;
  readonly maxConcurrency: number;
  readonly effectiveConcurrency: number;
  /** Why the limit in force is lower; null: it is not lower, or the reason is unknown. */
  readonly limitReason: string | null;
  /** A trial of some seconds keeps the limit lower on purpose. */
  readonly isTrying: boolean;
  /** null: the gateway is as fast as usual. */
  readonly slowness: Slowness | null;
  readonly curve: readonly CurvePoint[];
}

/** resources/limits.ts documents the fields. */
export interface LimitAdvice {
  readonly verdict: 'raise' | 'lower' | 'keep' | 'unknown';
  readonly maxConcurrency: number;
  readonly recommended: { readonly min: number; readonly max: number } | null;
  readonly remedy: string | null;
  readonly why: string;
}

/** The advice leaves this share of the capacity free: a limit that just meets the demand never drains a backlog. */
const SPARE_PERCENT = 10;
/** A limit up to this many times the advised one is good enough. */
const NEARLY = 1.25;
/** Beyond the recommended limits one step is at most this factor: the gateway may accept less load than it is sent. */
const STEP = 2;

export function adviceOn(inputs: AdviceInputs): LimitAdvice {
  const { capacity, callMs, maxConcurrency: max, effectiveConcurrency, slowness } = inputs;
  const { capacityPerSecond, demandPerSecond, heldBy } = capacity;
  if (callMs === null || capacityPerSecond === null) {
    const why = heldBy ?? 'no poll of the last five minutes succeeded';
    return { verdict: 'unknown', maxConcurrency: max, recommended: null, remedy: null, why };
  }
  const recommended = recommendedConcurrency(slowness?.usualMs ?? callMs);
  // A trial must not lead to the advice to poll less often: the limit without the trial counts.
  const share = inputs.isTrying && capacity.boundBy === 'concurrency' ? effectiveConcurrency / max : 1;
  const isShort = capacityPerSecond <= demandPerSecond * share;
  const limit = limitFor(inputs, callMs, isShort, recommended);
  return {
    verdict: limit.to > max ? 'raise' : limit.to < max ? 'lower' : 'keep',
    maxConcurrency: limit.to,
    recommended,
    remedy: isShort ? remedyOf(inputs, limit.to, (demandPerSecond * share) / capacityPerSecond) : null,
    why: effectiveConcurrency < max || slowness !== null ? limit.why : `${limit.why}; ${curveWords(inputs)}`,
  };
}

type Range = ReturnType<typeof recommendedConcurrency>;

function limitFor(inputs: AdviceInputs, callMs: number, isShort: boolean, recommended: Range) {
  const { capacity, maxConcurrency: max, effectiveConcurrency: effective, curve } = inputs;
  const { demandPerSecond: demand, boundBy } = capacity;
  const keep = (why: string) => ({ to: max, why });
  const { slowness, limitReason } = inputs;
  if (slowness !== null) {
    const { nowMs, usualMs } = slowness;
    return keep(`the gateway is the cause: ${secondsWords(nowMs)} a call, usually ${secondsWords(usualMs)}`);
  }
  if (effective < max) {
    return keep(`${effective} of ${max} are in force: ${limitReason ?? 'the reason is not known yet'}`);
  }
  if (boundBy === 'rate_limits' && isShort) return keep('the rate limits of the gateway allow no more');
  const needed = concurrencyFor(demand, callMs);
  const range = `${recommended.min} to ${recommended.max} are recommended at ${secondsWords(callMs)} a call`;
  const knee = kneeOf(curve);
  const isPlateau = knee !== null && knee.concurrency < (curve.at(-1)?.concurrency ?? 0);
  if (isShort || max < recommended.min) {
    if (isPlateau && knee.concurrency <= max) return keep(`more than ${knee.concurrency} gains nothing`);
    const wanted = Math.max(isShort ? needed : 0, recommended.min, max);
    const to = Math.min(wanted, Math.max(recommended.max, STEP * max), MAX_CONCURRENCY_BOUNDS.max);
    const more = to < needed ? `, ${needed} would meet the demand: look again at ${to}` : '';
    return {
      to,
      why: `${isShort ? `${rounded(demand)} polls a second need ${needed}, ` : ''}${range}${more}`,
    };
  }
  const enough = Math.max(needed, recommended.max);
  // The measurements overrule the table: the rate grew up to this limit, and nothing was refused.
  if (max > NEARLY * enough && (knee === null || knee.concurrency < max)) return { to: enough, why: range };
  return keep(range);
}

/** Describes the measurements at former limits. */
function curveWords({ curve }: AdviceInputs): string {
  const top = curve.at(-1);
  if (top === undefined) return 'no curve yet: the limit was never reached';
  const knee = kneeOf(curve);
  if (knee === null) return `measured at one level: ${point(top)}`;
  if (top.concurrency <= knee.concurrency) return `measured up to ${point(top)}: the rate still grew`;
  return `more than ${knee.concurrency} gains nothing: ${point(knee)}, ${point(top)}`;
}

function point(level: CurvePoint): string {
  const short = (value: number) => (value < 10 ? Math.round(value * 10) / 10 : Math.round(value));
  const refused = level.backpressurePercent > 0 ? `, ${short(level.backpressurePercent)} % refused` : '';
  return `${short(level.ratePerSecond)}/s in ${short(level.avgDurationMs)} ms at ${level.concurrency}${refused}`;
}

/** The remedy for a backlog that never drains. */
function remedyOf({ taskType, maxConcurrency, slowness }: AdviceInputs, to: number, times: number): string {
  const lessOften = `poll ${taskType} ${Math.ceil(10 * withSpare(times)) / 10} times less often`;
  if (slowness !== null) return `wait until the gateway is as fast as usual, or ${lessOften}`;
  return to > maxConcurrency ? `raise the limit of ${taskType} to ${to}, or ${lessOften}` : lessOften;
}

/** The smallest limit that meets the demand and leaves the share above free. Not bounded. */
export function concurrencyFor(demandPerSecond: number, callMs: number): number {
  return Math.ceil((withSpare(demandPerSecond) * callMs) / 1000);
}

function withSpare(value: number): number {
  return value + (value * SPARE_PERCENT) / 100;
}
