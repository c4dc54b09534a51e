// Maintenance windows through the API, over Redis and PostgreSQL: what is planned, what is refused, and what begins and ends at once.
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { cardRow } from '../../support/cards.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';

const WINDOWS = '/api/admin/maintenance';
const HOUR_MS = 3_600_000;
const [OPERATOR, VIEWER] = ['o'.repeat(32), 'v'.repeat(32)];

let api: ApiUnderTest;

beforeAll(async () => {
  api = await startApi({
    redisUrl: (await freshRedis()).url,
    databaseUrl: await freshDatabase(),
    tokens: [
      { name: 'ann', role: 'operator', token: OPERATOR },
      { name: 'eve', role: 'viewer', token: VIEWER },
    ],
  });
  await api.records.cards.importChunk([cardRow(1, { carrierId: 2 })]);
});
afterAll(() => api.close());
beforeEach(async () => {
  for (const { id } of await api.records.maintenance.open()) await api.records.maintenance.cancel(id);
  for (const taskType of TASK_TYPES) await api.live.work.resume(taskType);
});

const headers = (token = OPERATOR) => ({ authorization: `Bearer ${token}` });
const at = (ms: number) => new Date(Date.now() + ms).toISOString();
const send = (method: string, path: string, json?: object, token = OPERATOR) =>
  api.call(method, path, { ...(json === undefined ? {} : { json }), headers: headers(token) });
const plan = (order: object = {}) =>
  send('POST', WINDOWS, { from: at(HOUR_MS), seconds: 3_600, reason: 'vendor window', ...order });
const listed = async () => (await send('GET', WINDOWS)).body.items;

it('a window is planned, listed and cancelled, with an entry in the trail each', async () => {
  const from = at(HOUR_MS);
  const { status, body } = await plan({ from, task_type: 'carddata', carrier_id: 2 });
  expect([status, body]).toEqual([
    201,
    {
      id: expect.any(Number),
      ...{ task_type: 'carddata', carrier_id: 2, starts_at: from, state: 'planned' },
      ...{ ends_at: new Date(Date.parse(from) + HOUR_MS).toISOString(), reason: 'vendor window', by: 'ann' },
    },
  ]);
  expect(await listed()).toEqual([body]);
  expect(await api.lastTrace()).toMatchObject({
    ...{ action: 'maintenance.plan', object: `maintenance ${body.id}`, name: 'ann', before: null },
    after: { task_type: 'carddata', carrier_id: 2, starts_at: from, reason: 'vendor window', by: 'ann' },
  });
  expect(await send('DELETE', `${WINDOWS}/${body.id}`)).toMatchObject({ status: 200, body });
  expect(await api.lastTrace()).toMatchObject({
    action: 'maintenance.cancel',
    before: { state: 'planned', starts_at: from },
  });
  expect(await listed()).toEqual([]);
  expect(await send('DELETE', `${WINDOWS}/${body.id}`)).toMatchObject({
    status: 404,
    body: { code: 'maintenance_not_found' },
  });
});

it.each<[string, object, string, RegExp]>([
  ['in the past', { from: at(-120_000) }, 'from', /must not be in the past: it is 20/],
  ['in a wrong year', { from: at(400 * 24 * HOUR_MS) }, 'from', /at most 366 days ahead/],
  ['for longer than seven days', { seconds: 604_801 }, 'seconds', /60 to 604800/],
  ['of a carrier without cards', { carrier_id: 9 }, 'carrier_id', /^no card has carrier 9$/],
  ['without a reason', { reason: ' ' }, 'reason', /is required/],
  ['of an unknown task type', { task_type: 'sms' }, 'task_type', /must be/],
  ['at no time', { from: 'tonight' }, 'from', /must be a time/],
])('a window %s is refused', async (_, order, field, message) => {
  const { status, body } = await plan(order);
  expect([status, body.errors]).toEqual([422, [{ field, message: expect.stringMatching(message) }]]);
  expect(await listed()).toEqual([]);
});

it('two windows may not overlap for the same task type and carrier', async () => {
  const { body: first } = await plan({ task_type: 'package' });
  for (const order of [{}, { task_type: 'package', carrier_id: 2 }]) {
    const { status, body } = await plan(order);
    expect([status, body.code]).toEqual([409, 'maintenance_overlaps']);
    expect(body.detail).toContain(`maintenance ${first.id} of package is planned from`);
  }
  expect((await plan({ task_type: 'carddata' })).status).toBe(201);
  expect((await plan({ task_type: 'package', from: first.ends_at })).status, 'it begins at the end').toBe(
    201,
  );
});

it('a window of the fleet that starts now is a pause at once, which only its cancellation ends', async () => {
  const { body } = await plan({ from: at(0), task_type: 'realname' });
  expect(body.state).toBe('running');
  const pauses = async () => (await send('GET', '/api/admin/polling-pauses')).body.items;
  await vi.waitFor(async () =>
    expect(await pauses()).toMatchObject([
      {
        task_type: 'realname',
        source: 'operator',
        by: 'ann',
        reason: 'vendor window',
        maintenance_id: body.id,
      },
    ]),
  );
  const resumed = await send('DELETE', '/api/admin/polling-pauses?task_type=all');
  expect([resumed.status, resumed.body.code]).toEqual([409, 'in_maintenance']);
  expect(resumed.body.hint).toBe(`\`cardpoll maintenance cancel ${body.id}\` ends it`);
  expect((await send('DELETE', `${WINDOWS}/${body.id}`)).body.state).toBe('running');
  expect(await pauses()).toEqual([]);
});

it('a viewer reads windows, and plans none', async () => {
  expect((await send('GET', WINDOWS, undefined, VIEWER)).status).toBe(200);
  const order = { from: at(HOUR_MS), seconds: 60, reason: 'x' };
  expect((await send('POST', WINDOWS, order, VIEWER)).status).toBe(403);
});
