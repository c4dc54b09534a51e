// The bytes and headers a webhook receiver gets for an alert, or when an operator tests the webhook of a rule, and what the
// operator sees. How they travel: webhook-sender.test.ts.
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { AlertRule, NotificationEvent } from '../../../../src/domain/alerts/alert-rule.ts';
import type { Alert } from '../../../../src/domain/alerts/alert-text.ts';
import { WebhookTester } from '../../../../src/engine/alerts/webhook-attempt.ts';
import { webhookMessage } from '../../../../src/engine/alerts/webhook-message.ts';
import { parseAddressRange } from '../../../../src/platform/addresses.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../../../src/platform/ssrf-guard.ts';
import { ruleFields } from '../../../support/alert-rules.ts';
import {
  answer,
  type BadGateway,
  type Behaviour,
  hangUp,
  startBadGateway,
} from '../../../support/bad-gateway.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { MESSAGE_MEANS, TESTER_MEANS } from '../../../support/message-deps.ts';

const [NEW_SECRET, OLD_SECRET] = ['the newer of the two keys, here', 'the older of the two keys, here'].map(
  (key) => `whsec_${Buffer.from(key).toString('base64')}`,
) as [string, string];

const FIRING: Alert = {
  id: 7,
  ruleId: 3,
  ruleName: '积压',
  ruleType: 'success_rate',
  taskType: 'realname',
  comparison: '<',
  threshold: 90,
  value: 71.5,
  firedAtMs: Date.parse('2026-11-01T00:00:00.250Z'),
  cause: null,
  causeSinceMs: null,
  earlierCauses: [],
  resolvedAtMs: null,
  resolution: null,
  resolvedValue: null,
};
const RESOLVED: Alert = {
  ...FIRING,
  resolvedAtMs: Date.parse('2026-11-01T00:05:00Z'),
  resolution: 'rule_changed',
  resolvedValue: null,
};
const FIRED_BODY = {
  event: 'alert.fired',
  id: 7,
  rule: {
    id: 3,
    name: '积压',
    rule_type: 'success_rate',
    task_type: 'realname',
    comparison: '<',
    threshold: 90,
  },
  value: 71.5,
  fired_at: '2026-11-01T00:00:00.250Z',
  text: 'realname: success_rate is 71.5 % (rule: < 90 %), since 2026-11-01 08:00:00 Asia/Shanghai',
  severity: 'alert',
  fleet: '"cardpoll" (0197f3d2)',
  command: 'cardpoll stats failures',
  runbook_url: 'https://wiki.example/runbook#success_rate',
  dedup_key: `${MESSAGE_MEANS.fleet.id}/7`,
};

const HOOK = 'https://hooks.example/cardpoll';
const MEANS = { ...MESSAGE_MEANS, secrets: [], timeZone: 'Asia/Shanghai' };
const TO = { url: HOOK, format: null, secrets: [] };

const bodyOf = (event: NotificationEvent, alert: Alert): unknown =>
  JSON.parse(webhookMessage({ event, messageId: 'm1', alert, group: null }, TO, MEANS, 0).body);

const signedBy = (secrets: readonly string[]) =>
  // Now: the library refuses what is old.
  webhookMessage(
    { event: 'alert.fired', messageId: 'm1', alert: FIRING, group: null },
    { ...TO, secrets },
    MEANS,
    Date.now(),
  );

