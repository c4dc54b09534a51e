// Limits and pauses through the API, over Redis and PostgreSQL: what is in force and why, and what changes it.

import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { TASK_TYPES, type TaskType } from '../../../src/domain/task-type.ts';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { setLimit } from '../../support/limits.ts';

const LIMITS = '/api/admin/polling-concurrency';
const PAUSES = '/api/admin/polling-pauses';

let api: ApiUnderTest;
let databaseUrl: string;

beforeAll(async () => {
  databaseUrl = await freshDatabase();
  api = await startApi({ redisUrl: (await freshRedis()).url, databaseUrl });
});
afterAll(() => api.close());
beforeEach(async () => {
  for (const taskType of TASK_TYPES) {
    await put(taskType, 100);
    await api.live.work.setEffectiveConcurrency(taskType, null);
    await api.live.work.resume(taskType);
  }
});

const put = (taskType: TaskType, max_concurrency: number, headers = {}) =>
  api.call('PUT', `${LIMITS}/${taskType}`, { json: { max_concurrency }, headers });

async function get(path: string) {
  const reply = await api.call('GET', path);
  expect(reply).toMatchObject({ status: 200 });
  return reply.body;
}
const show = (taskType: TaskType) => get(`${LIMITS}/${taskType}`);

it('lists the limits', async () => {
  const list = await get(LIMITS);
  expect(list).toMatchObject({ page: 1, page_size: 20, total: 3 });
  const untouched = { effective_concurrency: 100, reason: null, curve: [], knee: null };
  expect(list.items[2]).toEqual({ task_type: 'package', max_concurrency: 100, current: 0, ...untouched });
  expect(await get('/api/admin/polling-concurrency?page=2&page_size=2')).toMatchObject({
    items: [{ task_type: 'package' }],
    page: 2,
    page_size: 2,
    total: 3,
  });
});

it('the list shows what is in force, why it is less, and what was measured', async () => {
  const level = {
    ratePerSecond: 300.5,
    avgDurationMs: 51,
    backpressurePercent: 0,
    atMs: 1_800_000_000_000,
  };
  await api.live.work.setEffectiveConcurrency('carddata', 3);
  await api.live.work.saveLimitRecord('carddata', {
    limit: 3,
    normalMs: 50,
    reason: '8 % of 120 calls timed out',
    curve: [
      { ...level, concurrency: 2, ratePerSecond: 200 },
      { ...level, concurrency: 3 },
    ],
  });
  const shown = {
    rate_per_second: 300.5,
    avg_duration_ms: 51,
    backpressure_percent: 0,
    at: '2027-01-15T08:00:00.000Z',
  };
  expect((await get(LIMITS)).items[1]).toMatchObject({
    task_type: 'carddata',
    effective_concurrency: 3,
    reason: '8 % of 120 calls timed out',
    curve: [
      { ...shown, concurrency: 2, rate_per_second: 200 },
      { ...shown, concurrency: 3 },
    ],
    knee: { ...shown, concurrency: 3 },
  });
  expect((await get('/api/admin/polling-stats/tasks')).items[1].effective_concurrency).toBe(3);
  await api.live.work.setEffectiveConcurrency('carddata', null);
});

it.each([1, 100_000, 50])('sets a limit of %d, for good and at once', async (max_concurrency) => {
  const reply = await put('package', max_concurrency);
  expect(reply).toMatchObject({ status: 200, body: { task_type: 'package', max_concurrency, current: 0 } });
  expect((await api.records.configs.recordedLimits()).package).toMatchObject({
    maxConcurrency: max_concurrency,
  });
  expect(await api.live.work.counts('package')).toMatchObject({ maxConcurrency: max_concurrency });
});

it('resets the running count', async () => {
  await setLimit(api.live.work, 'realname', 10);
  await api.live.manual.push('realname', ['1', '2', '3']);
  await api.live.work.claim('realname', { instanceId: 'gone', claimNumber: 1, max: 3, leaseMs: 600_000 });
  const reset = () =>
    api.call('POST', '/api/admin/polling-concurrency/reset', { json: { task_type: 'realname' } });
  expect(await reset()).toMatchObject({
    status: 200,
    body: { task_type: 'realname', previous: 3, current: 0 },
  });
  expect(await api.lastTrace()).toMatchObject({
    action: 'concurrency.reset',
    object: 'task_type realname',
    before: { current: 3 },
    after: { current: 0 },
  });
  expect((await reset()).body).toEqual({ task_type: 'realname', previous: 0, current: 0 });
});

it('a limit is of record while the live store is away, and then comes into force', async () => {
  const away = new Error('the live store is away');
  const failing = vi.spyOn(api.live.work, 'putInForce').mockRejectedValueOnce(away);
  expect((await put('carddata', 60)).status).toBe(500);
  failing.mockRestore();
  expect((await api.records.configs.recordedLimits()).carddata.maxConcurrency).toBe(60);
  expect((await put('carddata', 60)).body).toMatchObject({ max_concurrency: 60 });
  expect((await api.live.work.counts('carddata')).maxConcurrency).toBe(60);
});

