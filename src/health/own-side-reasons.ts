// Shortages on our own side: processor, Redis, PostgreSQL, as instances measure them. They are named before the gateway, because
// they make every call look slow. Used by fleet-faults.ts. Pure.
import {
  busyWords,
  judgedSide,
  type OwnSide,
  type OwnTrouble,
  troublesOf,
} from '../domain/stats/own-side.ts';
import { secondsWords } from '../domain/stats/usual-latency.ts';
import { countWords } from '../domain/words.ts';
import type { InstanceInfo } from '../store/ports/live/coordination.ts';
import type { Cause } from './reason.ts';

interface Measured {
  readonly instanceId: string;
  readonly ownSide: OwnSide;
}

/** @param isLate polls are not made as configured: a shortage is an alert then. */
export function ownSideCauses(instances: readonly InstanceInfo[], isLate: boolean): Cause[] {
  const measured = instances.flatMap(({ instanceId, ownSide }) =>
    ownSide ? [{ instanceId, ownSide: judgedSide(ownSide) }] : [],
  );
  const severity = isLate ? 'alert' : 'warning';
  return (['own_cpu', 'redis_slow', 'database_slow'] as const).flatMap((code) => {
    const short = measured.filter(({ ownSide }) => troublesOf(ownSide).includes(code));
    const worst = short.sort((a, b) => figureOf(code, b.ownSide) - figureOf(code, a.ownSide))[0];
    if (worst === undefined) return [];
    const text = wordsOf(code, worst, short.length, measured);
    return [{ code, severity, text, command: 'cardpoll stats instances' }];
  });
}

function figureOf(code: OwnTrouble, { loopDelayMs, redisMs, databaseMs }: OwnSide): number {
  return { own_cpu: loopDelayMs, redis_slow: redisMs, database_slow: databaseMs }[code] ?? 0;
}

const UNJUDGED = '; meanwhile the gateway is not judged';

/** Other instances are the second witness: if all are slow, the cause is the store; if one is, the connection to it. */
function wordsOf(code: OwnTrouble, worst: Measured, short: number, measured: readonly Measured[]): string {
  const took = secondsWords(figureOf(code, worst.ownSide));
  const who = short === 1 ? worst.instanceId : `${short} of ${countWords(measured.length, 'instance')}`;
  if (code === 'own_cpu') {
    const why = busyWords(worst.ownSide);
    return why === null
      ? `timers of ${who} are ${took} late: cause unknown${UNJUDGED}`
      : `too little processor time for ${who}: timers are ${took} late, and ${why}${UNJUDGED}`;
  }
  const store = code === 'redis_slow' ? 'Redis' : 'PostgreSQL';
  const others = measured.filter((one) => one !== worst);
  const isAlone = short === 1 && others.length > 0;
  return isAlone
    ? `${store} takes ${took} a call for ${who}, but not for ${countWords(others.length, 'other instance')}: check the network from ${who} to ${store}${UNJUDGED}`
    : `${store} takes ${took} a call for ${who}${UNJUDGED}`;
}
