// Alert rules that plain SQL changes behind the operations' back: nothing an operator does about one fails over it.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Actor } from '../../../../src/domain/audit.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { WebhookTester } from '../../../../src/engine/alerts/webhook-attempt.ts';
import { AlertOperations } from '../../../../src/operations/alerts/alerts.ts';
import { Audit } from '../../../../src/operations/audit.ts';
import type { Operations } from '../../../../src/operations/operations.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../../../src/platform/ssrf-guard.ts';
import type { AlertRecords } from '../../../../src/store/ports/records/alert-records.ts';
import { TESTER_MEANS } from '../../../support/message-deps.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';

const ANNA: Actor = { name: 'anna', role: 'admin', address: null, requestId: null };
const RULE: Parameters<Operations['alerts']['create']>[1] = {
  name: 'Backlog',
  ruleType: 'queue_backlog',
  taskType: 'package',
  comparison: '>',
  threshold: 10,
  isEnabled: true,
  notifyChannels: ['webhook'],
  webhookUrl: 'https://hooks.example:8443/T0/SECRET?key=1',
};

let stores: OperatedStores;
let alerts: Operations['alerts'];

beforeAll(async () => {
  stores = await openOperatedStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  alerts = stores.operations().alerts;
  await stores.sql('DELETE FROM alert_rules');
});

/** The operations, to which a rule is gone as soon as they have read it. */
function tooLate(): Operations['alerts'] {
  const { records } = stores;
  const going = (known: AlertRecords): AlertRecords =>
    Object.assign(Object.create(known), {
      rule: async (id: number) => {
        const found = await known.rule(id);
        await stores.sql(`DELETE FROM alert_rules WHERE id = ${id}`);
        return found;
      },
    });
  const guard = new SsrfGuard([], NO_PROXIES);
  return new AlertOperations({
    records,
    guard,
    tester: new WebhookTester({ ...TESTER_MEANS, guard, secrets: [], timeZone: 'UTC', clock: systemClock }),
    audit: new Audit({
      records: {
        ...records,
        inTurn: (work) => records.inTurn((tx) => work({ ...tx, alerts: going(tx.alerts) })),
      },
      clock: systemClock,
      calendar: new MonthCalendar('UTC'),
      log: { info: () => {} },
    }),
    limits: { maxOpenTriggers: 1, maxOpenConditionTriggers: 1, maxAlertRules: Infinity },
  });
}

it.each<[string, (id: number) => Promise<unknown>]>([
  ['changed', (id) => tooLate().update(ANNA, id, { threshold: 1 }, null)],
  ['removed', (id) => tooLate().remove(ANNA, id)],
])('one that goes while it is %s is not found', async (_what, change) => {
  const { id } = await alerts.create(ANNA, RULE);
  const known = await stores.lastTrace();
  await expect(change(id)).rejects.toMatchObject({
    kind: 'not_found',
    code: 'alert_rule_not_found',
    message: `there is no alert rule ${id}`,
  });
  expect(await stores.lastTrace()).toEqual(known);
});

it('a rule with an invalid URL is tested, corrected and removed like any other', async () => {
  const { id } = await alerts.create(ANNA, RULE);
  const damage = () => stores.sql(`UPDATE alert_rules SET webhook_url = 'SECRET' WHERE id = ${id}`);
  await damage();
  expect(await alerts.test(ANNA, id)).toMatchObject({ delivered: false, error: 'must be a URL' });
  expect((await stores.lastTrace()).after).toEqual({ webhook_url: '…' });
  await alerts.update(ANNA, id, { webhookUrl: RULE.webhookUrl }, null);
  expect(await stores.lastTrace()).toMatchObject({
    before: { webhook_url: '…' },
    after: { webhook_url: 'https://hooks.example:8443', webhook_url_changed: true },
  });
  await damage();
  await alerts.remove(ANNA, id);
  expect((await stores.lastTrace()).before).toMatchObject({ webhook_url: '…' });
});
