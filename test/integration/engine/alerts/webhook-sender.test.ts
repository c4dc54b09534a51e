// Webhooks over real sockets and a real outbox: what arrives, what is tried again, and where nothing is ever sent.
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { callWebhook } from '../../../../src/engine/alerts/webhook-attempt.ts';
import { retryPauseMs, WebhookSender } from '../../../../src/engine/alerts/webhook-sender.ts';
import { parseAddressRange } from '../../../../src/platform/addresses.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../../../src/platform/ssrf-guard.ts';
import type { AlertNotification } from '../../../../src/store/ports/records/alert-records.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { PostgresClient } from '../../../../src/store/postgres/record-store.ts';
import { sqlRecordStore } from '../../../../src/store/sql/sql-record-store.ts';
import { applyToRules, ruleFields } from '../../../support/alert-rules.ts';
import {
  answer,
  type BadGateway,
  type Behaviour,
  flood,
  garbage,
  hang,
  hangAfterHead,
  hangUp,
  promise,
  reset,
  startBadGateway,
  switchProtocols,
  trickleHead,
} from '../../../support/bad-gateway.ts';
import { freshDatabase } from '../../../support/fresh-stores.ts';
import { MESSAGE_MEANS } from '../../../support/message-deps.ts';

const ANY = { ruleId: null, state: null };
const SECRET = `whsec_${Buffer.from('a key of thirty-two bytes, or so').toString('base64')}`;
const LOOPBACK = [parseAddressRange('127.0.0.1')].filter((range) => range !== null);

let client: PostgresClient;
let records: RecordStore;
/** Of a second instance. */
let secondRecords: RecordStore;

beforeAll(async () => {
  const url = await freshDatabase();
  const connected = () => new PostgresClient({ url, applicationName: 'cardpoll', maxConnections: 8 });
  client = connected();
  records = sqlRecordStore('postgres', client);
  secondRecords = sqlRecordStore('postgres', connected());
  await records.migrations.up();
});
afterAll(() => Promise.all([records.close(), secondRecords.close()]));
beforeEach(async () => {
  outcomes.length = 0;
  for (const table of ['webhook_outbox', 'alert_history', 'alert_rules'])
    await client.query(`DELETE FROM ${table}`);
});

const receivers: BadGateway[] = [];
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

async function receiver(behaviour: Behaviour): Promise<BadGateway> {
  const started = await startBadGateway(behaviour);
  receivers.push(started);
  return started;
}

/** What became of every attempt. */
const outcomes: string[] = [];

function sender(
  over: { guard?: SsrfGuard; secrets?: readonly string[]; leads?: boolean; store?: RecordStore } = {},
): WebhookSender {
  const {
    guard = new SsrfGuard(LOOPBACK, NO_PROXIES),
    secrets = [SECRET],
    leads = true,
    store = records,
  } = over;
  return new WebhookSender({
    ...MESSAGE_MEANS,
    outbox: store.alerts.webhooks,
    guard,
    secrets,
    timeZone: 'UTC',
    meter: { webhookAttempt: (outcome) => outcomes.push(outcome) },
    sends: () => leads,
    clock: systemClock,
    random: () => 0.5,
    log: pino({ level: 'silent' }),
    onError: () => {},
  });
}

async function pass(one: WebhookSender): Promise<number> {
  const restMs = await one.runOnce(new AbortController().signal);
  await one.settled();
  return restMs;
}

async function fire(webhookUrl: string, count = 1, webhookGrouped = false): Promise<void> {
  for (let n = 0; n < count; n += 1)
    await records.alerts.createRule(
      ruleFields({ name: '积压', taskType: 'carddata', webhookUrl, webhookGrouped }),
    );
  await fireAll();
}

const fireAll = () => applyToRules(records.alerts, { kind: 'fired', value: 12 });
const resolveAll = () =>
  applyToRules(records.alerts, { kind: 'resolved', value: 3, resolution: 'recovered' });

async function notifications(): Promise<AlertNotification[]> {
  const { items } = await records.alerts.history(ANY, { offset: 0, limit: 100 });
  return items.flatMap((item) => item.notifications);
}

async function dueInMs(): Promise<number> {
  const [row] = await client.query<{ ms: number }>(
    'SELECT (extract(epoch FROM next_attempt_at - now()) * 1000)::float8 AS ms FROM webhook_outbox',
  );
  return row?.ms ?? Number.NaN;
}

const comeDue = () => client.query('UPDATE webhook_outbox SET next_attempt_at = now()');

