// Runs that resume cards over HTTP, tested on the records: no worker carries them out here.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type StopsUnderTest, startStopsApi } from '../../support/held-stops.ts';
import { instanceOf } from '../../support/polled-fleet.ts';
import { carryOut } from '../../support/resume-run.ts';

const RUNS = '/stops/resume';
const REASON = 'the readings were wrong';
const OPERATOR = { name: 'anna', role: 'operator' as const, token: 'a'.repeat(32) };
const VIEWER = { name: 'vera', role: 'viewer' as const, token: 'v'.repeat(32) };
const CARDS = 100_000;

let api: StopsUnderTest;
beforeAll(async () => {
  api = await startStopsApi(CARDS, [OPERATOR, VIEWER]);
});
afterAll(() => api.close());

/** Cards 1 to 4 were stopped by cardpoll just now, card 5 three hours ago. */
beforeEach(async () => {
  await api.reset();
  await api.live.work.resume('package');
  await api.hold(5);
  await api.sql(`UPDATE card_stops SET state = 'done', completed_at = now(), held_by = NULL`);
  await api.sql(`UPDATE card_stops SET completed_at = now() - interval '3 hours' WHERE card_id = 5`);
  await api.sql('UPDATE cards SET stopped = true WHERE card_id <= 5');
});

const get = (path: string) => api.admin('GET', path, undefined, VIEWER.token);
const post = (path: string, json?: unknown, token = OPERATOR.token) => api.admin('POST', path, json, token);
const agoText = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
const runs = () => api.sql('SELECT id FROM resume_runs');

