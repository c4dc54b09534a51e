// The shipped receivers against small servers written from the pages of each: what it requires, what it answers, and what a person
// sees. And what refuses, and what is wrong with an answer.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Alert } from '../../../../src/domain/alerts/alert-text.ts';
import type { Receiver } from '../../../../src/domain/alerts/receiver.ts';
import { attemptWebhook, WebhookTester } from '../../../../src/engine/alerts/webhook-attempt.ts';
import { webhookMessage } from '../../../../src/engine/alerts/webhook-message.ts';
import { parseAddressRange } from '../../../../src/platform/addresses.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../../../src/platform/ssrf-guard.ts';
import { ruleFields } from '../../../support/alert-rules.ts';
import { answer, hangUp, startBadGateway } from '../../../support/bad-gateway.ts';
import { MESSAGE_MEANS, TESTER_MEANS } from '../../../support/message-deps.ts';

const GUARD = new SsrfGuard(
  [parseAddressRange('127.0.0.1')].filter((range) => range !== null),
  NO_PROXIES,
);
const SECRET = 'sec"ret/0123456789';

const FIRING: Alert = {
  ...{ id: 7, ruleId: 3, ruleName: '积压 @all <b>', ruleType: 'success_rate', taskType: 'realname' },
  ...{ comparison: '<', threshold: 90, value: 71.5, firedAtMs: Date.parse('2026-11-01T00:00:00.250Z') },
  ...{ cause: null, causeSinceMs: null, earlierCauses: [] },
  ...{ resolvedAtMs: null, resolution: null, resolvedValue: null },
};
const RESOLVED: Alert = {
  ...FIRING,
  ...{ resolvedAtMs: Date.parse('2026-11-01T00:05:00Z'), resolution: 'recovered', resolvedValue: 95 },
};
const KEY = `${MESSAGE_MEANS.fleet.id}/7`;

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  // biome-ignore lint/suspicious/noExplicitAny: each receiver has its own form
  readonly body: any;
}

/** Status, answer, and what a person sees. */
type Said = readonly [status: number, answer: unknown, person?: unknown];

interface Fake {
  /** Behind the address of the server, as a rule has it. */
  readonly url: string;
  readonly says: (asked: Asked) => Said;
  /** What a person sees of an alert and of its end. */
  readonly fired: unknown;
  readonly resolved: unknown;
  /** A URL with which it refuses. */
  readonly wrongUrl?: string;
  readonly needsSecret?: boolean;
}

const unknownField = (body: object, known: readonly string[]) =>
  Object.keys(body).find((name) => !known.includes(name));
const FIRED_TEXT = expect.stringMatching(/^告警触发 积压[\s\S]*71\.5 %[\s\S]*type: cardpoll stats failures/);
const RESOLVED_TEXT = expect.stringMatching(/^告警恢复 积压[\s\S]*is 95 %/);
const TEXTS = { fired: FIRED_TEXT, resolved: RESOLVED_TEXT };

