import { expect, it } from 'vitest';
import { alertText, conditionText } from '../../../src/terminal/reports/alert-tables.ts';
import { ALERT } from '../dashboard/states.ts';

it('a rule of health shows the name of its level', () => {
  expect(conditionText({ rule_type: 'health', comparison: '>', threshold: 1 })).toBe('health > warning');
  expect(conditionText({ rule_type: 'queue_backlog', comparison: '>', threshold: 1 })).toBe(
    'queue_backlog > 1',
  );
});

it('an alert shows its cause, and without one the value at which it fired', () => {
  const cause = {
    code: 'table_locked',
    severity: 'alert',
    text: 'PostgreSQL answers',
    command: null,
  } as const;
  const alert = { ...ALERT, rule_name: 'Health: package', cause };
  expect(alertText(alert)).toBe('Health: package: PostgreSQL answers');
  expect(alertText({ ...alert, cause: null })).toMatch(/when it fired$/);
});
