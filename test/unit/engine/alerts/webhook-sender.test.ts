// What the sender does with each attempt: what it reports to the outbox, the meter and the log, how many run at once, and what a
// stop or an outbox that fails does to them. Real receivers; with a real outbox: test/integration/engine/alerts/webhook-sender.test.ts.
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { attemptWebhook, callWebhook } from '../../../../src/engine/alerts/webhook-attempt.ts';
import { WebhookSender } from '../../../../src/engine/alerts/webhook-sender.ts';
import { parseAddressRange } from '../../../../src/platform/addresses.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../../../src/platform/ssrf-guard.ts';
import type {
  DeliveryOutcome,
  WebhookDelivery,
  WebhookOutbox,
} from '../../../../src/store/ports/records/alert-records.ts';
import {
  answer,
  type BadGateway,
  type Behaviour,
  hang,
  startBadGateway,
} from '../../../support/bad-gateway.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { MESSAGE_MEANS } from '../../../support/message-deps.ts';
import { tlsPair } from '../../../support/tls-pair.ts';

const GUARD = new SsrfGuard(
  [parseAddressRange('127.0.0.1')].filter((range) => range !== null),
  NO_PROXIES,
);
const NOT_PUBLIC = 'http://10.0.0.1/';
const to = (url: string) =>
  ({
    url,
    method: 'POST',
    accept: null,
    secrets: [],
    problem: null,
    body: '{}',
    headers: { 'content-length': '2' },
  }) as const;
const secretOf = (key: string) => `whsec_${Buffer.from(key).toString('base64')}`;
const OWN = secretOf('the key of the rule, its own one');
const CONFIGURED = secretOf('the key of the configuration...');

/** Due, in this order. */
let due: WebhookDelivery[];
/** What `settle` does besides writing down; throws: the outbox fails. */
let settle: (id: number) => boolean;
let claims: Array<Parameters<WebhookOutbox['claim']>[0]>;
let settled: Array<[number, DeliveryOutcome]>;
let metered: string[];
let logged: Array<Record<string, unknown>>;
let clock: FakeClock;

beforeEach(() => {
  [due, claims, settled, metered, logged] = [[], [], [], [], []];
  settle = () => true;
  // Now: the library that verifies refuses what is old.
  clock = new FakeClock(Date.now());
});

const outbox: WebhookOutbox = {
  claim: async (request) => {
    claims.push(request);
    return due.splice(0, request.limit);
  },
  settle: async (deliveries, outcome) => {
    const ids = deliveries.map(({ id }) => id);
    for (const id of ids) settled.push([id, outcome]);
    return ids.filter(settle);
  },
  redeliver: async () => 0,
  pending: async () => 0,
};

function newSender(): WebhookSender {
  return new WebhookSender({
    ...MESSAGE_MEANS,
    outbox,
    guard: GUARD,
    secrets: [CONFIGURED],
    timeZone: 'UTC',
    meter: { webhookAttempt: (outcome) => metered.push(outcome) },
    sends: () => true,
    clock,
    random: () => 0.5,
    log: pino({ base: null, timestamp: false }, { write: (line: string) => logged.push(JSON.parse(line)) }),
    onError: (error) => expect.unreachable(String(error)),
  });
}

function delivery(id: number, url: string, over: Partial<WebhookDelivery> = {}): WebhookDelivery {
  return {
    ...{ id, attempt: 1, messageId: `m${id}`, event: 'alert.fired', url, groupKey: null, secrets: [] },
    format: null,
    alert: {
      ...{ id: 100 + id, ruleId: 3, ruleName: 'Backlog', ruleType: 'queue_backlog', taskType: 'carddata' },
      ...{ comparison: '>', threshold: 10, value: 12, firedAtMs: clock.now() },
      ...{ cause: null, causeSinceMs: null, earlierCauses: [] },
      ...{ resolvedAtMs: null, resolution: null, resolvedValue: null },
    },
    ...over,
  };
}

async function receiver(behaviour: Behaviour): Promise<BadGateway> {
  const started = await startBadGateway(behaviour);
  onTestFinished(() => started.close());
  return started;
}

/** A line of the log about the first delivery: by default of one that did not arrive. */
function line(receiver: string, attempt: number, over: Record<string, unknown>): Record<string, unknown> {
  return { level: 40, alert_id: 101, event: 'alert.fired', receiver, attempt, ...over };
}