const FAKES: Readonly<Record<string, Fake>> = {
  pagerduty: {
    url: '/v2/enqueue',
    needsSecret: true,
    says: ({ body }) => {
      const { routing_key, event_action, dedup_key, payload } = body;
      const errors = [
        ...(routing_key === SECRET ? [] : ["'routing_key' is invalid"]),
        ...(['trigger', 'resolve'].includes(event_action) ? [] : ["'event_action' is invalid"]),
        ...(event_action === 'resolve' || (payload?.summary && payload.source && payload.severity)
          ? []
          : ["'payload' is missing or blank"]),
      ];
      if (errors.length > 0)
        return [400, { status: 'invalid event', message: 'Event object is invalid', errors }];
      return [
        202,
        { status: 'success', message: 'Event processed', dedup_key },
        { event_action, dedup_key, payload },
      ];
    },
    fired: {
      ...{ event_action: 'trigger', dedup_key: KEY },
      payload: expect.objectContaining({
        ...{ summary: expect.stringContaining('success_rate is 71.5 %'), severity: 'critical' },
        timestamp: '2026-11-01T00:00:00.250Z',
        custom_details: expect.objectContaining({ value: 71.5, threshold: 90 }),
      }),
    },
    resolved: { event_action: 'resolve', dedup_key: KEY },
  },
  opsgenie: {
    url: '/v2/alerts',
    needsSecret: true,
    says: ({ path, query, headers, body }) => {
      if (headers.authorization !== `GenieKey ${SECRET}`)
        return [403, { message: 'You are not authorized', took: 0.1, requestId: 'r' }];
      if (path.endsWith('/close')) {
        const alias = decodeURIComponent(path.split('/').at(-2) ?? '');
        return [
          202,
          { result: 'Request will be processed', took: 0.1 },
          [alias, query.get('identifierType')],
        ];
      }
      if (!body.message || body.message.length > 130)
        return [422, { message: 'Request body is not processable' }];
      return [
        202,
        { result: 'Request will be processed', took: 0.3, requestId: 'r' },
        [body.alias, body.priority],
      ];
    },
    fired: [KEY, 'P1'],
    resolved: [KEY, 'alias'],
  },
  discord: {
    url: '/api/webhooks/1/token-0123456789',
    wrongUrl: '/api/webhooks/1/other-0123456789',
    says: ({ path, body }) => {
      if (!path.includes('token-')) return [401, { message: 'Invalid Webhook Token', code: 50027 }];
      if (!body.content || body.content.length > 2_000)
        return [400, { message: 'Cannot send an empty message', code: 50006 }];
      return [204, '', body.allowed_mentions.parse.length === 0 ? body.content : '@all'];
    },
    ...TEXTS,
  },
  googlechat: {
    url: '/v1/spaces/AAA/messages?key=k&token=0123456789',
    wrongUrl: '/v1/spaces/AAA/messages?key=k&token=other-token',
    says: ({ query, body }) => {
      if (query.get('token') !== '0123456789')
        return [
          401,
          { error: { code: 401, message: 'Request had invalid credentials.', status: 'UNAUTHENTICATED' } },
        ];
      const bad = unknownField(body, ['text', 'cardsV2', 'thread']);
      if (bad !== undefined) return [400, { error: { code: 400, message: `Unknown name "${bad}"` } }];
      return [
        200,
        { name: 'spaces/AAA/messages/B.B', text: body.text },
        body.text.includes('<') ? 'tags' : body.text,
      ];
    },
    ...TEXTS,
  },
  ntfy: {
    url: '/ops-0123456789',
    wrongUrl: '/closed',
    says: ({ path, headers, raw }) => {
      if (path === '/closed') return [403, { code: 40301, http: 403, error: 'forbidden' }];
      if (!['high', 'default', 'low'].includes(String(headers.priority)))
        return [400, { code: 40007, error: 'invalid priority' }];
      return [200, { id: 'x', time: 1, event: 'message', topic: 'ops', message: raw }, raw];
    },
    ...TEXTS,
  },
  gotify: {
    url: '/message',
    needsSecret: true,
    says: ({ headers, body }) => {
      if (headers['x-gotify-key'] !== SECRET)
        return [
          401,
          {
            error: 'Unauthorized',
            errorCode: 401,
            errorDescription: 'you need to provide a valid access token',
          },
        ];
      if (typeof body.message !== 'string' || !Number.isInteger(body.priority))
        return [
          400,
          { error: 'Bad Request', errorCode: 400, errorDescription: "Field 'message' is required" },
        ];
      return [200, { id: 25, appid: 5, ...body }, [body.message, body.priority]];
    },
    fired: [FIRED_TEXT, 8],
    resolved: [RESOLVED_TEXT, 4],
  },
  pushover: {
    url: '/1/messages.json',
    needsSecret: true,
    says: ({ body }) => {
      if (body.token !== SECRET || body.user !== SECRET)
        return [400, { token: 'invalid', errors: ['application token is invalid'], status: 0, request: 'r' }];
      if (!body.message || body.message.length > 1_024)
        return [400, { message: 'cannot be blank', status: 0 }];
      return [200, { status: 1, request: 'r' }, [body.message, body.priority]];
    },
    fired: [FIRED_TEXT, 1],
    resolved: [RESOLVED_TEXT, 0],
  },
  matrix: {
    url: '/_matrix/client/v3/rooms/!r%3Aexample/send/m.room.message',
    needsSecret: true,
    says: ({ method, path, headers, body }) => {
      if (method !== 'PUT') return [405, { errcode: 'M_UNRECOGNIZED', error: 'Unrecognized request' }];
      if (headers.authorization !== `Bearer ${SECRET}`)
        return [401, { errcode: 'M_UNKNOWN_TOKEN', error: 'Unknown token' }];
      if (body.msgtype !== 'm.text' || !/!r%3Aexample\/send\/m\.room\.message\/m\d$/.test(path))
        return [400, { errcode: 'M_BAD_JSON', error: 'bad' }];
      return [200, { event_id: '$1' }, body.body];
    },
    ...TEXTS,
  },
  telegram: {
    url: '/bot1:token-0123456789/sendMessage?chat_id=-100',
    wrongUrl: '/bot1:token-0123456789/sendMessage?chat_id=5',
    says: ({ path, query, body }) => {
      if (!path.startsWith('/bot1:token-'))
        return [404, { ok: false, error_code: 404, description: 'Not Found' }];
      if ((body.chat_id ?? query.get('chat_id')) !== '-100')
        return [400, { ok: false, error_code: 400, description: 'Bad Request: chat not found' }];
      return [200, { ok: true, result: { message_id: 1, text: body.text } }, body.text];
    },
    ...TEXTS,
  },
  teams: {
    url: '/workflows/w/triggers/manual/paths/invoke?sig=0123456789',
    wrongUrl: '/workflows/w/triggers/manual/paths/invoke?sig=other-signature',
    says: ({ query, body }) => {
      if (query.get('sig') !== '0123456789')
        return [401, { error: { code: 'DirectApiAuthorizationRequired', message: 'no' } }];
      const [card] = body.attachments ?? [];
      if (body.type !== 'message' || card?.contentType !== 'application/vnd.microsoft.card.adaptive')
        return [400, { error: { code: 'TriggerInputSchemaMismatch' } }];
      return [202, '', [card.content.body.at(-1).text, card.content.body[0].color]];
    },
    fired: [FIRED_TEXT, 'Attention'],
    resolved: [RESOLVED_TEXT, 'Good'],
  },
  mattermost: {
    url: '/hooks/token-0123456789',
    wrongUrl: '/hooks/gone-0123456789',
    says: ({ path, body }) => {
      if (!path.includes('token-'))
        return [
          400,
          { id: 'web.incoming_webhook.invalid.app_error', message: 'Invalid webhook', status_code: 400 },
        ];
      if (!body.text) return [400, { message: 'No text specified.' }];
      return [200, 'ok', body.text.includes('@all') ? 'everybody' : body.text];
    },
    ...TEXTS,
  },
  rocketchat: {
    url: '/hooks/1/token-0123456789',
    wrongUrl: '/hooks/1/gone-0123456789',
    says: ({ path, body }) =>
      path.includes('token-')
        ? [200, { success: true }, body.text]
        : [404, { success: false, error: 'Invalid integration id or token provided.' }],
    ...TEXTS,
  },
  zulip: {
    url: '/api/v1/external/slack_incoming?api_key=0123456789&stream=ops&topic=cards',
    wrongUrl: '/api/v1/external/slack_incoming?api_key=other-0123456789&stream=ops',
    says: ({ query, body }) => {
      if (query.get('api_key') !== '0123456789')
        return [401, { result: 'error', msg: 'Invalid API key', code: 'INVALID_API_KEY' }];
      if (!body.text)
        return [400, { result: 'error', msg: "Missing 'text' argument", code: 'REQUEST_VARIABLE_MISSING' }];
      return [200, { result: 'success', msg: '' }, body.text];
    },
    ...TEXTS,
  },
  bark: {
    url: '/device-0123456789',
    wrongUrl: '/other-0123456789',
    says: ({ path, body }) => {
      if (!path.startsWith('/device-'))
        return [400, { code: 400, message: 'failed to get device token', timestamp: 1 }];
      return [200, { code: 200, message: 'success', timestamp: 1 }, [body.body, body.level]];
    },
    fired: [FIRED_TEXT, 'timeSensitive'],
    resolved: [RESOLVED_TEXT, 'active'],
  },
};
const NAMES = Object.keys(FAKES);

