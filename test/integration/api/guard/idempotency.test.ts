// POST with an Idempotency-Key over HTTP, on two instances over one PostgreSQL and one Redis: it takes effect once, and every
// repeat gets an answer that says what the first did.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAddressRange } from '../../../../src/platform/addresses.ts';
import { type ApiUnderTest, type Reply, startApi } from '../../../support/api-under-test.ts';
import { answer, type BadGateway, startBadGateway } from '../../../support/bad-gateway.ts';
import { type StopsUnderTest, startStopsApi } from '../../../support/held-stops.ts';
import { waitFor } from '../../../support/wait-for.ts';

const ADMIN = '/api/admin';
const RESET = '/polling-concurrency/reset';
const PAUSES = '/polling-pauses';
const TRIGGER = '/polling-manual-trigger';
const CLEANUP = '/data-cleanup';
const SILENCES = '/polling-alert-silences';
const TOKENS = [
  { name: 'anna', role: 'admin' as const, token: 'a'.repeat(32) },
  { name: 'ben', role: 'admin' as const, token: 'b'.repeat(32) },
];
const [ANNA, BEN] = TOKENS.map(({ token }) => token) as [string, string];
const RULE = {
  name: 'slow',
  rule_type: 'avg_duration',
  task_type: 'realname',
  comparison: '>',
  threshold: 500,
  is_enabled: true,
  notify_channels: [],
};

let api: StopsUnderTest;
let other: ApiUnderTest;
let receiver: BadGateway;

beforeAll(async () => {
  const allowCidrs = [parseAddressRange('127.0.0.1')].filter((range) => range !== null);
  const limits = { maxOpenTriggers: 1_000, maxOpenConditionTriggers: 1, maxAlertRules: 1_000 };
  const options = { allowCidrs, limits };
  api = await startStopsApi(100, TOKENS, options);
  other = await startApi({ ...api.stores, ...options, tokens: TOKENS });
  receiver = await startBadGateway(answer(204, ''));
});
afterAll(async () => {
  await receiver.close();
  await other.close();
  await api.close();
});

/** A request id says which attempt made a change. */
const post = (on: ApiUnderTest, key: string, path: string, json?: object, attempt = '', token = ANNA) =>
  on.call('POST', `${ADMIN}${path}`, {
    ...(json === undefined ? {} : { json }),
    headers: {
      authorization: `Bearer ${token}`,
      'idempotency-key': key,
      'x-request-id': `${key}${attempt}`,
    },
  });
const get = async (path: string) => (await api.admin('GET', path, undefined, ANNA)).body;
const reset = (on: ApiUnderTest, key: string, task_type = 'realname', token = ANNA) =>
  post(on, key, RESET, { task_type }, '', token);

let claims = 0;
/** Makes work in flight, which a reset would clear: shows whether one ran. */
async function occupy(): Promise<void> {
  claims += 1;
  await api.live.work.resume('realname');
  await api.live.manual.push('realname', [String(claims)]);
  await api.live.work.claim('realname', { instanceId: 'w', claimNumber: claims, max: 1, leaseMs: 60_000 });
}

/** @returns the attempts that changed something, by their entries. */
async function attemptsThatChanged(key: string): Promise<unknown[]> {
  const rows = await api.sql('SELECT request_id FROM audit WHERE starts_with(request_id, $1) ORDER BY id', [
    key,
  ]);
  return rows.map(({ request_id }) => request_id);
}

interface Once {
  readonly path: string;
  readonly json?: object;
  /** What happens after the first attempt; one that took effect again would undo it, or be refused for it. */
  readonly meanwhile?: () => Promise<unknown>;
  /** The part of an answer that is about the change; the rest is about the present. Default: all. */
  readonly shown?: (body: Reply['body']) => unknown;
  /** Holds unless a repeat took effect again. */
  readonly since?: () => Promise<void>;
}

const idOf = ({ id }: Reply['body']) => id;
const created = async (path: string, json?: object) => (await api.admin('POST', path, json, ANNA)).body;
const cancelTriggers = () => api.admin('POST', `${TRIGGER}/cancel-all`, {}, ANNA);

