// Which changes of an alert rule make another version of it.
import { expect, it } from 'vitest';
import type { AlertRule } from '../../../../src/domain/alerts/alert-rule.ts';
import { alertRuleVersion } from '../../../../src/operations/alerts/alerts.ts';
import { ruleFields } from '../../../support/alert-rules.ts';

const RULE: AlertRule = { ...ruleFields(), id: 1, createdAtMs: 0, updatedAtMs: 1 };

it.each<Partial<AlertRule>>([
  { id: 2 },
  { name: 'other' },
  { ruleType: 'avg_duration' },
  { taskType: 'realname' },
  { comparison: '<' },
  { threshold: 11 },
  { isEnabled: false },
  { notifyChannels: ['webhook'] },
  { cooldownSeconds: 1 },
  { updatedAtMs: 5 },
])('%j makes another version', (over) => {
  expect(alertRuleVersion({ ...RULE, ...over })).not.toBe(alertRuleVersion(RULE));
});
