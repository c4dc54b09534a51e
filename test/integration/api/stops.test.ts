// Stops over HTTP: the list, the mode, held stops and the stop of one card, with everything that is refused.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type StopsUnderTest, startStopsApi } from '../../support/held-stops.ts';
import { OF_FLEET } from '../../support/stop-rules.ts';

const CARDS = 100_000;
const REASON = 'checked with the carrier';
const TOKENS = [
  { name: 'anna', role: 'operator' as const, token: 'a'.repeat(32) },
  { name: 'ben', role: 'operator' as const, token: 'b'.repeat(32) },
  { name: 'vera', role: 'viewer' as const, token: 'v'.repeat(32) },
];
const [ANNA, BEN, VERA] = TOKENS.map(({ token }) => token) as [string, string, string];

let api: StopsUnderTest;
beforeAll(async () => {
  api = await startStopsApi(CARDS, TOKENS);
});
afterAll(() => api.close());
beforeEach(() => api.reset());

const get = (path: string) => api.admin('GET', path, undefined, VERA);
const post = (path: string, json: unknown, token = ANNA) => api.admin('POST', path, json, token);
const setMode = (mode: string, token = ANNA) =>
  api.admin('PUT', '/stops/mode', { mode, reason: REASON }, token);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const states = async () =>
  Object.fromEntries(
    (await api.sql('SELECT state, count(*)::int AS n FROM card_stops GROUP BY 1')).map((row) => [
      row.state,
      row.n,
    ]),
  );
function expectRefused(reply: Awaited<ReturnType<typeof post>>, field: string): void {
  expect(reply).toMatchObject({ status: 422, body: { code: 'invalid_field', errors: [{ field }] } });
  expect(reply.body.detail).not.toMatch(/[a-z][A-Z]/);
  expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
}

describe('the list', () => {
  it('has pages and filters, and says everything about a stop', async () => {
    await api.hold(25);
    await api.sql(`UPDATE card_stops SET state = 'done', completed_at = now() - interval '2 hours', held_by = NULL,
      requested_at = now() - interval '3 hours', last_error = 'refused once', attempts = 2, unconfirmed = 1
      WHERE card_id = 7`);
    const all = (await get('/stops')).body;
    expect(all).toMatchObject({ page: 1, page_size: 20, total: 25 });
    expect(all.items).toHaveLength(20);
    const done = (await get('/stops?state=done')).body;
    expect(done).toMatchObject({ total: 1 });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(done.items).toEqual([
      {
        card_id: 7,
        iccid: '89860000000000000007',
        carrier_id: 1,
        month: expect.stringMatching(/^\d{4}-\d\d$/),
        state: 'done',
        used_mb: 2048,
        allowance_mb: 1024,
        held_by: null,
        held_for: null,
        held_until: null,
        ordered_by: null,
        reason: null,
        requested_at: time,
        completed_at: time,
        resumed_at: null,
        attempts: 2,
        pending_since: null,
        pending_until: null,
        unconfirmed: 1,
        stop_again: false,
        last_error: 'refused once',
      },
    ]);
    const hourAgo = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
    expect((await get(`/stops?since=${hourAgo}&carrier_id=1&page_size=5&page=3`)).body).toMatchObject({
      total: 12,
      items: [{ held_by: 'budget_hour' }, {}],
    });
  });

  it.each([
    ['state=stopped', 'state'],
    ['since=yesterday', 'since'],
    ['since=2h', 'since'],
    ['carrier_id=x', 'carrier_id'],
    ['page=0', 'page'],
    ['page_size=101', 'page_size'],
    ['sate=held', 'sate'],
  ])('refuses ?%s', async (query, field) => expectRefused(await get(`/stops?${query}`), field));
});