async function endCleanup(): Promise<void> {
  let state = 'going';
  while (state !== 'idle') ({ state } = await api.records.cleanup.step());
}

async function firedAlert(): Promise<number> {
  const { id } = await created('/polling-alert-rules', RULE);
  const rule = (await api.records.alerts.toEvaluate()).find((one) => one.id === id);
  const [fired] = await api.records.alerts.apply([
    { ruleId: id, revision: rule?.revision ?? 0, event: { kind: 'fired', value: 900 } },
  ]);
  return fired?.alert.id ?? 0;
}

async function stoppedCards(): Promise<void> {
  await api.reset();
  await api.hold(5);
  await api.sql(`UPDATE card_stops SET state = 'done', completed_at = now(), held_by = NULL`);
  await api.sql('UPDATE cards SET stopped = true WHERE card_id <= 5');
}

async function held(count: number): Promise<void> {
  await api.reset();
  await api.hold(count);
}

const ONCE: ReadonlyArray<[string, () => Promise<Once>]> = Object.entries({
  'a trigger of one card': async () => ({
    path: `${TRIGGER}/single`,
    json: { card_id: 1, task_type: 'carddata' },
  }),
  'a trigger of a list': async () => ({
    path: `${TRIGGER}/batch`,
    json: { card_ids: [1, 2, 7_777], task_type: 'carddata' },
    meanwhile: () =>
      api.sql(`INSERT INTO cards (card_id, iccid, carrier_id) VALUES (7777, '898600000000007777', 1)`),
  }),
  'a trigger by condition that takes the last place': async () => {
    await cancelTriggers();
    return { path: `${TRIGGER}/by-condition`, json: { task_type: 'realname' } };
  },
  'the end of a trigger': async () => {
    const { trigger_id } = await created(`${TRIGGER}/single`, { card_id: 1, task_type: 'carddata' });
    return { path: `${TRIGGER}/cancel`, json: { trigger_id } };
  },
  'the end of all triggers': async () => {
    await cancelTriggers();
    const open = () => created(`${TRIGGER}/single`, { card_id: 1, task_type: 'carddata' });
    await open();
    return { path: `${TRIGGER}/cancel-all`, json: {}, meanwhile: open };
  },
  'a config': async () => ({
    path: '/polling-configs',
    json: { name: 'n', task_type: 'realname', card_condition: 'any', interval_seconds: 60 },
    shown: idOf,
  }),
  'an alert rule': async () => ({ path: '/polling-alert-rules', json: RULE }),
  'the test of an alert rule': async () => {
    const webhook_url = `${receiver.url}/hook`;
    const { id } = await created('/polling-alert-rules', { ...RULE, webhook_url });
    const calls = receiver.requests.length;
    return {
      path: `/polling-alert-rules/${id}/test`,
      meanwhile: () => api.records.alerts.deleteRule(id),
      since: async () => expect(receiver.requests).toHaveLength(calls + 1),
    };
  },
  'the acknowledgement of an alert': async () => ({
    path: `/polling-alert-history/${await firedAlert()}/acknowledge`,
    json: { reason: 'seen' },
  }),
  'a silence': async () => ({
    path: SILENCES,
    json: { task_type: 'realname', seconds: 60, reason: 'night' },
  }),
  'a cleanup run': async () => {
    await endCleanup();
    return { path: `${CLEANUP}/trigger`, meanwhile: endCleanup };
  },
  'the end of a cleanup run': async () => {
    await endCleanup();
    await created(`${CLEANUP}/trigger`);
    return { path: `${CLEANUP}/cancel`, meanwhile: () => created(`${CLEANUP}/trigger`) };
  },
  'a reset of the running count': async () => {
    await occupy();
    return { path: RESET, json: { task_type: 'realname' }, meanwhile: occupy };
  },
  'a pause': async () => ({
    path: PAUSES,
    json: { task_type: 'all', seconds: 600, reason: 'maintenance' },
    meanwhile: () => api.admin('DELETE', PAUSES, undefined, ANNA),
    since: async () => expect((await get(PAUSES)).items).toEqual([]),
  }),
  'a rebuild of the rings': async () => {
    const { coordination } = api.live;
    const state = () => coordination.reconciliation();
    const carryOut = async () =>
      coordination.saveReconciliation({ ...(await state()), answeredRequestMs: (await state()).requestedMs });
    await carryOut();
    return {
      path: '/polling-init/rebuild',
      meanwhile: carryOut,
      shown: () => null,
      since: async () => expect((await state()).answeredRequestMs).toBe((await state()).requestedMs),
    };
  },
  'the release of held stops': async () => {
    await held(3);
    return { path: '/stops/release', json: { all: true, reason: 'right' }, meanwhile: () => held(9) };
  },
  'the dismissal of held stops': async () => {
    await held(3);
    const json = { card_ids: [1, 2, 50], reason: 'wrong' };
    return { path: '/stops/dismiss', json, meanwhile: () => held(9) };
  },
  'the stop of a card': async () => {
    await api.reset();
    const swapTo = (iccid: string) => api.sql('UPDATE cards SET iccid = $1 WHERE card_id = 10', [iccid]);
    const iccid = '89860000000000000010';
    await swapTo(iccid);
    const meanwhile = () => swapTo('898600000000009999');
    return { path: `/cards/${iccid}/stop`, json: { reason: 'lost' }, meanwhile };
  },
  'the resume of cards': async () => {
    await stoppedCards();
    return { path: '/stops/resume', json: { card_ids: [1, 2], reason: 'paid' }, shown: idOf };
  },
  'the resume of a card': async () => {
    await stoppedCards();
    return { path: '/cards/3/resume', json: { reason: 'paid' }, shown: idOf };
  },
  'the end of a resume run': async () => {
    await stoppedCards();
    const { id } = await created('/stops/resume', { card_ids: [1, 2], reason: 'paid' });
    return { path: `/stops/resume/${id}/cancel` };
  },
});