describe('the body', () => {
  it('says what fired', () => {
    expect(bodyOf('alert.fired', FIRING)).toEqual(FIRED_BODY);
  });

  it('says when, why and at which value an alert was resolved', () => {
    expect(bodyOf('alert.resolved', RESOLVED)).toEqual({
      ...FIRED_BODY,
      event: 'alert.resolved',
      text: 'over: realname: success_rate was 71.5 %; the rule was changed, since 2026-11-01 08:00:00 Asia/Shanghai until 2026-11-01 08:05:00 Asia/Shanghai',
      resolved_at: '2026-11-01T00:05:00.000Z',
      resolved_value: null,
      resolution: 'rule_changed',
    });
    expect(bodyOf('alert.resolved', { ...RESOLVED, resolvedValue: 95 })).toMatchObject({
      resolved_value: 95,
    });
  });

  it('the body of a firing stays the same when the alert is resolved between two attempts', () => {
    expect(bodyOf('alert.fired', RESOLVED)).toEqual(FIRED_BODY);
  });

  it('lists every alert of a group, and is that of the first for receivers that know no groups', () => {
    const second = { ...FIRING, id: 8, ruleId: 4, ruleName: '停滞' };
    const group = { event: 'alert.fired', messageId: 'm1', alert: FIRING, group: [FIRING, second] } as const;
    const { event, ...first } = FIRED_BODY;
    expect(JSON.parse(webhookMessage(group, TO, MEANS, 0).body)).toEqual({
      ...{ event, ...first },
      alerts: [
        first,
        {
          ...first,
          id: 8,
          dedup_key: `${MESSAGE_MEANS.fleet.id}/8`,
          rule: { ...first.rule, id: 4, name: '停滞' },
        },
      ],
    });
  });

  it('makes up no instant for a resolution that has none', () => {
    const text = 'over: realname: success_rate was 71.5 %, since 2026-11-01 08:00:00 Asia/Shanghai';
    expect(bodyOf('alert.resolved', FIRING)).toEqual({ ...FIRED_BODY, event: 'alert.resolved', text });
  });

  it('says the reason of health, its command and its section, however hostile its words are', () => {
    const cause = {
      ...({ code: 'gateway_slow', severity: 'alert', command: 'cardpoll doctor' } as const),
      text: 'realname: the gateway says "<at all>"\u0007 and takes 3.0 s a call',
    } as const;
    expect(bodyOf('alert.fired', { ...FIRING, cause })).toEqual({
      ...FIRED_BODY,
      text: `${cause.text}, since 2026-11-01 08:00:00 Asia/Shanghai`,
      command: 'cardpoll doctor',
      runbook_url: 'https://wiki.example/runbook#gateway_slow',
    });
  });
});

it('an open alert with another cause says that one, since it began, and its end says that, too', () => {
  const cause = {
    code: 'breaker_open',
    kind: 'token',
    severity: 'alert',
    text: 'the token is refused',
  } as const;
  const causeSinceMs = Date.parse('2026-11-01T00:03:00Z');
  const changed = { ...FIRING, cause: { ...cause, command: null }, causeSinceMs };
  const since = 'the token is refused, since 2026-11-01 08:03:00 Asia/Shanghai';
  expect(bodyOf('alert.changed', changed)).toEqual({
    ...FIRED_BODY,
    ...{ event: 'alert.changed', text: `now: ${since}` },
    runbook_url: 'https://wiki.example/runbook#breaker_open',
  });
  const over = {
    ...RESOLVED,
    ...changed,
    resolvedAtMs: RESOLVED.resolvedAtMs,
    resolution: 'recovered',
  } as const;
  expect(bodyOf('alert.resolved', over)).toMatchObject({
    text: `over: ${since} until 2026-11-01 08:05:00 Asia/Shanghai`,
  });
  const robot = { ...TO, format: 'pagerduty', secrets: ['key'] };
  const news = { event: 'alert.changed', messageId: 'm1', alert: changed, group: null } as const;
  expect(JSON.parse(webhookMessage(news, robot, MEANS, 0).body)).toMatchObject({
    ...{ event_action: 'trigger', dedup_key: FIRED_BODY.dedup_key },
    payload: { summary: `now: ${since}` },
  });
});

describe('the headers', () => {
  it('name the sender, the message and the second of the attempt, and count bytes', () => {
    const news = { event: 'alert.fired', messageId: 'm1', alert: FIRING, group: null } as const;
    const { body, headers } = webhookMessage(news, TO, MEANS, 1_793_491_200_999);
    expect(headers).toEqual({
      'content-type': 'application/json',
      'content-length': String(Buffer.from(body).length),
      'user-agent': 'cardpoll',
      'webhook-id': 'msg_m1',
      'webhook-timestamp': '1793491200',
    });
  });

  it('carry one signature for each secret, so that a receiver with either verifies', () => {
    const { body, headers } = signedBy([NEW_SECRET, OLD_SECRET]);
    expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    for (const secret of [NEW_SECRET, OLD_SECRET]) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(FIRED_BODY);
    }
  });

  it('carry no signature of a secret that is not given', () => {
    const { body, headers } = signedBy([NEW_SECRET]);
    expect(() => new Webhook(OLD_SECRET).verify(body, headers)).toThrow('No matching signature');
  });
});