/** One pass, and what it began. */
async function pass(sender: WebhookSender): Promise<number> {
  const restMs = await sender.runOnce(new AbortController().signal);
  await sender.settled();
  return restMs;
}

/** A sender that runs, with a receiver that has its only message and does not answer. */
async function sendingToOneThatHangs(): Promise<{ sender: WebhookSender; url: string }> {
  const { requests, url } = await receiver(hang);
  due.push(delivery(1, `${url}/secret-path`));
  const sender = newSender();
  await sender.start();
  await expect.poll(() => requests.length).toBe(1);
  return { sender, url };
}

describe('an attempt', () => {
  it('an attempt that is delivered is settled, counted and logged, without the path of the receiver', async () => {
    const { url } = await receiver(answer(204, ''));
    due.push(delivery(1, `${url}/secret-path`, { attempt: 2 }));
    const sender = newSender();
    expect(await pass(sender), 'there may be more to claim').toBe(0);
    expect(await pass(sender), 'nothing was due').toBe(500);
    expect(settled).toEqual([[1, { status: 'delivered' }]]);
    expect(metered).toEqual(['delivered']);
    expect(logged).toEqual([line(url, 2, { level: 30, msg: 'webhook delivered' })]);
  });

  it('an attempt that fails is tried again, and the log says why and when', async () => {
    const { url } = await receiver(answer(300, ''));
    due.push(delivery(1, url, { attempt: 3 }));
    await pass(newSender());
    expect(settled).toEqual([
      [1, { status: 'pending', retryInMs: 120_000, error: 'answered 300', answered: false }],
    ]);
    expect(metered).toEqual(['retried']);
    const expected = { reason: 'answered 300', retry_in_ms: 120_000, msg: 'webhook not delivered' };
    expect(logged).toEqual([line(url, 3, expected)]);
  });

  it.each([
    ['because the receiver is gone', 410, 1, 'answered 410: the receiver is gone'],
    ['because it was the last', 500, 8, 'answered 500'],
  ])('an attempt that is given up %s is logged as that', async (_, status, attempt, reason) => {
    const { url } = await receiver(answer(status, ''));
    due.push(delivery(1, url, { attempt }));
    await pass(newSender());
    expect(settled).toEqual([[1, { status: 'failed', error: reason }]]);
    expect(metered).toEqual(['failed']);
    expect(logged).toEqual([line(url, attempt, { reason, msg: 'webhook failed, no more attempts' })]);
  });

  it('at what is no URL is given up and names no receiver', async () => {
    due.push(delivery(1, 'nonsense'));
    await pass(newSender());
    expect(logged).toMatchObject([
      { receiver: null, reason: 'must be a URL', msg: 'webhook failed, no more attempts' },
    ]);
  });

  it('an attempt that another sender has taken over since is not logged', async () => {
    const { url } = await receiver(answer(204, ''));
    settle = () => false;
    due.push(delivery(1, url));
    await pass(newSender());
    expect(settled).toHaveLength(1);
    expect(logged).toEqual([]);
  });

  it.each([
    ['the secrets of its rule', [OWN], OWN],
    ['those of the configuration where the rule has none', [], CONFIGURED],
  ])('is signed with %s', async (_, secrets, signing) => {
    const { requests, url } = await receiver(answer(204, ''));
    due.push(delivery(1, url, { secrets }));
    await pass(newSender());
    const { body = '', headers = {} } = requests[0] ?? {};
    expect(new Webhook(signing).verify(body, headers)).toMatchObject({ event: 'alert.fired' });
  });
});

