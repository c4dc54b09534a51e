// Changes are taken back by the former values of the audit trail, once, by those who may make them, and only where nothing newer
// changed the same.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { cardRow } from '../../support/cards.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { pauseByOperator } from '../../support/limits.ts';

const TOKENS = { anna: 'a'.repeat(32), ben: 'o'.repeat(32), vera: 'v'.repeat(32) };

let api: ApiUnderTest;
let databaseUrl: string;
let database: pg.Client;
beforeAll(async () => {
  databaseUrl = await freshDatabase();
  database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  api = await startApi({
    redisUrl: (await freshRedis()).url,
    databaseUrl,
    tokens: [
      { name: 'anna', role: 'admin', token: TOKENS.anna },
      { name: 'ben', role: 'operator', token: TOKENS.ben },
      { name: 'vera', role: 'viewer', token: TOKENS.vera },
    ],
  });
});
afterAll(async () => {
  await database.end();
  await api.close();
});

async function send(method: string, path: string, json?: object, who: keyof typeof TOKENS = 'anna') {
  const headers = { authorization: `Bearer ${TOKENS[who]}` };
  return api.call(method, `/api/admin${path}`, json === undefined ? { headers } : { json, headers });
}

/** Makes a change. @returns the number of its entry. */
async function change(...request: Parameters<typeof send>): Promise<number> {
  const { status, body } = await send(...request);
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return lastEntry().then(({ id }) => id);
}

async function lastEntry() {
  return (await send('GET', '/audit?page_size=1')).body.items[0];
}

const query = (text: string, params: unknown[] = []) => database.query(text, params);

const undo = (id: number, who?: keyof typeof TOKENS) => send('POST', `/audit/${id}/undo`, undefined, who);

const RULE = {
  name: 'slow',
  rule_type: 'avg_duration',
  task_type: 'realname',
  comparison: '>',
  threshold: 2_000,
  is_enabled: true,
  notify_channels: [],
};
const CONFIG = { name: 'VIP', task_type: 'carddata', card_condition: 'any', interval_seconds: 300 };

const PAUSE = { task_type: 'carddata', seconds: 600, reason: 'maintenance' };

async function pathOfNew(list: string, json: object): Promise<string> {
  return `${list}/${(await send('POST', list, json)).body.id}`;
}

describe('the undo of a release', () => {
  const BY_MISTAKE = 'checked';
  const stopsIn = async (state: string) => (await send('GET', `/stops?state=${state}`)).body.items;

  /** Three cards over their package, whose stops are held by the budget. */
  async function hold(): Promise<void> {
    await api.records.cards.importChunk([1, 2, 3].map((cardId) => cardRow(cardId, { allowanceMb: 10 })));
    const month = new Date().toISOString().slice(0, 7);
    for (const cardId of [1, 2, 3]) {
      await query(
        `INSERT INTO card_stops (card_id, month, iccid, used_mb, state, held_by) VALUES ($1, $2, $3, 11, 'held', 'budget_day')
         ON CONFLICT (card_id, month) DO UPDATE SET state = 'held', held_by = 'budget_day'`,
        [cardId, `${month}-01`, `8986${cardId}`],
      );
    }
  }

  it('holds what was not called again, also after the mode was set to observe', async () => {
    await hold();
    const id = await change('POST', '/stops/release', { all: true, reason: BY_MISTAKE });
    expect(await api.records.stopControl.read()).toMatchObject({ held: 0, released: 3 });
    await query(
      'UPDATE card_stops SET claimed_until = clock_timestamp(), charged_at = clock_timestamp() WHERE card_id = 2',
    );
    await change('PUT', '/stops/mode', { mode: 'observe', reason: 'wait' });
    expect(await undo(id, 'ben')).toMatchObject({ status: 200, body: { state: 'undone' } });
    const again = { held_by: 'budget_day', ordered_by: null };
    expect(await stopsIn('held')).toMatchObject([again, again]);
    expect(await stopsIn('released')).toMatchObject([{ card_id: 2 }]);
    expect(await lastEntry()).toMatchObject({ action: 'stops.hold', actor: 'ben', after: { undoes: id } });
    expect(await undo(id)).toMatchObject({ body: { state: 'already_undone' } });
    await change('PUT', '/stops/mode', { mode: 'enforce', reason: 'go on' });
  });

  it('is refused when all its stops were called', async () => {
    await hold();
    const id = await change('POST', '/stops/release', { card_ids: [1], reason: BY_MISTAKE });
    await query('UPDATE card_stops SET charged_at = clock_timestamp()');
    expect(await undo(id)).toMatchObject({ status: 409, body: { code: 'not_undoable' } });
  });
});