async function started(says: Fake['says']) {
  const shown: unknown[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks).toString();
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://receiver');
    const isJson = request.headers['content-type'] === 'application/json';
    const body = isJson ? JSON.parse(raw) : null;
    const { method = '', headers } = request;
    const [status, said, person] = says({ method, path: pathname, query: searchParams, headers, raw, body });
    if (person !== undefined) shown.push(person);
    response.writeHead(status).end(typeof said === 'string' ? said : JSON.stringify(said));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, shown };
}

/** The shipped receiver, with its own address and its secrets where the configuration would give them. */
function receiverAt(name: string, url: string, secret: string | null): Receiver {
  const receiver = MESSAGE_MEANS.receivers[name] as Receiver;
  const { request } = receiver;
  const ownUrl = request.url.startsWith('{url}') ? request.url : url;
  const secrets = name === 'pushover' && secret !== null ? { token: secret, user: secret } : {};
  return { ...receiver, request: { ...request, url: ownUrl }, secrets };
}

function send(
  name: string,
  url: string,
  { secret = null, alert = FIRING }: { secret?: string | null; alert?: Alert } = {},
) {
  const event = alert.resolvedAtMs === null ? 'alert.fired' : 'alert.resolved';
  const means = {
    ...{ ...MESSAGE_MEANS, secrets: [], timeZone: 'UTC' },
    receivers: { [name]: receiverAt(name, url, secret) },
  };
  const secrets = secret === null || name === 'pushover' ? [] : [secret];
  const news = { event, messageId: 'm1', alert, group: null } as const;
  const message = webhookMessage(news, { url, format: name, secrets }, means, Date.now());
  return attemptWebhook(message, GUARD, new AbortController().signal, systemClock);
}