describe('attempts under way', () => {
  it('are sixteen at most, and as many are claimed as there is room for', async () => {
    const held: Socket[] = [];
    const { requests, url } = await receiver((socket) => held.push(socket));
    for (let id = 1; id <= 40; id += 1) due.push(delivery(id, url));
    const sender = newSender();
    const { signal } = new AbortController();
    expect(await sender.runOnce(signal)).toBe(0);
    expect(await sender.runOnce(signal), 'no room').toBe(500);
    expect(claims).toEqual([{ limit: 16, limitPerUrl: 4, leaseMs: 30_000 }]);
    await expect.poll(() => requests.length).toBe(16);
    for (const socket of held.splice(0, 3)) socket.destroy();
    await expect.poll(() => settled.length).toBe(3);
    await sender.runOnce(signal);
    expect(claims.map(({ limit }) => limit)).toEqual([16, 3]);
    await expect.poll(() => held.length).toBe(16);
    for (const socket of held) socket.destroy();
    await sender.settled();
    expect(requests).toHaveLength(19);
  });

  it('make room at once when they end, not only with the next pass', async () => {
    const held: Socket[] = [];
    const { url } = await receiver((socket) => held.push(socket));
    for (let id = 1; id <= 17; id += 1) due.push(delivery(id, url));
    const sender = newSender();
    await sender.start();
    onTestFinished(() => sender.stop());
    await expect.poll(() => clock.sleepers).toBe(1);
    await expect.poll(() => held.length).toBe(16);
    held[0]?.destroy();
    // The clock does not move: only the end of an attempt wakes the sender.
    await expect.poll(() => held.length).toBe(17);
  });

  it('are broken off by a stop, given back at once and logged as that', async () => {
    const { sender, url } = await sendingToOneThatHangs();
    await sender.stop();
    expect(settled).toMatchObject([[1, { status: 'pending', retryInMs: 0, error: 'cardpoll was stopped' }]]);
    expect(metered).toEqual(['stopped']);
    const expected = { reason: 'cardpoll was stopped', retry_in_ms: 0, msg: 'webhook not delivered' };
    expect(logged).toEqual([line(url, 1, expected)]);
  });
});

describe('an outbox that fails', () => {
  it('fails the next pass with its first failure, and deliveries go on', async () => {
    settle = (id) => {
      throw new Error(`no room for ${id}`);
    };
    due.push(delivery(1, NOT_PUBLIC), delivery(2, NOT_PUBLIC));
    const sender = newSender();
    await pass(sender);
    expect(settled).toHaveLength(2);
    await expect(pass(sender)).rejects.toMatchObject({ message: 'no room for 1' });
    expect(claims).toHaveLength(1);
    settle = () => true;
    due.push(delivery(3, NOT_PUBLIC));
    await pass(sender);
    expect(logged).toMatchObject([{ alert_id: 103 }]);
  });

  it('fails a stop that cannot give back what it broke off, once', async () => {
    settle = () => {
      throw new Error('the outbox is away');
    };
    const { sender } = await sendingToOneThatHangs();
    await expect(sender.stop()).rejects.toMatchObject({ message: 'the outbox is away' });
    await sender.stop();
  });
});

describe('one call', () => {
  const never = () => new AbortController().signal;

  it('is a success with 2xx only', async () => {
    for (const [status, error] of [
      [200, null],
      [299, null],
      [300, 'answered 300'],
    ] as const) {
      const { url } = await receiver(answer(status, ''));
      expect(await attemptWebhook(to(url), GUARD, never(), clock)).toMatchObject({
        status,
        error,
        lasting: false,
      });
    }
  });

  it('a call that a stop breaks off may be made again', async () => {
    const { requests, url } = await receiver(hang);
    const stop = new AbortController();
    const attempt = attemptWebhook(to(url), GUARD, stop.signal, clock);
    await expect.poll(() => requests.length).toBe(1);
    stop.abort();
    expect(await attempt).toMatchObject({ status: null, error: 'cardpoll was stopped', lasting: false });
  });

  it('leaves no listener on the signal it was given', async () => {
    const { url } = await receiver(answer(204, ''));
    const signal = never();
    expect(await callWebhook(to(url), GUARD, signal)).toMatchObject({ status: 204 });
    await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('at an address that is not public is refused for good', async () => {
    await expect(callWebhook(to(NOT_PUBLIC), GUARD, never())).rejects.toMatchObject({
      ...{ kind: 'invalid', code: 'address_forbidden' },
      message: expect.stringContaining('10.0.0.1 is not a public address'),
    });
    expect(await attemptWebhook(to(NOT_PUBLIC), GUARD, never(), clock)).toMatchObject({ lasting: true });
  });

  it('uses TLS for an https URL, and sends nothing to a server with an untrusted certificate', async () => {
    let requests = 0;
    const server = createServer(tlsPair('first'), () => {
      requests += 1;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await expect(callWebhook(to(url), GUARD, never())).rejects.toMatchObject({
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
    expect(requests).toBe(0);
  });
});