describe('a run', () => {
  it('is made of what was stopped since a time, and can be followed', async () => {
    const { status, body } = await post(RUNS, { since: agoText(1), reason: REASON });
    expect(status).toBe(202);
    expect(body).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      status: 'running',
      total: 4,
      cut_off: 4,
      waiting: 4,
      resumed: 0,
      already_running: 0,
      failed: 0,
      cancelled: 0,
      skipped: 0,
      not_resumed: [],
      since: expect.any(String),
      carrier_id: null,
      reason: REASON,
      stop_again: false,
      by: 'anna',
      created_at: expect.any(String),
      cancelled_at: null,
      finished_at: null,
      last_error: null,
      waits_for: null,
    });
    expect((await get(`${RUNS}/${body.id}`)).body).toEqual(body);
    expect(await api.trail()).toMatchObject([
      {
        name: 'anna',
        action: 'stops.resume',
        object: `resume run ${body.id}`,
        after: { reason: REASON, total: 4, skipped: 0, since: expect.any(String) },
      },
    ]);
    await carryOut(api.records, 1, body.id);
    await carryOut(api.records, 2, body.id, false);
    expect((await get(`${RUNS}/${body.id}`)).body).toMatchObject({
      waiting: 2,
      resumed: 1,
      already_running: 1,
    });
    const further = (await post(RUNS, { since: agoText(24), carrier_id: 1, reason: REASON })).body;
    expect(further, 'card 5; card 3 waits already').toMatchObject({ total: 1 });
    expect((await get(RUNS)).body.items.map(({ id }: { id: string }) => id)).toEqual([further.id, body.id]);
  });

  it('is made of a list, each card once; unknown and waiting cards are skipped', async () => {
    await post(RUNS, { card_ids: [4], reason: REASON });
    const { body } = await post(RUNS, { card_ids: [1, 2, 2, 4, 999_999_999], reason: REASON });
    expect(body).toMatchObject({ total: 2, waiting: 2, skipped: 2 });
    expect((await get(`${RUNS}/${body.id}`)).body).toMatchObject({ skipped: 2 });
  });

  it('is made of the cards that are within their package by now, which may be stopped again', async () => {
    const MONTH = new Date().toISOString().slice(0, 7);
    await api.records.results.ensurePartitions(MONTH);
    await api.sql(`INSERT INTO card_usage (card_id, month, used_mb, last_reading_mb, read_at)
      SELECT card_id, month, 2048, 2048, now() FROM card_stops ON CONFLICT DO NOTHING`);
    await api.sql('UPDATE cards SET allowance_mb = NULL WHERE card_id IN (2, 4, 5)');
    await api.sql("UPDATE card_stops SET authority = 'operator' WHERE card_id = 5");
    await api.records.stoppedWithin.judge([1, 2, 3, 4, 5], MONTH);
    const listed = await get('/stops?state=within');
    expect(listed.body.items.map((stop: { card_id: number }) => stop.card_id).sort()).toEqual([2, 4]);
    const preview = await post(RUNS, { within: true, reason: REASON, dry_run: true });
    expect(preview).toMatchObject({ status: 200, body: { total: 2, skipped: 0 } });
    expect(
      (await post(RUNS, { within: true, carrier_id: 77, reason: REASON, dry_run: true })).body.total,
    ).toBe(0);
    const both = await post(RUNS, { within: true, since: agoText(1), reason: REASON });
    expect(both).toMatchObject({ status: 422, body: { errors: [{ field: 'within' }] } });
    expect((await post(RUNS, { within: false, reason: REASON })).status).toBe(422);
    const { body } = await post(RUNS, { within: true, reason: REASON });
    expect(body).toMatchObject({ total: 2, waiting: 2, stop_again: true, since: null });
    expect((await post(RUNS, { within: true, reason: REASON })).body, 'they wait already').toMatchObject({
      total: 0,
    });
  });

  it('a run without any stopped card is over at once', async () => {
    expect((await post(RUNS, { since: agoText(-1), reason: REASON })).body).toMatchObject({
      status: 'completed',
      total: 0,
      finished_at: expect.any(String),
    });
  });

  it('takes a list of 100,000', async () => {
    const card_ids = Array.from({ length: CARDS }, (_, index) => index + 1);
    const { body } = await post(RUNS, { card_ids, reason: REASON });
    expect(body).toMatchObject({ status: 'running', total: CARDS, waiting: CARDS, cut_off: CARDS });
    expect(await api.sql('SELECT FROM card_resumes'), 'that wait').toHaveLength(2_000);
    expect(await api.trail(), 'one entry, with the number').toMatchObject([{ after: { total: CARDS } }]);
    const tooMany = await post(RUNS, { card_ids: [...card_ids, CARDS + 1], reason: REASON });
    expect(tooMany).toMatchObject({ status: 422, body: { errors: [{ field: 'card_ids' }] } });
  });

  it('may allow that its cards are stopped again, and the audit trail says so', async () => {
    const { body } = await post(RUNS, { card_ids: [1], reason: REASON, stop_again: true });
    expect(body).toMatchObject({ stop_again: true });
    const card = await post('/cards/2/resume', { reason: REASON, stop_again: true });
    expect(card).toMatchObject({ status: 202, body: { stop_again: true } });
    expect(await api.trail()).toMatchObject([
      { after: { stop_again: true } },
      { after: { stop_again: true } },
    ]);
  });

  it('is being handed out while the emergency brake is pulled, which does not wait', async () => {
    const { body } = await post(RUNS, {
      card_ids: Array.from({ length: 20_000 }, (_, i) => i + 1),
      reason: REASON,
    });
    const holder = await api.connect();
    try {
      // As a step does that is not over yet.
      await holder.query('BEGIN');
      await holder.query('SELECT FROM resume_runs WHERE id = $1 FOR UPDATE', [body.id]);
      const step = api.records.resumes.handOut(body.id);
      const brake = await api.admin(
        'PUT',
        '/stops/mode',
        { mode: 'observe', reason: 'too many' },
        OPERATOR.token,
      );
      expect([brake.status, brake.body.mode]).toEqual([200, 'observe']);
      expect((await get(`${RUNS}/${body.id}`)).body).toMatchObject({ status: 'running', waiting: 20_000 });
      await holder.query('COMMIT');
      await step;
    } finally {
      await holder.end();
    }
  });

  it('is only counted with dry_run', async () => {
    const preview = await post(RUNS, { card_ids: [1, 2, 999_999_999], reason: REASON, dry_run: true });
    expect([preview.status, preview.body]).toEqual([200, { total: 2, skipped: 1 }]);
    const since = { since: agoText(1), carrier_id: 0, reason: REASON, dry_run: true };
    expect((await post(RUNS, since)).body).toEqual({ total: 2, skipped: 0 });
    expect([await runs(), await api.trail()]).toEqual([[], []]);
  });

  it.each([
    [{ reason: REASON }, 'card_ids'],
    [{ card_ids: [1], since: '2026-11-01T00:00:00Z', reason: REASON }, 'since'],
    [{ card_ids: [1], carrier_id: 7, reason: REASON }, 'carrier_id'],
    [{ card_ids: [], reason: REASON }, 'card_ids'],
    [{ card_ids: [1.5], reason: REASON }, 'card_ids'],
    [{ since: '2h', reason: REASON }, 'since'],
    [{ since: '2026-11-01T00:00:00Z', carrier_id: 'x', reason: REASON }, 'carrier_id'],
    [{ card_ids: [1] }, 'reason'],
    [{ card_ids: [1], reason: 'bell \u0007' }, 'reason'],
    [{ card_ids: [1], reason: REASON, dry_run: 'yes' }, 'dry_run'],
    [{ card_ids: [1], reason: REASON, stop_again: 'yes' }, 'stop_again'],
    [{ card_ids: [1], reason: REASON, by: 'cardpoll' }, 'by'],
  ])('is refused: %j', async (json, field) => {
    const refused = await post(RUNS, json);
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ field }] } });
    expect(refused.body.detail).not.toMatch(/[a-z][A-Z]/);
    expect(await runs()).toEqual([]);
  });

  it('is refused to viewers, and unknown ones are not found', async () => {
    expect((await post(RUNS, { card_ids: [1], reason: REASON }, VIEWER.token)).status).toBe(403);
    for (const id of ['1', 'x', '00000000-0000-4000-8000-000000000000']) {
      expect(await get(`${RUNS}/${id}`)).toMatchObject({
        status: 404,
        body: { code: 'resume_run_not_found' },
      });
      expect((await post(`${RUNS}/${id}/cancel`)).status).toBe(404);
    }
    expect((await get(`${RUNS}?limit=5`)).status).toBe(422);
  });
});