describe('the mode', () => {
  it('is that of the settings until an operator sets it, with a trace in the same transaction', async () => {
    expect((await get('/stops/mode')).body).toEqual({
      mode: 'enforce',
      source: 'setting',
      since: null,
      by: null,
      reason: null,
      setting: 'enforce',
      jump: null,
    });
    const set = await setMode('observe');
    expect(set.body).toMatchObject({ mode: 'observe', source: 'operator', by: 'anna', reason: REASON });
    expect((await get('/stops/mode')).body).toEqual(set.body);
    expect((await api.records.stopControl.read()).setMode).toMatchObject({ mode: 'observe' });
    expect(await api.trail()).toMatchObject([
      {
        name: 'anna',
        action: 'stops.mode',
        object: 'stops',
        before: { mode: 'enforce', source: 'setting' },
        after: { mode: 'observe', source: 'operator', reason: REASON },
      },
    ]);
  });

  it('enforce accepts a jump of the readings', async () => {
    await api.records.stopControl.beginJump({
      factor: 1024,
      baselineMbPerHour: 2,
      recentMbPerHour: 2048,
      ...OF_FLEET,
    });
    expect((await get('/stops/mode')).body.jump).toEqual({
      since: expect.any(String),
      factor: 1024,
      baseline_mb_per_hour: 2,
      recent_mb_per_hour: 2048,
      accepted_at: null,
      carrier_id: null,
      is_step: false,
      sample: [],
    });
    expect((await setMode('observe')).body.jump).toMatchObject({ accepted_at: null });
    expect((await setMode('enforce')).body.jump).toMatchObject({ accepted_at: expect.any(String) });
    expect((await api.trail()).at(-1)).toMatchObject({ after: { accepted_jump: { factor: 1024 } } });
    await setMode('enforce');
    expect((await api.trail()).at(-1)?.after, 'accepted before').not.toHaveProperty('accepted_jump');
  });

  it('the trail has the jump that was accepted, also one that began while the mode was being set', async () => {
    const { stopControl } = api.records;
    const jump = { factor: 1024, baselineMbPerHour: 2, recentMbPerHour: 2048, ...OF_FLEET };
    const { inTurn } = api.records;
    vi.spyOn(api.records, 'inTurn').mockImplementationOnce((work) =>
      inTurn((records) =>
        work({
          ...records,
          stopControl: {
            ...records.stopControl,
            setMode: async (...args) => {
              await stopControl.beginJump(jump);
              await records.stopControl.setMode(...args);
            },
          },
        }),
      ),
    );
    expect((await setMode('enforce')).body.jump).toMatchObject({ accepted_at: expect.any(String) });
    expect((await api.trail()).at(-1)).toMatchObject({ after: { accepted_jump: { factor: 1024 } } });
  });

  it('is changed only from the version that the client has read', async () => {
    const { etag } = (await get('/stops/mode')).headers;
    await setMode('observe');
    const late = await api.call('PUT', '/api/admin/stops/mode', {
      json: { mode: 'enforce', reason: REASON },
      headers: { authorization: `Bearer ${BEN}`, 'if-match': String(etag) },
    });
    expect(late).toMatchObject({ status: 412, body: { code: 'version_changed' } });
    expect((await get('/stops/mode')).body.mode).toBe('observe');
  });

  it.each([
    [{ mode: 'off', reason: REASON }, 'mode'],
    [{ mode: 'observe' }, 'reason'],
    [{ reason: REASON }, 'mode'],
  ])('refuses %j', async (json, field) => {
    expectRefused(await api.admin('PUT', '/stops/mode', json, ANNA), field);
    expect((await get('/stops/mode')).body.source).toBe('setting');
  });
});

describe.each([
  ['release', 'released', 'requested'],
  ['dismiss', 'dismissed', 'dismissed'],
] as const)('%s', (verb, count, state) => {
  const path = `/stops/${verb}`;

  it('counts stops, not cards, for a list as for all', async () => {
    await api.hold(2);
    await api.sql(`INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, held_by, attempts)
      SELECT card_id, month - interval '1 month', iccid, used_mb, allowance_mb, state, held_by, 0
      FROM card_stops WHERE card_id = 1`);
    expect((await post(path, { card_ids: [1], reason: REASON })).body).toEqual({ [count]: 2, not_held: [] });
    expect((await post(path, { all: true, reason: REASON })).body).toEqual({ [count]: 1, not_held: [] });
  });

  it('decides about a list, each card once, and names those that were not held', async () => {
    await api.hold(4);
    const json = { card_ids: [3, 1, 3, 99, 5, 999_999_999], reason: ` ${REASON}\n` };
    const { status, body } = await post(path, json);
    expect([status, body]).toEqual([200, { [count]: 2, not_held: [99, 5, 999_999_999] }]);
    expect((await get('/stops?page_size=100')).body.items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ card_id: 3, state, ordered_by: 'anna', reason: REASON, held_by: null }),
        expect.objectContaining({ card_id: 4, state: 'held', ordered_by: null }),
      ]),
    );
    expect(await api.trail()).toMatchObject([
      {
        name: 'anna',
        action: `stops.${verb}`,
        object: 'stops',
        before: { held: 4 },
        after: { cards: 5, reason: REASON },
      },
    ]);
  });

  it('decides about all of a large fleet, and is then over', async () => {
    await api.hold(CARDS);
    expect((await post(path, { all: true, reason: REASON })).body).toEqual({ [count]: CARDS, not_held: [] });
    expect(await states()).toEqual({ [state]: CARDS });
    expect((await post(path, { all: true, reason: REASON })).body).toEqual({ [count]: 0, not_held: [] });
    expect(await api.trail(), 'what changes nothing leaves no trace').toHaveLength(1);
  });

  it('takes a list of 100,000, and no longer one', async () => {
    await api.hold(20_001);
    const json = { card_ids: upTo(CARDS), reason: REASON };
    const { body } = await post(path, json);
    expect([body[count], body.not_held.length]).toEqual([20_001, CARDS - 20_001]);
    expectRefused(await post(path, { ...json, card_ids: upTo(CARDS + 1) }), 'card_ids');
  });

  it.each([
    [{ reason: REASON }, 'card_ids'],
    [{ card_ids: [], reason: REASON }, 'card_ids'],
    [{ card_ids: [1, 'x'], reason: REASON }, 'card_ids'],
    [{ card_ids: [0], reason: REASON }, 'card_ids'],
    [{ card_ids: [1], all: true, reason: REASON }, 'all'],
    [{ all: false, reason: REASON }, 'all'],
    [{ all: true }, 'reason'],
    [{ all: true, reason: '' }, 'reason'],
    [{ all: true, reason: ' \n ' }, 'reason'],
    [{ all: true, reason: 'two\nlines' }, 'reason'],
    [{ all: true, reason: 'bell \u0007' }, 'reason'],
    [{ all: true, reason: 'li\u2028ne' }, 'reason'],
    [{ all: true, reason: 'half \ud800' }, 'reason'],
    [{ all: true, reason: 5 }, 'reason'],
  ])('refuses %j, and changes nothing', async (json, field) => {
    await api.hold(1);
    expectRefused(await post(path, json), field);
    expect([await states(), await api.trail()]).toEqual([{ held: 1 }, []]);
  });

  it.each([501, 10_240])('refuses a reason of %d characters, not one of 500', async (chars) => {
    expectRefused(await post(path, { all: true, reason: 'x'.repeat(chars) }), 'reason');
    expect((await post(path, { all: true, reason: 'x'.repeat(500) })).status).toBe(200);
  });

  it('is refused to viewers', async () => {
    await api.hold(1);
    expect((await post(path, { all: true, reason: REASON }, VERA)).status).toBe(403);
    expect(await states()).toEqual({ held: 1 });
  });
});

