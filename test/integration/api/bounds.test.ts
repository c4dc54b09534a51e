// What callers may make is bounded: manual triggers that are open, and alert rules. Two that come at once do not both get the
// last place.
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
  const limits = { maxOpenTriggers: 3, maxOpenConditionTriggers: 2, maxAlertRules: 2 };
  api = await startApi({ ...stores, limits });
});
afterAll(() => api.close());

it('open triggers are limited, those by condition for each task type', async () => {
  const make = (task_type: string) => api.call('POST', `${TRIGGERS}/by-condition`, { json: { task_type } });
  const replies = await Promise.all(['realname', 'realname', 'realname'].map(make));
  expect(replies.map(({ status }) => status).sort()).toEqual([202, 202, 409]);
  expect(replies.find(({ status }) => status === 409)?.body).toMatchObject({
    code: 'too_many_condition_triggers',
    detail: expect.stringContaining('2 triggers by condition are already open for realname'),
    hint: expect.stringMatching(/cardpoll trigger cancel --all/),
  });
  const third = await make('package');
  expect(third.status).toBe(202);
  expect(await make('carddata')).toMatchObject({
    status: 409,
    body: {
      code: 'too_many_triggers',
      detail: expect.stringContaining('3 manual triggers are already open'),
      hint: expect.stringContaining('api.max_open_triggers'),
    },
  });
  const { trigger_id } = third.body;
  expect((await api.call('POST', `${TRIGGERS}/cancel`, { json: { trigger_id } })).status).toBe(200);
  expect((await make('carddata')).status).toBe(202);
});

it('alert rules are limited, and a deleted one makes room', async () => {
  const make = () => api.call('POST', RULES, { json: RULE });
  const first = await make();
  const replies = await Promise.all([make(), make()]);
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
  expect(replies.find(({ status }) => status === 409)?.body).toMatchObject({
    code: 'too_many_alert_rules',
    detail: expect.stringContaining('there are already 2 alert rules'),
    hint: expect.stringContaining('api.max_alert_rules'),
  });
  await api.call('DELETE', `${RULES}/${first.body.id}`);
  expect((await make()).status).toBe(201);
});