describe('an undo', () => {
  it.each<[string, () => Promise<string>, object]>([
    ['a config', () => pathOfNew('/polling-configs', CONFIG), { interval_seconds: 60, name: 'Vip' }],
    ['a disabled config', () => pathOfNew('/polling-configs', CONFIG), { status: 0 }],
    ['a limit', async () => '/polling-concurrency/carddata', { max_concurrency: 7 }],
    ['a rule', () => pathOfNew('/polling-alert-rules', RULE), { threshold: 9, is_enabled: false }],
    ['a retention', async () => '/data-cleanup-configs/1', { retention_days: 77, enabled: false }],
  ])('restores %s, is recorded, is made once, and can be undone', async (_, make, patch) => {
    const path = await make();
    const shown = async () => {
      const { body } = await send(
        'GET',
        path === '/polling-concurrency/carddata' ? '/polling-concurrency' : path,
      );
      const { updated_at: _at, ...rest } =
        body.items?.find((one: { task_type: string }) => one.task_type === 'carddata') ?? body;
      return rest;
    };
    const before = await shown();
    const id = await change('PUT', path, patch);
    const after = await shown();
    expect(after).toMatchObject(patch);
    const planned = await send('POST', `/audit/${id}/undo?dry_run=true`);
    expect(planned.body).toMatchObject({ undoes: id, state: 'planned', audit_id: null });
    expect(await shown(), 'a dry run').toEqual(after);

    const made = await undo(id);
    expect(made.body).toMatchObject({
      undoes: id,
      state: 'undone',
      audit_id: expect.any(Number),
      actor: 'anna',
    });
    expect(await shown()).toEqual(before);
    expect(await lastEntry()).toMatchObject({ id: made.body.audit_id, actor: 'anna', after: { undoes: id } });
    expect((await undo(id)).body).toMatchObject({ state: 'already_undone', audit_id: made.body.audit_id });
    expect(await lastEntry(), 'a repeat').toMatchObject({ id: made.body.audit_id });

    const again = await undo(made.body.audit_id);
    expect(again.body).toMatchObject({ state: 'undone' });
    expect(await shown()).toEqual(after);
    expect(await undo(id), 'after the undo of the undo').toMatchObject({
      status: 409,
      body: { code: 'changed_since', detail: expect.stringContaining(`change ${again.body.audit_id} `) },
    });
  });

  it('is refused where something newer changed the same, and names it', async () => {
    const path = await pathOfNew('/polling-configs', CONFIG);
    const id = await change('PUT', path, { interval_seconds: 60 });
    const newer = await change('PUT', path, { name: 'Other' });
    const refused = await undo(id);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: 'changed_since',
        detail: expect.stringContaining(`change ${newer} (config.update of config`),
      },
    });
    expect((await undo(newer)).status).toBe(200);
    expect((await undo(id)).status, 'the newer one is undone, but is still a change').toBe(409);
    await change('PUT', '/polling-concurrency/package', { max_concurrency: 5 });
    const limit = (await lastEntry()).id;
    await change('PUT', '/polling-concurrency/package', { max_concurrency: 5 });
    expect((await undo(limit)).status, 'the newer one changed nothing').toBe(200);
  });

  it('is refused where the object was changed without the trail', async () => {
    const path = await pathOfNew('/polling-configs', CONFIG);
    const id = await change('PUT', path, { interval_seconds: 60 });
    await api.records.configs.update(Number(path.split('/').at(-1)), { priority: 99 });
    expect(await undo(id)).toMatchObject({
      status: 409,
      body: { code: 'not_undoable', detail: expect.stringContaining('without the audit trail') },
    });
  });

  it('makes a deleted object again, and deletes a created one', async () => {
    const made = await change('POST', '/polling-configs', CONFIG);
    const { object } = await lastEntry();
    const id = object.split(' ')[1];
    const deleted = await change('DELETE', `/polling-configs/${id}`);
    expect((await undo(made)).status, 'it is deleted already').toBe(409);
    const again = (await undo(deleted)).body.audit_id;
    const { object: anew, after } = await lastEntry();
    expect(after).toMatchObject({ ...CONFIG, undoes: deleted });
    expect((await undo(deleted)).body).toMatchObject({ state: 'already_undone', audit_id: again });
    expect((await undo(again)).body).toMatchObject({ state: 'undone' });
    expect((await send('GET', `/polling-configs/${anew.split(' ')[1]}`)).status).toBe(404);
    expect((await undo(deleted)).body).toMatchObject({ code: 'changed_since' });
  });

  it('ends a pause, and begins one again for the time that is left', async () => {
    const pauses = async () => (await send('GET', '/polling-pauses')).body.items;
    const paused = await change('POST', '/polling-pauses', {
      task_type: 'all',
      seconds: 600,
      reason: 'work',
    });
    expect((await undo(paused, 'ben')).body).toMatchObject({ state: 'undone' });
    expect(await pauses()).toEqual([]);
    expect((await undo(paused, 'ben')).body).toMatchObject({ state: 'already_undone' });
    await change('POST', '/polling-pauses', { task_type: 'realname', seconds: 600, reason: 'maintenance' });
    const [{ until }] = await pauses();
    const ended = await change('DELETE', '/polling-pauses?task_type=realname');
    expect((await undo(ended)).body).toMatchObject({ state: 'undone' });
    const [pause] = await pauses();
    expect(pause).toMatchObject({ task_type: 'realname', reason: 'maintenance', source: 'operator' });
    expect(Math.abs(Date.parse(pause.until) - Date.parse(until))).toBeLessThan(60_000);
    await send('DELETE', '/polling-pauses?task_type=all');
  });

  it('begins a long pause again that an earlier version set without a reason', async () => {
    await pauseByOperator(api.live.work, 'realname', { ms: 7_200_000, reason: '', by: 'ann' });
    const ended = await change('DELETE', '/polling-pauses?task_type=realname');
    expect((await undo(ended)).body).toMatchObject({ state: 'undone' });
    const [pause] = (await send('GET', '/polling-pauses')).body.items;
    expect(pause).toMatchObject({ task_type: 'realname', reason: `undo of change ${ended}` });
    await send('DELETE', '/polling-pauses?task_type=all');
  });

  it('is for those who may make the change', async () => {
    const config = await change('PUT', await pathOfNew('/polling-configs', CONFIG), { priority: 3 });
    const limit = await change('PUT', '/polling-concurrency/realname', { max_concurrency: 55 });
    expect(await undo(limit, 'vera')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await undo(config, 'ben')).toMatchObject({ status: 403, body: { code: 'admin_only' } });
    expect((await undo(limit, 'ben')).status).toBe(200);
    expect(await lastEntry()).toMatchObject({ actor: 'ben', after: { max_concurrency: 100, undoes: limit } });
  });

  it.each<[string, () => Promise<number>, RegExp]>([
    [
      'a webhook that the trail does not hold',
      async () => {
        const rule = {
          ...RULE,
          notify_channels: ['webhook'],
          webhook_url: 'https://93.184.216.34/a?secret=1',
        };
        return change('PUT', await pathOfNew('/polling-alert-rules', rule), {
          webhook_url: 'https://93.184.216.34/b',
        });
      },
      /does not hold a webhook/,
    ],
    [
      'a silence',
      () => change('POST', '/polling-alert-silences', { task_type: 'realname', seconds: 60, reason: 'x' }),
      /silence\.begin cannot be undone/,
    ],
    [
      'an entry of another version, without former values',
      async () => {
        const entry = { name: 'old', role: 'admin', address: null, requestId: null, atMs: Date.now() };
        const what = {
          action: 'config.update',
          object: 'config 1',
          before: null,
          after: { interval_seconds: 9 },
        };
        await api.records.audit.append('2999-01', [{ ...entry, ...what }]);
        return (await lastEntry()).id;
      },
      /does not hold the former values/,
    ],
    [
      'a change that changed nothing',
      () => change('PUT', '/data-cleanup-configs/2', { enabled: true }),
      /changed nothing/,
    ],
  ])('does not undo %s, and says why', async (_, make, why) => {
    expect(await undo(await make())).toMatchObject({
      status: 409,
      body: { code: 'not_undoable', detail: expect.stringMatching(why) },
    });
  });

  it('an undo of an unknown change, or of no number, is answered with 404', async () => {
    expect((await undo(999_999)).status).toBe(404);
    expect((await send('POST', '/audit/x/undo')).status).toBe(404);
  });
});