describe('a test by an operator', () => {
  const LOOPBACK = [parseAddressRange('127.0.0.1')].filter((range) => range !== null);
  const secretOf = (key: string) => `whsec_${Buffer.from(key).toString('base64')}`;
  const OWN = secretOf('the key of the rule, its own one');
  const CONFIGURED = secretOf('the key of the configuration...');

  const RULE: AlertRule = {
    ...ruleFields({
      name: 'Slow polls',
      ruleType: 'avg_duration',
      threshold: 800,
      webhookUrl: 'http://example.com/not-this-one',
    }),
    ...{ id: 5, createdAtMs: 0, updatedAtMs: 0 },
  };

  let clock: FakeClock;
  beforeEach(() => {
    // Now: the library that verifies refuses what is old.
    clock = new FakeClock(Date.now());
    clock.advance(1_000);
  });

  async function receiver(behaviour: Behaviour): Promise<BadGateway> {
    const started = await startBadGateway(behaviour);
    onTestFinished(() => started.close());
    return started;
  }

  function trial(
    url: string,
    { own = [], configured = [], guard = new SsrfGuard(LOOPBACK, NO_PROXIES) }: Partial<Deps> = {},
  ): ReturnType<WebhookTester['test']> {
    const tester = new WebhookTester({ ...TESTER_MEANS, guard, secrets: configured, timeZone: 'UTC', clock });
    return tester.test({ ...RULE, webhookSecrets: own }, url);
  }

  interface Deps {
    readonly own: readonly string[];
    readonly configured: readonly string[];
    readonly guard: SsrfGuard;
  }

  it('sends what an alert at the threshold of the rule would be', async () => {
    const receiving = await receiver(answer(204, ''));
    await trial(`${receiving.url}/hook`);
    const [request, ...more] = receiving.requests;
    expect(more).toEqual([]);
    expect(request).toMatchObject({ method: 'POST', path: '/hook' });
    expect(request?.headers['webhook-id']).toMatch(/^msg_[0-9a-f-]{36}$/);
    expect(request?.headers['webhook-timestamp']).toBe(String(Math.floor(clock.now() / 1000)));
    expect(JSON.parse(request?.body ?? '')).toEqual({
      event: 'alert.test',
      id: 0,
      rule: {
        id: 5,
        name: 'Slow polls',
        rule_type: 'avg_duration',
        task_type: 'package',
        comparison: '>',
        threshold: 800,
      },
      value: 800,
      fired_at: new Date(clock.now()).toISOString(),
      text: 'This is a test: nothing has happened (rule Slow polls)',
      severity: 'info',
      fleet: '"cardpoll" (0197f3d2)',
      command: 'cardpoll concurrency advise',
      runbook_url: 'https://wiki.example/runbook#avg_duration',
      dedup_key: `${MESSAGE_MEANS.fleet.id}/Slow polls package`,
    });
  });

  it('reports how long the answer took, in whole milliseconds', async () => {
    const receiving = await receiver((socket, request) => {
      clock.advance(1_234.6);
      answer(204, '')(socket, request);
    });
    expect(await trial(receiving.url)).toMatchObject({
      ...{ delivered: true, status: 204, error: null, answer: '', durationMs: 1_235 },
      taken: 'the status says so, and nothing in the answer says otherwise',
    });
  });

  it.each([
    ['the secrets of the rule', { own: [OWN], configured: [CONFIGURED] }, OWN],
    ['those of the configuration where the rule has none', { configured: [CONFIGURED] }, CONFIGURED],
  ])('is signed with %s, and nothing else', async (_, secrets, signing) => {
    const receiving = await receiver(answer(204, ''));
    await trial(receiving.url, secrets);
    const { body = '', headers = {} } = receiving.requests[0] ?? {};
    expect(new Webhook(signing).verify(body, headers)).toMatchObject({ event: 'alert.test' });
    expect(headers).toHaveProperty('webhook-signature', expect.stringMatching(/^v1,\S{44}$/));
  });

  it('is not signed without any secret', async () => {
    const receiving = await receiver(answer(204, ''));
    await trial(receiving.url);
    expect(receiving.requests[0]?.headers).not.toHaveProperty('webhook-signature');
  });

  it.each([
    ['an answer that is no success', answer(503, 'not now'), 503, /^answered 503: not now$/],
    ['a receiver that is gone', answer(410, ''), 410, /^answered 410: the receiver is gone$/],
    ['no answer', hangUp, null, /^socket hang up$/],
  ])('says that it was not delivered, and why, with %s', async (_, behaviour, status, reason) => {
    const receiving = await receiver(behaviour);
    expect(await trial(receiving.url)).toMatchObject({
      ...{ delivered: false, status, taken: null, durationMs: 0 },
      error: expect.stringMatching(reason),
    });
  });

  it('calls no address that is not public', async () => {
    const receiving = await receiver(answer(204, ''));
    expect(await trial(receiving.url, { guard: new SsrfGuard([], NO_PROXIES) })).toMatchObject({
      delivered: false,
      status: null,
      error: expect.stringContaining('127.0.0.1 is not a public address'),
    });
    expect(receiving.accepted).toBe(0);
  });
});