describe('a person sees at', () => {
  it('each shipped receiver that is no robot of a chat: all have a fake here', () => {
    const robots = ['dingtalk', 'wecom', 'feishu', 'slack'];
    const others = Object.keys(MESSAGE_MEANS.receivers).filter((name) => !robots.includes(name));
    expect(others.sort()).toEqual([...NAMES].sort());
  });

  it.each(NAMES)('%s: an alert and its end', async (name) => {
    const { url, says, fired, resolved, needsSecret } = FAKES[name] as Fake;
    const { origin, shown } = await started(says);
    const secret = needsSecret === true ? SECRET : null;
    expect(await send(name, origin + url, { secret })).toMatchObject({
      error: null,
      taken: expect.any(String),
    });
    expect(await send(name, origin + url, { secret, alert: RESOLVED })).toMatchObject({ error: null });
    expect(shown).toEqual([fired, resolved]);
  });

  it.each(NAMES)('%s: nothing with a wrong token, and it is not delivered', async (name) => {
    const { url, wrongUrl, says } = FAKES[name] as Fake;
    const { origin, shown } = await started(says);
    const secret = 'another"secret';
    const refused = await send(name, origin + (wrongUrl ?? url), {
      secret: wrongUrl === undefined ? secret : null,
    });
    expect(refused).toMatchObject({
      error: expect.stringMatching(/^answered 4\d\d: /),
      lasting: true,
      taken: null,
    });
    expect(JSON.stringify(refused)).not.toMatch(/another|other-|gone-/);
    expect(shown).toEqual([]);
  });

  it.each(
    [...NAMES, 'slack', 'dingtalk', 'wecom', 'feishu'].flatMap((name) => [
      [name, 'a page', '<!DOCTYPE html><html><title>Sign in</title></html>'],
      [name, 'an error', '{"error":"channel_not_found"}'],
    ]),
  )('%s: nothing where %s comes with 200, and it is tried again', async (name, _, page) => {
    const { origin } = await started(() => [200, page]);
    const secret = FAKES[name]?.needsSecret === true ? SECRET : null;
    expect(await send(name, origin + (FAKES[name]?.url ?? '/hook'), { secret })).toMatchObject({
      ...{ error: expect.stringMatching(/^answered 200: /), lasting: false, taken: null },
    });
  });
});