describe('an undo that failed', () => {
  it('is finished by the next attempt where a part of it was made', async () => {
    const id = await change('POST', '/polling-pauses', { ...PAUSE, task_type: 'all' });
    const { work } = api.live;
    const { resume } = work;
    let calls = 0;
    const failsLater: typeof resume = (...args) => {
      calls += 1;
      return calls === 1 ? resume.apply(work, args) : Promise.reject(new Error('OOM command not allowed'));
    };
    Object.assign(work, { resume: failsLater });
    const failed = await undo(id).finally(() => Object.assign(work, { resume }));
    expect(failed.status).toBe(500);
    expect((await send('GET', '/polling-pauses')).body.items).toHaveLength(2);
    expect(await undo(id)).toMatchObject({ status: 200, body: { state: 'undone' } });
    expect((await send('GET', '/polling-pauses')).body.items).toEqual([]);
    expect(await undo(id)).toMatchObject({ status: 200, body: { state: 'already_undone' } });
  });

  it.each<[string, () => Promise<number>, 'putInForce' | 'resume']>([
    ['of a pause', () => change('POST', '/polling-pauses', PAUSE), 'resume'],
    [
      'of the end of a pause',
      async () => {
        await change('POST', '/polling-pauses', PAUSE);
        return change('DELETE', '/polling-pauses?task_type=carddata');
      },
      'putInForce',
    ],
  ])('is made by the next attempt: %s', async (_name, make, failing) => {
    const id = await make();
    const { work } = api.live;
    const works = work[failing];
    Object.assign(work, { [failing]: () => Promise.reject(new Error('OOM command not allowed')) });
    const failed = await undo(id).finally(() => Object.assign(work, { [failing]: works }));
    expect(failed.status).toBe(500);
    expect((await lastEntry()).action, 'it is of record').toMatch(/^pause\.(begin|end)$/);
    expect(await undo(id)).toMatchObject({ status: 200, body: { state: 'undone' } });
    const paused = (await send('GET', '/polling-pauses')).body.items;
    expect(paused).toHaveLength(failing === 'resume' ? 0 : 1);
    expect(await undo(id)).toMatchObject({ status: 200, body: { state: 'already_undone' } });
    await send('DELETE', '/polling-pauses');
  });
});
