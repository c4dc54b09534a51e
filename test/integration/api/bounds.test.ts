// What callers may make is bounded: manual triggers that are open, and alert rules.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';

const TRIGGERS = '/api/admin/polling-manual-trigger';
const RULES = '/api/admin/polling-alert-rules';
const RULE = {
  name: 'backlog',
  rule_type: 'queue_backlog',
  task_type: 'realname',
  comparison: '>',
  threshold: 5,
  is_enabled: true,
  notify_channels: [],
};

let api: ApiUnderTest;

beforeAll(async () => {
  const stores = { redisUrl: (await freshRedis()).url, databaseUrl: await freshDatabase() };
  api = await startApi({
    ...stores,
    limits: { maxOpenTriggers: 2, maxOpenConditionTriggers: 3, maxAlertRules: 2 },
  });
});
afterAll(() => api.close());

it('triggers: a further one has to wait until one is over', async () => {
  const make = () => api.call('POST', `${TRIGGERS}/by-condition`, { json: { task_type: 'realname' } });
  const first = await make();
  expect([first.status, (await make()).status]).toEqual([202, 202]);
  expect(await make()).toMatchObject({
    status: 409,
    body: { code: 'too_many_triggers', hint: expect.stringContaining('api.max_open_triggers') },
  });
  const { trigger_id } = first.body;
  expect((await api.call('POST', `${TRIGGERS}/cancel`, { json: { trigger_id } })).status).toBe(200);
  expect((await make()).status).toBe(202);
});

it('alert rules: a further one needs the room of another', async () => {
  const make = () => api.call('POST', RULES, { json: RULE });
  const first = await make();
  expect([first.status, (await make()).status]).toEqual([201, 201]);
  expect(await make()).toMatchObject({
    status: 409,
    body: { code: 'too_many_alert_rules', hint: expect.stringContaining('api.max_alert_rules') },
  });
  await api.call('DELETE', `${RULES}/${first.body.id}`);
  expect((await make()).status).toBe(201);
});