describe('a message', () => {
  it('has the alert, signed so that an independent library verifies it', async () => {
    const receiving = await receiver(answer(204, ''));
    await fire(`${receiving.url}/hook?team=1`);
    await pass(sender());
    await resolveAll();
    await pass(sender());
    const [fired, resolved] = receiving.requests;
    if (fired === undefined || resolved === undefined) throw new Error('nothing was received');
    expect(fired).toMatchObject({ method: 'POST', path: '/hook?team=1' });
    expect(fired.headers['content-type']).toBe('application/json');
    const text = (latin1: string) => Buffer.from(latin1, 'latin1').toString('utf8');
    const verified = new Webhook(SECRET).verify(text(fired.body), fired.headers);
    const [alert] = (await records.alerts.history(ANY, { offset: 0, limit: 1 })).items;
    expect(verified).toEqual({
      ...{ text: expect.stringMatching(/^carddata: queue_backlog is 12 /), severity: 'alert' },
      ...{ fleet: expect.any(String), command: 'cardpoll stats' },
      runbook_url: `${MESSAGE_MEANS.runbookUrl}#queue_backlog`,
      dedup_key: `${MESSAGE_MEANS.fleet.id}/${alert?.id}`,
      event: 'alert.fired',
      id: alert?.id,
      rule: {
        id: alert?.ruleId,
        name: '积压',
        rule_type: 'queue_backlog',
        task_type: 'carddata',
        comparison: '>',
        threshold: 10,
      },
      value: 12,
      fired_at: new Date(alert?.firedAtMs ?? 0).toISOString(),
    });
    expect(new Webhook(SECRET).verify(text(resolved.body), resolved.headers)).toMatchObject({
      event: 'alert.resolved',
      id: alert?.id,
      value: 12,
      resolved_value: 3,
      resolution: 'recovered',
      resolved_at: new Date(alert?.resolvedAtMs ?? 0).toISOString(),
    });
    expect(resolved.headers['webhook-id']).not.toBe(fired.headers['webhook-id']);
    expect(await notifications()).toMatchObject([
      { event: 'alert.fired', status: 'delivered', attempts: 1, lastError: null },
      { event: 'alert.resolved', status: 'delivered', attempts: 1, lastError: null },
    ]);
  });

  it('has all alerts of a group, and keeps its id when it is sent again', async () => {
    let status = 500;
    const receiving = await receiver((socket, request) => answer(status, '')(socket, request));
    await fire(receiving.url, 9, true);
    await comeDue();
    await pass(sender());
    status = 204;
    await comeDue();
    await pass(sender());
    const [first, again, ...none] = receiving.requests;
    expect(none).toEqual([]);
    expect(again?.body).toBe(first?.body);
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    const { id, alerts } = JSON.parse(first?.body ?? '');
    const { items } = await records.alerts.history(ANY, { offset: 0, limit: 9 });
    const ids = items.map((item) => item.id).reverse();
    expect([id, alerts.map((alert: { id: number }) => alert.id)]).toEqual([ids[0], ids]);
    expect(await notifications()).toEqual(
      ids.map(() => expect.objectContaining({ status: 'delivered', attempts: 2 })),
    );
    expect(outcomes).toEqual(['retried', 'delivered']);
  });

  it('is not signed without a secret', async () => {
    const receiving = await receiver(answer(200, 'ok'));
    await fire(receiving.url);
    await pass(sender({ secrets: [] }));
    expect(receiving.requests[0]?.headers['webhook-id']).toMatch(/^msg_[0-9a-f-]{36}$/);
    expect(receiving.requests[0]?.headers['webhook-signature']).toBeUndefined();
  });

  it('is sent by the leader only', async () => {
    const receiving = await receiver(answer(200, ''));
    await fire(receiving.url);
    expect(await pass(sender({ leads: false }))).toBeGreaterThan(0);
    expect(receiving.accepted).toBe(0);
  });

  it('is sent once when two instances believe they lead', async () => {
    const receiving = await receiver(answer(200, ''));
    await fire(receiving.url, 10);
    const first = sender();
    const second = sender();
    for (let n = 0; n < 5; n += 1) await Promise.all([pass(first), pass(second)]);
    expect(receiving.requests).toHaveLength(10);
    expect(new Set(receiving.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(10);
  });

  it('a message of a group is sent once, and whole, when two instances believe they lead', async () => {
    const receiving = await receiver(answer(200, ''));
    for (let round = 0; round < 30; round += 1) {
      await fire(`${receiving.url}/${round}`, 9, true);
      await comeDue();
      await Promise.all([pass(sender()), pass(sender({ store: secondRecords }))]);
      await client.query('DELETE FROM alert_rules');
    }
    const sizes = receiving.requests.map(({ body }) => JSON.parse(body).alerts.length);
    expect(sizes).toEqual(Array(30).fill(9));
  });
});

describe('a receiver that fails', () => {
  it('gets the same message again, with the same id and bytes and a later time', async () => {
    let status = 500;
    const receiving = await receiver((socket, request) => answer(status, 'not now')(socket, request));
    await fire(receiving.url);
    await pass(sender());
    expect(await notifications()).toMatchObject([
      { status: 'pending', attempts: 1, lastError: 'answered 500: not now' },
    ]);
    expect(await dueInMs()).toBeGreaterThan(3_000);
    expect(await dueInMs()).toBeLessThanOrEqual(5_000);
    expect(await pass(sender())).toBeGreaterThan(0);
    status = 200;
    await comeDue();
    await pass(sender());
    const [first, second, ...more] = receiving.requests;
    expect(more).toEqual([]);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    expect(await notifications()).toMatchObject([
      { status: 'delivered', attempts: 2, lastError: 'answered 500: not now' },
    ]);
  });

  it.each([
    ['a client error', answer(404, ''), /^answered 404$/],
    [
      'a redirect',
      answer(302, '', { location: 'http://127.0.0.1:1/' }),
      /^answered 302: the redirect to .*:1 is not/,
    ],
    ['a reset', reset, /socket hang up|ECONNRESET/],
    ['no HTTP', garbage, /./],
    ['a connection that is closed', hangUp, /socket hang up/],
    ['an answer in another protocol', switchProtocols, /^answered 101$/],
  ])('is tried again after %s', async (_, behaviour, reason) => {
    const receiving = await receiver(behaviour);
    await fire(receiving.url);
    await pass(sender());
    expect(receiving.accepted).toBe(1);
    expect(await notifications()).toMatchObject([
      { status: 'pending', attempts: 1, lastError: expect.stringMatching(reason) },
    ]);
  });

  it('is tried again when nothing listens', async () => {
    const gone = await startBadGateway(hang);
    await gone.close();
    await fire(gone.url);
    await pass(sender());
    expect(await notifications()).toMatchObject([
      { status: 'pending', lastError: expect.stringContaining('ECONNREFUSED') },
    ]);
  });

  it('cannot make an answer longer than its status', async () => {
    for (const behaviour of [flood, hangAfterHead]) {
      const receiving = await receiver(behaviour);
      await fire(receiving.url);
      await pass(sender());
      await expect.poll(() => receiving.waiting()).toBe(0);
    }
    expect((await notifications()).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
  });

  it('has ten seconds in all', async () => {
    const over = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(over.signal);
    onTestFinished(() => void timeout.mockRestore());
    const receiving = await receiver(hang);
    await fire(receiving.url);
    const passed = pass(sender());
    await expect.poll(() => receiving.requests.length).toBe(1);
    expect(timeout).toHaveBeenCalledExactlyOnceWith(10_000);
    over.abort();
    await passed;
    expect(await notifications()).toMatchObject([
      { status: 'pending', lastError: 'no answer within 10000 ms' },
    ]);
  });

  it.each([
    ['promises an answer that never ends', promise],
    ['never ends its head', trickleHead],
  ])('is given up when it %s', async (_, behaviour) => {
    const receiving = await receiver(behaviour);
    const tooLong = new AbortController();
    const message = {
      url: receiving.url,
      method: 'POST',
      body: '{}',
      headers: { 'content-length': '2' },
    } as const;
    const call = callWebhook(message, new SsrfGuard(LOOPBACK, NO_PROXIES), tooLong.signal);
    await expect.poll(() => receiving.requests.length).toBe(1);
    tooLong.abort(new Error('no answer in time'));
    await expect(call).rejects.toMatchObject({ name: 'AbortError', cause: { message: 'no answer in time' } });
    await expect.poll(() => receiving.waiting()).toBe(0);
  });

  it('is given up when its name is never resolved', async () => {
    const tooLong = new AbortController();
    const silent = new SsrfGuard(LOOPBACK, NO_PROXIES, () => {});
    const call = callWebhook(
      { url: 'http://hooks.example/', method: 'POST', body: '', headers: {} },
      silent,
      tooLong.signal,
    );
    tooLong.abort(new Error('no answer in time'));
    await expect(call).rejects.toMatchObject({ name: 'AbortError', cause: { message: 'no answer in time' } });
  });

  it('a receiver that switches protocols does not delay other receivers, even sixteen times', async () => {
    const odd = await receiver(switchProtocols);
    const healthy = await receiver(answer(200, ''));
    for (let n = 0; n < 16; n += 1) await fire(`${odd.url}/${n}`);
    const running = sender();
    await running.start();
    onTestFinished(() => running.stop());
    await expect.poll(() => odd.requests.length).toBe(16);
    await fire(healthy.url);
    await expect.poll(() => healthy.requests.length).toBe(1);
    await running.stop();
  });

  it('does not delay other receivers', async () => {
    const hanging = await receiver(hang);
    const healthy = await receiver(answer(200, ''));
    await fire(hanging.url, 20);
    const running = sender();
    await running.start();
    onTestFinished(() => running.stop());
    await expect.poll(() => hanging.requests.length).toBe(4);
    for (let n = 0; n < 20; n += 1) await records.alerts.createRule(ruleFields({ webhookUrl: healthy.url }));
    await fireAll();
    await expect.poll(() => healthy.requests.length).toBe(20);
    expect(hanging.accepted).toBe(4);
  });

  it('does not keep a stopping daemon waiting, and gets the message from the next one', async () => {
    const receiving = await receiver(hang);
    await fire(receiving.url);
    const running = sender();
    await running.start();
    onTestFinished(() => running.stop());
    await expect.poll(() => receiving.requests.length).toBe(1);
    const startedAt = performance.now();
    await running.stop();
    // Sooner than the attempt would have ended.
    expect(performance.now() - startedAt).toBeLessThan(9_000);
    expect(await records.alerts.webhooks.claim({ limit: 9, limitPerUrl: 9, leaseMs: 1 })).toMatchObject([
      { attempt: 2 },
    ]);
  });

  it('is given up after 410', async () => {
    const receiving = await receiver(answer(410, ''));
    await fire(receiving.url);
    await pass(sender());
    expect(await notifications()).toMatchObject([
      { status: 'failed', attempts: 1, lastError: expect.stringContaining('410') },
    ]);
  });

  it('is given up after eight attempts', async () => {
    const receiving = await receiver(answer(503, ''));
    await fire(receiving.url);
    for (let n = 0; n < 10; n += 1) {
      await comeDue();
      await pass(sender());
    }
    expect(outcomes).toEqual([...Array(7).fill('retried'), 'failed']);
    expect(receiving.requests).toHaveLength(8);
    expect(await notifications()).toMatchObject([
      { status: 'failed', attempts: 8, lastError: 'answered 503' },
    ]);
  });
});

describe('retryPauseMs', () => {
  it('grows from seconds to hours within a day, a quarter either way', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7].map((attempt) => retryPauseMs(attempt, 0.5) ?? 0);
    expect(pauses[0]).toBe(5_000);
    expect([...pauses].sort((a, b) => a - b)).toEqual(pauses);
    expect(pauses.reduce((sum, pause) => sum + pause)).toBeLessThan(24 * 3_600_000);
    expect(retryPauseMs(1, 0)).toBe(3_750);
    expect(retryPauseMs(1, 0.999_999)).toBe(6_250);
    expect(retryPauseMs(8, 0.5)).toBeNull();
  });
});

describe('an address that may not be called', () => {
  const strict = new SsrfGuard([], NO_PROXIES);
  const port = (receiving: BadGateway) => new URL(receiving.url).port;

  it.each(['127.0.0.1', '2130706433', '0x7f.1', 'localhost', '[::ffff:127.0.0.1]', '[::1]', '0.0.0.0'])(
    'gets nothing: %s',
    async (host) => {
      const receiving = await receiver(answer(200, ''));
      // Past the check at creation, as when the allow-list became shorter since.
      await fire(`http://${host}:${port(receiving)}/`);
      await pass(sender({ guard: strict }));
      expect(receiving.accepted).toBe(0);
      expect(await notifications()).toMatchObject([
        { status: 'failed', attempts: 1, lastError: expect.stringContaining('is not a public address') },
      ]);
    },
  );

  it('gets nothing behind a name', async () => {
    const receiving = await receiver(answer(200, ''));
    const guard = new SsrfGuard([], NO_PROXIES, (_, _options, callback) =>
      callback(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]),
    );
    await fire(`http://hooks.example.com:${port(receiving)}/`);
    await pass(sender({ guard }));
    expect(receiving.accepted).toBe(0);
    expect(await notifications()).toMatchObject([{ status: 'failed' }]);
  });

  it('is not reached by a name that changes its answer: one look-up, and what it gave is connected to', async () => {
    const receiving = await receiver(answer(200, ''));
    const other = await receiver(answer(200, ''));
    let lookUps = 0;
    const guard = new SsrfGuard(LOOPBACK, NO_PROXIES, (_, _options, callback) => {
      lookUps += 1;
      callback(null, [{ address: lookUps === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }]);
    });
    await fire(`http://rebind.example.com:${port(receiving)}/`);
    await pass(sender({ guard }));
    expect([lookUps, receiving.requests.length, other.accepted]).toEqual([1, 1, 0]);
    expect(receiving.requests[0]?.headers.host).toBe(`rebind.example.com:${port(receiving)}`);
    await fire(`http://rebind.example.com:${port(receiving)}/`);
    await pass(sender({ guard }));
    expect([lookUps, receiving.requests.length]).toEqual([2, 1]);
  });
});
