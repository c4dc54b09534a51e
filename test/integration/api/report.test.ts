// The report of a time over HTTP: what operators and daemons left, who may read it, and every time that is refused.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CardpollError } from '../../../src/platform/errors.ts';
import { type StopsUnderTest, startStopsApi } from '../../support/held-stops.ts';

const TOKENS = [
  { name: 'anna', role: 'operator' as const, token: 'a'.repeat(32) },
  { name: 'vera', role: 'viewer' as const, token: 'v'.repeat(32) },
];
const [ANNA, VERA] = TOKENS.map(({ token }) => token) as [string, string];
const HOUR_MS = 3_600_000;

let api: StopsUnderTest;
beforeAll(async () => {
  api = await startStopsApi(100, TOKENS);
});
afterAll(() => api.close());

const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const report = (query = '', token = VERA) => api.admin('GET', `/report${query}`, undefined, token);

it('has what happened in the last eight hours and what is open, for a viewer', async () => {
  await api.admin('PUT', '/polling-concurrency/realname', { max_concurrency: 77 }, ANNA);
  await api.admin('POST', '/polling-pauses', { task_type: 'package', seconds: 600, reason: 'import' }, ANNA);
  await api.call('POST', '/api/admin/cards/import', {
    body: 'card_id,iccid\n1000,898600000000001000\n',
    headers: { 'content-type': 'text/csv', authorization: `Bearer ${ANNA}` },
  });
  await api.hold(3);
  await api.sql(`INSERT INTO alert_history
    (rule_id, rule_name, rule_type, task_type, comparison, threshold, value, fired_at, cause)
    VALUES (0, 'Stores', 'health', 'package', '>', 1, 2, now() - interval '1 hour', '{"code": "database_outage",
      "severity": "alert", "text": "Redis does not answer", "command": null}')`);
  await api.live.history.save('minute', sampleOf(Date.now() - 60_000));

  const { status, body } = await report();
  expect(status).toBe(200);
  expect(Date.parse(body.until) - Date.parse(body.since)).toBe(8 * HOUR_MS);
  expect(body).toMatchObject({
    unknown: null,
    kept_from: { alerts: null, changes: null, stops: null, polls: expect.any(String) },
    alerts: { fired: 1, resolved: 0, open: 1, items: [{ rule: 'Stores', cause: 'Redis does not answer' }] },
    changes: {
      total: 2,
      imports: { count: 1, failed: 0, inserted: 1, updated: 0, actors: ['anna'] },
      groups: [
        { action: 'pause.begin', actor: 'anna', count: 1, object: 'task_type package' },
        { action: 'concurrency.set', before: { max_concurrency: 100 }, after: { max_concurrency: 77 } },
      ],
    },
    stops: {
      held: 3,
      done: 0,
      is_cut: false,
      carriers: [
        { carrier_id: 1, held: 2 },
        { carrier_id: 0, held: 1 },
      ],
    },
    polls: [
      { task_type: 'realname', polls: 600, failed: 60, success_rate: 90, on_time_percent: null },
      { task_type: 'carddata' },
      { task_type: 'package' },
    ],
    open: {
      ...{ alerts: 1, acknowledged: 0, stop_mode: 'enforce', held_stops: 3, resumes: [] },
      pauses: [{ task_type: 'package', by: 'anna', reason: 'import' }],
      ends: [{ kind: 'pause', what: 'package', by: 'anna', reason: 'import' }],
    },
  });
  const codes = body.reasons.map((one: { source: string; code: string }) => `${one.source} ${one.code}`);
  expect(codes).toContain('outage database_outage');
  expect(codes).toContain('health paused');
});

it('has what PostgreSQL knows while Redis does not answer', async () => {
  const error = new CardpollError('unavailable', 'redis_unavailable', 'Redis does not answer');
  const read = vi.spyOn(api.live.history, 'read').mockRejectedValueOnce(error);
  const { status, body } = await report();
  read.mockRestore();
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ...{ unknown: 'Redis does not answer', polls: [], alerts: { fired: 1 }, stops: { held: 3 } },
    open: { alerts: 1, pauses: [] },
  });
});

it('has nothing of another time but what is open now', async () => {
  const { body } = await report(`?since=${ago(20 * HOUR_MS)}&until=${ago(10 * HOUR_MS)}`);
  expect(body).toMatchObject({
    reasons: [],
    alerts: { fired: 0, open: 0, items: [] },
    changes: { total: 0, imports: null, groups: [] },
    stops: { held: 0, carriers: [] },
    polls: [],
    open: { alerts: 1, held_stops: 3 },
  });
  expect(body.kept_from.polls).toBe(body.until);
});

it('ends now at the latest, and may be of no time at all', async () => {
  const since = ago(HOUR_MS);
  const { body } = await report(`?since=${since}&until=${ago(-HOUR_MS)}`);
  expect(Date.parse(body.until)).toBeLessThanOrEqual(Date.now() + 1_000);
  expect((await report(`?since=${since}&until=${since}`)).body).toMatchObject({ since, until: since });
});

describe('a time is refused', () => {
  it.each([
    ['in the future', `since=${ago(-HOUR_MS)}`, 'since', /^must not be in the future: it is /],
    [
      'that ends before it begins',
      `since=${ago(0)}&until=${ago(HOUR_MS)}`,
      'until',
      /^must not be before since$/,
    ],
    [
      'of more than 90 days',
      `since=${ago(91 * 24 * HOUR_MS)}`,
      'since',
      /^must be at most 90 days before until$/,
    ],
    ['in words', 'since=8h', 'since', /^must be a time as in /],
  ])('%s', async (_, query, field, message) => {
    const { status, body } = await report(`?${query}`);
    expect(status).toBe(422);
    expect(body).toMatchObject({
      code: 'invalid_field',
      errors: [{ field, message: expect.stringMatching(message) }],
    });
  });
});

it('takes the time in the alert history, and in the list of stops', async () => {
  const totals = async (query: string) => {
    const lists = ['/polling-alert-history', '/stops'].map((list) =>
      api.admin('GET', `${list}?${query}`, undefined, VERA),
    );
    return (await Promise.all(lists)).map(({ body }) => body.total);
  };
  expect(await totals(`since=${ago(2 * HOUR_MS)}`)).toEqual([1, 3]);
  expect(await totals(`since=${ago(2 * HOUR_MS)}&until=${ago(HOUR_MS / 2)}`)).toEqual([1, 0]);
  expect(await totals(`until=${ago(2 * HOUR_MS)}`)).toEqual([0, 0]);
});

function sampleOf(atMs: number) {
  const tasks = { ratePerSecond: 10, failedPerSecond: 1, p50Ms: 1, p95Ms: 2, queueLength: 0, inFlight: 0 };
  const limits = { backoff: 0, manualLength: 0, effectiveConcurrency: 1, maxConcurrency: 1 };
  const task = { ...tasks, ...limits };
  return { atMs, tasks: { realname: task, carddata: task, package: task } };
}
