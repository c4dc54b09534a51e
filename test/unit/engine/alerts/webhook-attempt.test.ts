// The bytes and headers a webhook receiver gets for an alert. How they travel: webhook-sender.test.ts.
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { webhookMessage } from '../../../../src/engine/alerts/webhook-attempt.ts';
import type { Alert } from '../../../../src/store/ports/records/alert-records.ts';

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
};

const bodyOf = (event: 'alert.fired' | 'alert.resolved', alert: Alert): unknown =>
  JSON.parse(webhookMessage({ event, messageId: 'm1', alert, group: null }, [], 0).body);

const signedBy = (secrets: readonly string[]) =>
  // Now: the library refuses what is old.
  webhookMessage({ event: 'alert.fired', messageId: 'm1', alert: FIRING, group: null }, secrets, Date.now());

describe('the body', () => {
  it('says what fired', () => {
    expect(bodyOf('alert.fired', FIRING)).toEqual(FIRED_BODY);
  });

  it('says when, why and at which value an alert was resolved', () => {
    expect(bodyOf('alert.resolved', RESOLVED)).toEqual({
      ...FIRED_BODY,
      event: 'alert.resolved',
      resolved_at: '2026-11-01T00:05:00.000Z',
      resolved_value: null,
      resolution: 'rule_changed',
    });
    expect(bodyOf('alert.resolved', { ...RESOLVED, resolvedValue: 95 })).toMatchObject({
      resolved_value: 95,
    });
  });

  it('of a firing stays the same when the alert is resolved between two attempts', () => {
    expect(bodyOf('alert.fired', RESOLVED)).toEqual(FIRED_BODY);
  });

  it('lists every alert of a group, and is that of the first for receivers that know no groups', () => {
    const second = { ...FIRING, id: 8, ruleId: 4, ruleName: '停滞' };
    const group = { event: 'alert.fired', messageId: 'm1', alert: FIRING, group: [FIRING, second] } as const;
    const { event, ...first } = FIRED_BODY;
    expect(JSON.parse(webhookMessage(group, [], 0).body)).toEqual({
      ...{ event, ...first },
      alerts: [first, { ...first, id: 8, rule: { ...first.rule, id: 4, name: '停滞' } }],
    });
  });

  it('makes up no instant for a resolution that has none', () => {
    expect(bodyOf('alert.resolved', FIRING)).toEqual({ ...FIRED_BODY, event: 'alert.resolved' });
  });
});

describe('the headers', () => {
  it('name the sender, the message and the second of the attempt, and count bytes', () => {
    const news = { event: 'alert.fired', messageId: 'm1', alert: FIRING, group: null } as const;
    const { body, headers } = webhookMessage(news, [], 1_793_491_200_999);
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
