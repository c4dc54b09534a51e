// The reasons of the fleet's health as findings. Used by fleet.ts; the sentences are health-reasons.ts. Pure.
import type { HealthReason } from '../health-reasons.ts';
import { type Finding, failed, warning } from './finding.ts';

/** Shows more everywhere but here. */
const THIS = 'cardpoll doctor';

export function healthFindings(reasons: readonly HealthReason[]): Finding[] {
  return reasons.map(({ code, severity, text, command }) => {
    const judge = severity === 'alert' ? failed : warning;
    return command === THIS ? judge(code, text, SEE_OTHERS) : judge(code, text, { command });
  });
}

const SEE_OTHERS = { hint: 'see what else was found' };