describe('a request that is sent again', () => {
  it.each(ONCE)('takes effect once, here and on another instance: %s', async (name, prepare) => {
    const key = `again-${name.replaceAll(' ', '-')}-`;
    const { path, json, meanwhile, shown = (body) => body, since } = await prepare();
    const first = await post(api, key, path, json, 'first');
    expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    await meanwhile?.();
    for (const instance of [other, api]) {
      const again = await post(instance, key, path, json, 'again');
      expect([again.status, shown(again.body)]).toEqual([first.status, shown(first.body)]);
      expect(again.headers['idempotent-replayed']).toBe('true');
    }
    await since?.();
    expect(await attemptsThatChanged(key)).toEqual([`${key}first`]);
  });

  // Two tests of a rule at the same moment send two messages: a receiver may take ten seconds, and nothing waits that long.
  it.each(ONCE.filter(([name]) => !name.startsWith('the test of')))(
    'takes effect once, at the same moment: %s',
    async (name, prepare) => {
      const key = `at-once-${name.replaceAll(' ', '-')}-`;
      const { path, json, shown = (body) => body } = await prepare();
      const replies = await Promise.all(
        [api, other, api, other].map((instance, n) => post(instance, key, path, json, String(n))),
      );
      const [first] = replies as [Reply, ...Reply[]];
      expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
      for (const { status, body } of replies) {
        expect([status, shown(body)]).toEqual([first.status, shown(first.body)]);
      }
      // What is in Redis is announced before it is made, so an attempt that only waits may have announced it as well.
      if (![RESET, PAUSES, '/polling-init/rebuild'].includes(path)) {
        expect(await attemptsThatChanged(key)).toHaveLength(1);
      }
    },
  );

  it('undoes a change once', async () => {
    await api.admin('PUT', '/polling-concurrency/carddata', { max_concurrency: 77 }, ANNA);
    const { id } = (await get('/audit?action=concurrency.set&page_size=1')).items[0];
    const first = await post(api, 'undo', `/audit/${id}/undo`);
    const again = await post(other, 'undo', `/audit/${id}/undo`);
    expect([first.body.state, again.body.state]).toEqual(['undone', 'already_undone']);
    expect(again.body.audit_id).toBe(first.body.audit_id);
    expect(await attemptsThatChanged('undo')).toHaveLength(1);
  });

  it('gets its answer although the client hung up before the first one came', async () => {
    await occupy();
    const [host, port] = api.server.address.split(':');
    const body = JSON.stringify({ task_type: 'realname' });
    const lines = api.accessLog.length;
    const socket = connect({ host, port: Number(port) }, () => {
      const head = [
        `POST ${ADMIN}${RESET} HTTP/1.1`,
        'Host: localhost',
        `Authorization: Bearer ${ANNA}`,
        'Idempotency-Key: hung-up',
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
    });
    socket.on('error', () => {});
    await waitFor(() => api.accessLog.length > lines, { what: 'the server to notice' });
    expect(await reset(other, 'hung-up')).toMatchObject({ status: 200, body: { previous: 1 } });
  });
});

describe('a decision about held stops that was cut off between two steps', () => {
  it.each(['release', 'dismiss'] as const)('goes on where it ended: %s', async (verb) => {
    await api.sql(
      `INSERT INTO cards (card_id, iccid, carrier_id, allowance_mb)
       SELECT id, '8986' || lpad(id::text, 16, '0'), 1, 1024 FROM generate_series(1001, 13500) id ON CONFLICT (card_id) DO NOTHING`,
    );
    await held(13_500);
    const [{ n: count }] = (await api.sql('SELECT count(*)::int AS n FROM card_stops')) as [{ n: number }];
    const last = (await api.sql('SELECT max(card_id) AS id FROM card_stops'))[0]?.id;
    const send = (attempt: string) =>
      post(api, `cut-${verb}-`, `/stops/${verb}`, { all: true, reason: 'all' }, attempt);
    // The second step waits for a card that another session holds, and PostgreSQL gives it up.
    const holder = await api.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM card_stops WHERE card_id = $1 FOR UPDATE', [last]);
    const cut = send('cut');
    const waiting = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await waitFor(async () => (await api.sql(`SELECT pid ${waiting}`)).length > 0, {
      what: 'the second step',
    });
    await api.sql(`SELECT pg_cancel_backend(pid) ${waiting}`);
    expect((await cut).status).toBeGreaterThanOrEqual(500);
    await holder.end();
    const left = async () => (await api.records.stopControl.read()).held;
    expect(await left()).toBe(count - 10_000);
    const again = await send('again');
    expect(again).toMatchObject({ status: 200, headers: { 'idempotent-replayed': 'true' } });
    expect(Object.values(again.body)[0]).toBe(count);
    expect(await left()).toBe(0);
    expect(await attemptsThatChanged(`cut-${verb}-`)).toEqual([`cut-${verb}-cut`]);
  });
});

describe('a request that failed', () => {
  it('runs when it is sent again: it was about the present state', async () => {
    const trigger = () => post(api, 'state', `${TRIGGER}/single`, { card_id: 47_110, task_type: 'realname' });
    expect((await trigger()).status).toBe(404);
    await api.sql(`INSERT INTO cards (card_id, iccid, carrier_id) VALUES (47110, '898600000000047110', 1)`);
    const reply = await trigger();
    expect([reply.status, reply.headers['idempotent-replayed']]).toEqual([202, undefined]);
  });

  it('runs when it is sent again: its form was wrong', async () => {
    expect(await reset(api, 'form', 'sms')).toMatchObject({ status: 422, body: { code: 'invalid_field' } });
    expect(await reset(api, 'form')).toMatchObject({ status: 200 });
  });

  it('runs when it is sent again: the store failed it', async () => {
    const { work } = api.live;
    const { resetSlots } = work;
    const inside = new Error('WRONGTYPE polling:concurrency:slots:realname');
    Object.assign(work, { resetSlots: () => Promise.reject(inside) });
    const failed = await reset(api, 'failed').finally(() => Object.assign(work, { resetSlots }));
    expect(failed).toMatchObject({ status: 500, body: { code: 'internal' } });
    expect(JSON.stringify(failed.body), 'the inside stays inside').not.toMatch(/WRONGTYPE|polling:/i);
    const line = api.apiLog.find(({ request_id }) => request_id === failed.body.request_id);
    expect(line?.err).toBe(inside);
    await occupy();
    expect(await reset(api, 'failed')).toMatchObject({ status: 200, body: { previous: 1 } });
    const { items } = await get('/audit?action=concurrency.reset&page_size=3');
    expect(items.map(({ action }: { action: string }) => action)).toEqual([
      'concurrency.reset',
      'concurrency.reset.failed',
      'concurrency.reset',
    ]);
  });
});

describe('a key', () => {
  it('is another one for another token', async () => {
    await occupy();
    await reset(api, 'of-two');
    await occupy();
    const reply = await reset(api, 'of-two', 'realname', BEN);
    expect(reply).toMatchObject({ status: 200, body: { previous: 1 } });
    expect(reply.headers['idempotent-replayed']).toBeUndefined();
  });

  it('is the same one however the token is written', async () => {
    const first = await reset(api, 'as-typed');
    const again = await api.call('POST', `${ADMIN}${RESET}`, {
      json: { task_type: 'realname' },
      headers: { authorization: `bearer   ${ANNA}`, 'idempotency-key': 'as-typed' },
    });
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  it.each<[string, string, object]>([
    ['body', RESET, { task_type: 'carddata' }],
    ['path', SILENCES, { task_type: 'realname', seconds: 60, reason: 'x' }],
    ['path, announced', PAUSES, { task_type: 'realname', seconds: 60, reason: 'x' }],
    ['path, prepared', `${TRIGGER}/single`, { card_id: 1, task_type: 'realname' }],
  ])('is refused for a request with another %s, which changes nothing', async (_what, path, json) => {
    await reset(api, 'reused');
    const reply = await post(other, 'reused', path, json);
    expect(reply).toMatchObject({
      status: 422,
      body: { status: 422, code: 'idempotency_key_reused', errors: [{ field: 'idempotency-key' }] },
    });
    expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(await attemptsThatChanged('reused')).toHaveLength(1);
  });

  it('ends after a day, and what was kept for it is removed with the next one', async () => {
    await occupy();
    await reset(api, 'old');
    const kept = async () => Number((await api.sql('SELECT count(*) AS n FROM made_changes'))[0]?.n);
    const age = (hours: number) =>
      api.sql(`UPDATE made_changes SET made_at = now() - interval '${hours} hours'`);
    await occupy();
    await age(23);
    expect((await reset(api, 'old')).headers['idempotent-replayed']).toBe('true');
    expect(await kept()).toBeGreaterThan(1);
    await age(25);
    const anew = await reset(api, 'old');
    expect(anew).toMatchObject({ status: 200, body: { previous: 1 } });
    expect(anew.headers['idempotent-replayed']).toBeUndefined();
    expect(await kept()).toBe(1);
  });

  it.each(['', 'with space', 'x'.repeat(129), 'ä'])('%j is refused', async (key) => {
    const reply = await reset(api, Buffer.from(key).toString('latin1'));
    expect(reply).toMatchObject({ status: 400, body: { code: 'idempotency_key_malformed' } });
  });

  it('means nothing to methods that are repeatable by themselves', async () => {
    const set = (max_concurrency: number) =>
      api.call('PUT', `${ADMIN}/polling-concurrency/realname`, {
        json: { max_concurrency },
        headers: { authorization: `Bearer ${ANNA}`, 'idempotency-key': 'put' },
      });
    expect((await set(7)).body).toMatchObject({ max_concurrency: 7 });
    expect((await set(8)).body).toMatchObject({ max_concurrency: 8 });
  });

  it('is described', async () => {
    const { paths } = (await api.call('GET', '/openapi.json')).body;
    expect(paths[`${ADMIN}${RESET}`].post.parameters).toMatchObject([
      { in: 'header', name: 'idempotency-key' },
    ]);
  });
});