describe('in mode observe', () => {
  beforeEach(async () => {
    await api.hold(3);
    await setMode('observe');
  });

  it('nothing is released, and the answer says what to type', async () => {
    const refused = await post('/stops/release', { all: true, reason: REASON });
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'stops_observed', hint: expect.stringContaining('cardpoll stops mode enforce') },
    });
    expect(await states()).toEqual({ held: 3 });
    expect((await api.trail()).map(({ action }) => action)).toEqual(['stops.mode']);
  });

  it('held stops can be dismissed', async () => {
    expect((await post('/stops/dismiss', { all: true, reason: REASON })).body).toMatchObject({
      dismissed: 3,
    });
  });

  it('no card is stopped by hand', async () => {
    expect(await post('/cards/9/stop', { reason: REASON })).toMatchObject({
      status: 409,
      body: { code: 'stops_observed' },
    });
    expect(await states()).toEqual({ held: 3 });
  });
});

describe('two operators at once', () => {
  it('decide about each stop once', async () => {
    await api.hold(30_000);
    const [released, dismissed, listed] = await Promise.all([
      post('/stops/release', { all: true, reason: 'release' }),
      post('/stops/dismiss', { all: true, reason: 'dismiss' }, BEN),
      post('/stops/dismiss', { card_ids: upTo(15_000), reason: 'dismiss' }, BEN),
    ]);
    const { requested = 0, dismissed: gone = 0, held = 0 } = await states();
    // What was released and not called yet may be dismissed after that.
    expect([gone, held]).toEqual([dismissed.body.dismissed + listed.body.dismissed, 0]);
    expect(Number(requested) + Number(gone)).toBe(30_000);
    expect(released.body.released).toBeGreaterThanOrEqual(Number(requested));
    expect(listed.body.dismissed + listed.body.not_held.length).toBe(15_000);
    const by = await api.sql('SELECT DISTINCT state, ordered_by, reason FROM card_stops ORDER BY 1');
    for (const row of by) {
      expect([
        { state: 'requested', ordered_by: 'anna', reason: 'release' },
        { state: 'dismissed', ordered_by: 'ben', reason: 'dismiss' },
      ]).toContainEqual(row);
    }
  });
});

describe('the stop of one card', () => {
  it.each(['8', '89860000000000000008'])('is ordered by card id or iccid: %s', async (card) => {
    const { status, body } = await post(`/cards/${card}/stop`, { reason: REASON });
    expect([status, body]).toEqual([202, { card_id: 8, state: 'requested' }]);
    expect((await get('/stops')).body.items).toMatchObject([
      { card_id: 8, state: 'requested', ordered_by: 'anna', reason: REASON },
    ]);
    expect(await api.trail()).toMatchObject([
      { name: 'anna', action: 'stops.order', object: 'card 8', after: { reason: REASON } },
    ]);
  });

  it("is ordered for a card that is stopped, whose stop is the operator's then", async () => {
    await api.sql('UPDATE cards SET stopped = true WHERE card_id = 8');
    expect((await post('/cards/8/stop', { reason: REASON })).status).toBe(202);
  });

  it('is refused for a card that does not exist', async () => {
    for (const card of ['999999999', '89869999999999999999', 'x', '-1']) {
      expect((await post(`/cards/${card}/stop`, { reason: REASON })).status).toBe(404);
    }
    expectRefused(await post('/cards/9/stop', {}), 'reason');
    expectRefused(await post('/cards/9/stop', { reason: REASON, card_ids: [1] }), 'card_ids');
    expect((await post('/cards/9/stop', { reason: REASON }, VERA)).status).toBe(403);
    expect([await states(), await api.trail()]).toEqual([{}, []]);
  });
});
