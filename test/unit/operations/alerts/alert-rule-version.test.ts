// Which changes of an alert rule make another version of it.
import { expect, it } from 'vitest';
import { alertRuleVersion } from '../../../../src/operations/alerts/alerts.ts';
import type { AlertRuleReport } from '../../../../src/resources/alerts.ts';
import { ruleFields } from '../../../support/alert-rules.ts';

const RULE: AlertRuleReport = {
  ...{ ...ruleFields(), notifyChannels: [], id: 1, createdAt: new Date(0), updatedAt: new Date(1) },
  ...{ hasWebhookSecret: false, webhookFormat: 'standard', webhookTemplate: null },
};

it.each<Partial<AlertRuleReport>>([
  { id: 2 },
  { name: 'other' },
  { ruleType: 'avg_duration' },
  { taskType: 'realname' },
  { comparison: '<' },
  { threshold: 11 },
  { isEnabled: false },
  { notifyChannels: ['webhook'] },
  { cooldownSeconds: 1 },
  { webhookFormat: 'slack' },
  { updatedAt: new Date(5) },
])('%j makes another version', (over) => {
  expect(alertRuleVersion({ ...RULE, ...over })).not.toBe(alertRuleVersion(RULE));
});