it('a limit of another task type is another version', async () => {
  const { etag } = (await api.call('GET', `${LIMITS}/package`)).headers;
  expect((await put('carddata', 5, { 'if-match': etag })).status).toBe(412);
});

it('a reason is given only where less is in force, and once the leader has stored it', async () => {
  const { work } = api.live;
  await work.saveLimitRecord('realname', { limit: 50, normalMs: 9, reason: 'refused', curve: [] });
  expect(await show('realname'), 'as much as set is in force').toMatchObject({ reason: null });
  await work.setEffectiveConcurrency('realname', 50);
  expect(await show('realname')).toMatchObject({ effective_concurrency: 50, reason: 'refused' });
  await work.setEffectiveConcurrency('package', 50);
  expect(await show('package'), 'before the leader has stored why').toMatchObject({ reason: null });
});

it('where polls wait for a rate limit the reason names it', async () => {
  const limits = [{ id: 'flow/second', interfaces: ['flow'], perSecond: 2, burst: 2 }] as const;
  await api.live.pace.take({ participant: 'carddata', interfaceName: 'flow', calls: 50, limits });
  expect((await show('carddata')).reason).toBe('calls wait for the rate limit of 2 a second');
  expect((await show('package')).reason).toBeNull();
});

it('the stored limit is shown where the live store knows none', async () => {
  await put('package', 33);
  const redisUrl = (await freshRedis()).url;
  const empty = await startApi({ redisUrl, databaseUrl });
  const redis = new Redis(redisUrl);
  await redis.flushall();
  redis.disconnect();
  const limits = async () =>
    (await empty.call('GET', LIMITS)).body.items.map(
      (one: { max_concurrency: number }) => one.max_concurrency,
    );
  expect(await limits()).toEqual([100, 100, 33]);
  await empty.close();
});

describe('pauses', () => {
  const gatewayPauses = (taskType: TaskType, ms: number) =>
    api.live.work.pause(taskType, { ms, reason: '429', by: 'instance-1' });
  const pause = async (task_type: string, seconds = 600, reason = 'maintenance') =>
    (await api.call('POST', PAUSES, { json: { task_type, seconds, reason } })).body.items;
  const resume = async (taskType: string) =>
    namesOf((await api.call('DELETE', `${PAUSES}?task_type=${taskType}`)).body.items);
  const listed = async () => (await get(PAUSES)).items;
  const namesOf = (items: { task_type: string; source: string }[]) =>
    items.map(({ task_type, source }) => `${task_type} ${source}`);

  it('a pause of one task type pauses that type, for the given time', async () => {
    const made = await pause('package');
    expect(made).toMatchObject([
      { task_type: 'package', source: 'operator', reason: 'maintenance', by: 'local' },
    ]);
    expect(Date.parse(made[0].until) - Date.parse(made[0].since)).toBe(600_000);
    expect(await listed()).toMatchObject([{ task_type: 'package', reason: 'maintenance', by: 'local' }]);
  });

  it('a pause of more than an hour needs a reason, by the same rule as on the command line', async () => {
    const asked = (seconds: number, reason: string) =>
      api.call('POST', PAUSES, { json: { task_type: 'package', seconds, reason } });
    for (const reason of ['', '  ']) {
      expect(await asked(3_601, reason)).toMatchObject({
        status: 422,
        body: {
          code: 'pause_reason_missing',
          detail: 'a pause of more than 1h needs a reason: colleagues see it for so long',
          hint: "cardpoll pause package --for 3601s --reason 'gateway maintenance'",
        },
      });
    }
    expect(await listed()).toEqual([]);
    expect((await asked(3_600, '')).status).toBeLessThan(300);
    expect((await asked(3_601, 'vendor window')).status).toBeLessThan(300);
    await resume('all');
  });

  it('are listed by task type, the one that lasts longest first', async () => {
    await gatewayPauses('package', 5_000);
    await pause('package');
    await pause('carddata', 60);
    await gatewayPauses('carddata', 90_000);
    await gatewayPauses('realname', 1_000_000);
    expect(namesOf(await listed())).toEqual([
      ...['realname gateway', 'carddata gateway', 'carddata operator'],
      ...['package operator', 'package gateway'],
    ]);
  });

  it('pauses of operators replace each other, and end for one type or for all, also those of the gateway', async () => {
    await gatewayPauses('package', 50_000);
    expect(namesOf(await pause('all'))).toEqual(TASK_TYPES.map((taskType) => `${taskType} operator`));
    expect(await pause('carddata', 60, 'nearly done')).toMatchObject([{ reason: 'nearly done' }]);
    expect(await resume('realname')).toEqual(['realname operator']);
    expect(await resume('all')).toEqual(['carddata operator', 'package operator', 'package gateway']);
    expect(await listed()).toEqual([]);
    expect(await resume('all')).toEqual([]);
  });
});