describe('cancel', () => {
  it('leaves what has ended, records who did it, and works once', async () => {
    const { id } = (await post(RUNS, { card_ids: [1, 2, 3], reason: REASON })).body;
    await carryOut(api.records, 1, id);
    expect((await post(`${RUNS}/${id}/cancel`, undefined, VIEWER.token)).status).toBe(403);
    const cancelled = await post(`${RUNS}/${id}/cancel`);
    expect(cancelled).toMatchObject({
      status: 200,
      body: { status: 'cancelled', waiting: 0, resumed: 1, cancelled: 2, cancelled_at: expect.any(String) },
    });
    expect((await api.trail()).at(-1)).toMatchObject({
      name: 'anna',
      action: 'stops.resume.cancel',
      object: `resume run ${id}`,
      before: { waiting: 2, resumed: 1, failed: 0 },
      after: { cancelled: 2 },
    });
    const again = await post(`${RUNS}/${id}/cancel`);
    expect(again).toMatchObject({ status: 409, body: { code: 'resume_run_finished' } });
    expect(await api.trail()).toHaveLength(2);
  });

  it('is refused for a run that is over', async () => {
    const { id } = (await post(RUNS, { card_ids: [1], reason: REASON })).body;
    await carryOut(api.records, 1, id);
    expect((await post(`${RUNS}/${id}/cancel`)).status).toBe(409);
    expect((await get(`${RUNS}/${id}`)).body).toMatchObject({ status: 'completed', cancelled_at: null });
  });
});

describe('one card', () => {
  it.each(['3', '89860000000000000003'])('is resumed by card id or iccid: %s', async (card) => {
    const { status, body } = await post(`/cards/${card}/resume`, { reason: REASON });
    expect(status).toBe(202);
    expect(body).toMatchObject({ status: 'running', total: 1, waiting: 1, skipped: 0 });
    expect(await api.trail()).toMatchObject([
      { action: 'stops.resume', after: { card_id: 3, reason: REASON } },
    ]);
    const again = (await post(`/cards/${card}/resume`, { reason: REASON })).body;
    expect(again).toMatchObject({ status: 'completed', total: 0, skipped: 1 });
  });

  it('must exist, and needs a reason', async () => {
    expect((await post('/cards/999999999/resume', { reason: REASON })).status).toBe(404);
    expect((await post('/cards/3/resume', { reason: ' ' })).status).toBe(422);
    expect((await post('/cards/3/resume', { reason: REASON }, VIEWER.token)).status).toBe(403);
    expect(await runs()).toEqual([]);
  });
});

describe('waits_for', () => {
  const waitsFor = async () => (await post(RUNS, { card_ids: [1], reason: REASON })).body.waits_for;

  it('names a pause of package, and how to end it', async () => {
    const pause = { source: 'operator', ms: 60_000, reason: 'maintenance', by: 'anna' } as const;
    await api.live.work.pause('realname', pause);
    expect(await waitsFor()).toBeNull();
    await api.reset();
    await api.live.work.pause('package', pause);
    expect(await waitsFor()).toMatch(/^package is paused until .*Z \(maintenance\): cardpoll resume package/);
    const [run] = (await get(RUNS)).body.items;
    expect(run.waits_for).toMatch(/^package is paused/);
    await post(`${RUNS}/${run.id}/cancel`);
    expect((await get(`${RUNS}/${run.id}`)).body.waits_for, 'it has ended').toBeNull();
  });

  it.each([
    ['start', 'open', 'the breaker of start is open since 2026-11-20T00:00:00.000Z: 500'],
    ['gateway', 'open', 'the breaker of gateway is open since 2026-11-20T00:00:00.000Z: 500'],
    ['start', 'half_open', null],
    ['flow', 'open', null],
  ] as const)('names an open breaker that holds the calls back: %s %s', async (name, state, text) => {
    const sinceMs = Date.parse('2026-11-20T00:00:00Z');
    const breaker = { interface: name, state, sinceMs, reason: '500', nextProbeAtMs: null };
    await api.live.coordination.heartbeat({ ...instanceOf('w1'), breakers: [breaker] }, 60_000);
    expect(await waitsFor()).toBe(text);
    await api.live.coordination.leave('w1');
  });
});