describe('a message to a receiver', () => {
  it('with a secret that is missing is not sent, and the error names it', async () => {
    const { origin, shown } = await started(() => [200, '{}', 'seen']);
    expect(await send('gotify', origin)).toMatchObject({
      error: 'the receiver has no secret token',
      lasting: false,
    });
    expect(shown).toEqual([]);
  });

  it('is not sent, and tried again, when the configuration no longer has the receiver', async () => {
    const means = { ...MESSAGE_MEANS, secrets: [], timeZone: 'UTC' };
    const news = { event: 'alert.fired', messageId: 'm1', alert: FIRING, group: null } as const;
    const message = webhookMessage(news, { url: 'http://h.example', format: 'gone', secrets: [] }, means, 0);
    const result = await attemptWebhook(message, GUARD, new AbortController().signal, systemClock);
    expect(result).toMatchObject({ error: 'no receiver gone is configured here', lasting: false });
  });

  it('fills nothing in twice: a name with braces stays as it is', async () => {
    const { origin, shown } = await started(FAKES.telegram?.says as Fake['says']);
    const alert = { ...FIRING, ruleName: '{dedup_key} {secret_token} {text}' };
    await send('telegram', origin + FAKES.telegram?.url, { alert });
    expect(shown).toEqual([expect.stringContaining('{dedup_key} {secret_token} {text}')]);
  });

  it('is cut to what the receiver takes', async () => {
    const { origin, shown } = await started(FAKES.pushover?.says as Fake['says']);
    const text = `realname: ${'很慢'.repeat(5_000)}`;
    const cause = { code: 'gateway_slow', severity: 'alert', command: 'cardpoll doctor', text } as const;
    await send('pushover', `${origin}/1/messages.json`, { secret: SECRET, alert: { ...FIRING, cause } });
    expect(shown).toHaveLength(1);
  });

  it.each([
    [
      'a redirect to a private address',
      answer(302, '', { location: 'http://10.0.0.1/' }),
      /redirect to http:\/\/10\.0\.0\.1 is not followed/,
    ],
    ['a reset', hangUp, /hang up/],
  ])('fails with %s', async (_, behaviour, error) => {
    const { url, close } = await startBadGateway(behaviour);
    onTestFinished(() => close());
    expect(await send('mattermost', url)).toMatchObject({ error: expect.stringMatching(error), taken: null });
  });

  it.each([
    ['refuses it', 400],
    ['says with 200 that it failed', 200],
    ['is busy', 503],
  ])('shows no secret where the receiver repeats it and %s', async (_, status) => {
    const echo: Fake['says'] = ({ headers, raw }) => {
      const key = String(headers['x-gotify-key']);
      return [status, { error: `no ${key} ${encodeURIComponent(key)} in ${raw}`, errorDescription: key }];
    };
    const { origin } = await started(echo);
    const result = await send('gotify', `${origin}/message`, { secret: SECRET });
    expect(result.error).toMatch(/^answered \d{3}: .*\*\*\*/);
    expect(JSON.stringify(result)).not.toMatch(/0123456789/);
  });

  it('goes to no private address, wherever its URL is from', async () => {
    const receiver = {
      ...receiverAt('pagerduty', 'http://10.0.0.1/v2/enqueue', null),
      secrets: { routing_key: SECRET },
    };
    const means = { ...MESSAGE_MEANS, secrets: [], timeZone: 'UTC', receivers: { pagerduty: receiver } };
    const news = { event: 'alert.fired', messageId: 'm1', alert: FIRING, group: null } as const;
    const to = { url: 'https://events.pagerduty.com/', format: 'pagerduty', secrets: [] };
    const result = await attemptWebhook(
      webhookMessage(news, to, means, 0),
      ...([GUARD, new AbortController().signal, systemClock] as const),
    );
    expect(result).toMatchObject({
      lasting: true,
      error: expect.stringContaining('10.0.0.1 is not a public'),
    });
  });
});

describe('a test of a rule', () => {
  it('shows what was sent and answered without secrets, and why it counts', async () => {
    const { origin } = await started(({ raw }) => [200, { id: 1, said: `${SECRET} ${raw}` }]);
    const guard = GUARD;
    const tester = new WebhookTester({
      ...TESTER_MEANS,
      guard,
      secrets: [],
      timeZone: 'UTC',
      clock: systemClock,
    });
    const rule = {
      ...ruleFields({ webhookFormat: 'gotify', webhookSecrets: [SECRET] }),
      id: 5,
      createdAtMs: 0,
      updatedAtMs: 0,
    };
    const trial = await tester.test(rule, `${origin}/message`);
    expect(trial).toMatchObject({ delivered: true, taken: 'id is 1' });
    expect(trial.sent).toMatch(/^POST http:\/\/127\.0\.0\.1:\d+\/… \{"title":"告警触发 \[test\]/);
    expect(trial.answer).toMatch(/^\{"id":1,"said":"\*\*\* /);
    expect(trial.answer?.length).toBe(200);
    expect(JSON.stringify(trial)).not.toContain('0123456789');
  });

  it('shows why it does not count', async () => {
    const { origin } = await started(() => [200, { ok: false, description: 'chat not found' }]);
    const tester = new WebhookTester({
      ...TESTER_MEANS,
      guard: GUARD,
      secrets: [],
      timeZone: 'UTC',
      clock: systemClock,
    });
    const rule = { ...ruleFields({ webhookFormat: 'telegram' }), id: 5, createdAtMs: 0, updatedAtMs: 0 };
    expect(await tester.test(rule, `${origin}/bot1/sendMessage`)).toMatchObject({
      ...{ delivered: false, taken: null, error: 'answered 200: refused the message with ok false' },
      answer: '{"ok":false,"description":"chat not found"}',
    });
  });
});
