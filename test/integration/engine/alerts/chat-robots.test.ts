// Alerts in chats: what a person sees of an alert that fired, one that was resolved and a group, and what becomes of a message that
// a robot refuses although it answers 200. The robots are a server of their own (test/support/chat-robots.ts).
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { AlertRuleFields } from '../../../../src/domain/alerts/alert-rule.ts';
import type { Alert } from '../../../../src/domain/alerts/alert-text.ts';
import type { AlertEvent } from '../../../../src/domain/alerts/alert-transition.ts';
import { attemptWebhook, WebhookTester } from '../../../../src/engine/alerts/webhook-attempt.ts';
import { webhookMessage } from '../../../../src/engine/alerts/webhook-message.ts';
import { WebhookSender } from '../../../../src/engine/alerts/webhook-sender.ts';
import { parseAddressRange } from '../../../../src/platform/addresses.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../../../src/platform/ssrf-guard.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../../src/store/postgres/record-store.ts';
import { applyToRules, ruleFields } from '../../../support/alert-rules.ts';
import { answer, type Behaviour, startBadGateway } from '../../../support/bad-gateway.ts';
import { type ChatRobots, startChatRobots } from '../../../support/chat-robots.ts';
import { freshDatabase } from '../../../support/fresh-stores.ts';
import { MESSAGE_MEANS, TESTER_MEANS } from '../../../support/message-deps.ts';

const GUARD = new SsrfGuard(
  [parseAddressRange('127.0.0.1')].filter((range) => range !== null),
  NO_PROXIES,
);
const ROBOT_FORMATS = ['dingtalk', 'wecom', 'feishu', 'slack'] as const;

let records: RecordStore;
let robots: ChatRobots;

beforeAll(async () => {
  robots = await startChatRobots();
});
afterAll(() => robots.close());

beforeEach(async () => {
  records = await openPostgresRecordStore({ url: await freshDatabase(), applicationName: 'cardpoll' });
  robots.shown.length = 0;
  robots.asked.length = 0;
});
afterEach(() => records.close());

function ruleOf(path: string, format: string | null, over: Partial<AlertRuleFields> = {}): AlertRuleFields {
  return ruleFields({
    ...{ name: 'Success rate: realname', ruleType: 'success_rate', taskType: 'realname' },
    ...{ comparison: '<', threshold: 90, webhookUrl: `${robots.url}${path}`, webhookFormat: format },
    ...over,
  });
}

async function receiving(behaviour: Behaviour) {
  const started = await startBadGateway(behaviour);
  onTestFinished(() => started.close());
  return started;
}

const apply = (event: AlertEvent) => applyToRules(records.alerts, event);

async function deliver(): Promise<void> {
  const sender = new WebhookSender({
    ...MESSAGE_MEANS,
    outbox: records.alerts.webhooks,
    guard: GUARD,
    secrets: ['whsec_dGhlIGtleSBvZiB0aGUgY29uZmlndXJhdGlvbg=='],
    timeZone: 'Asia/Shanghai',
    meter: { webhookAttempt: () => {} },
    sends: () => true,
    clock: systemClock,
    random: () => 0.5,
    log: pino({ level: 'silent' }),
    onError: () => {},
  });
  await sender.runOnce(new AbortController().signal);
  await sender.settled();
}

async function notification() {
  const { items } = await records.alerts.history({ ruleId: null, state: null }, { offset: 0, limit: 1 });
  return items[0]?.notifications.at(-1);
}

describe('a robot shows', () => {
  it.each(ROBOT_FORMATS)('%s: an alert that fired, and its end', async (format) => {
    await records.alerts.createRule(ruleOf(`/${format}`, format));
    const text = 'realname: no poll succeeds';
    const cause = {
      code: 'success_rate',
      severity: 'alert',
      text,
      command: 'cardpoll doctor',
      since: null,
    } as const;
    await apply({ kind: 'fired', value: 72.3, cause });
    await deliver();
    expect(await notification()).toMatchObject({ status: 'delivered', lastError: null });
    const [fired = ''] = robots.shown;
    const fields = ['https://wiki.example/runbook#success_rate', 'fleet "cardpoll"', 'alert', '00000001/1'];
    for (const said of [
      ...fields,
      text,
      '告警触发',
      'Success rate: realname',
      'success_rate',
      '72.3 %',
      '90 %',
      'since 20',
    ]) {
      expect(fired).toContain(said);
    }
    expect(fired).toContain('type: cardpoll doctor');
    await apply({ kind: 'resolved', value: 97, resolution: 'recovered' });
    await deliver();
    expect(robots.shown[1]).toMatch(
      /^告警恢复 Success rate: realname\n.*\n.*97 %, was 72\.3 %[\s\S]*until 20/,
    );
  });

  it.each(ROBOT_FORMATS)('%s: a group as one message, cut to what the robot takes', async (format) => {
    const alertOf = (id: number): Alert => ({
      ...{ id, ruleId: id, ruleName: `规则 ${id} <at user_id="all"> & more`, ruleType: 'success_rate' },
      ...{ taskType: 'realname', comparison: '<', threshold: 90, value: 0, firedAtMs: 0 },
      ...{ cause: null, causeSinceMs: null, earlierCauses: [] },
      ...{ resolvedAtMs: null, resolution: null, resolvedValue: null },
    });
    const group = Array.from({ length: 30 }, (_, i) => alertOf(i + 1));
    const event = { event: 'alert.fired', messageId: 'm1', alert: alertOf(1), group } as const;
    const to = { url: `${robots.url}/${format}`, format, secrets: [] };
    const message = webhookMessage(event, to, { ...MESSAGE_MEANS, secrets: [], timeZone: 'UTC' }, Date.now());
    const result = await attemptWebhook(message, GUARD, new AbortController().signal, systemClock);
    expect(result).toMatchObject({ status: 200, error: null });
    expect(robots.shown).toEqual([expect.stringMatching(/规则 1 [\s\S]*规则 2 [\s\S]*and \d+ more lines$/)]);
    if (format === 'feishu' || format === 'slack') expect(robots.shown[0]).not.toContain('<at');
  });

  it.each(['dingtalk', 'feishu'] as const)(
    '%s: a signed message, and refuses one with another secret',
    async (format) => {
      const path = `/${format}?secret=SEC0123456789`;
      const rule = await records.alerts.createRule(
        ruleOf(path, format, { webhookSecrets: ['SEC0123456789'] }),
      );
      await apply({ kind: 'fired', value: 1 });
      await deliver();
      expect(await notification()).toMatchObject({ status: 'delivered' });
      await records.alerts.updateRule(rule.id, (before) => ({ ...before, webhookSecrets: ['SECanother'] }));
      await apply({ kind: 'resolved', value: 99, resolution: 'recovered' });
      await deliver();
      expect(await notification()).toMatchObject({
        status: 'failed',
        lastError: expect.stringMatching(/sign/),
      });
    },
  );

  it('what has the same cause once, however many task types suffer', async () => {
    const group = (['realname', 'carddata', 'package'] as const).map(
      (taskType, n): Alert => ({
        ...{ id: n, ruleId: n, ruleName: `Health: ${taskType}`, ruleType: 'health', taskType },
        ...{ comparison: '>', threshold: 1, value: 2, firedAtMs: 0 },
        ...{ causeSinceMs: null, earlierCauses: [] },
        ...{ resolvedAtMs: null, resolution: null, resolvedValue: null },
        cause: {
          ...({ code: 'breaker_open', severity: 'alert', command: 'cardpoll doctor' } as const),
          text: `${taskType}: the gateway is down`,
        },
      }),
    );
    const event = { event: 'alert.fired', messageId: 'm1', alert: group[0] as Alert, group } as const;
    const to = { url: `${robots.url}/wecom`, format: 'wecom', secrets: [] } as const;
    const message = webhookMessage(event, to, { ...MESSAGE_MEANS, secrets: [], timeZone: 'UTC' }, Date.now());
    await attemptWebhook(message, GUARD, new AbortController().signal, systemClock);
    expect(robots.shown).toHaveLength(1);
    expect(robots.shown[0]?.split('the gateway is down')).toHaveLength(2);
  });

  it('the message of a rule that was deleted meanwhile', async () => {
    const { id } = await records.alerts.createRule(ruleOf('/wecom', 'wecom'));
    await apply({ kind: 'fired', value: 1 });
    await records.alerts.deleteRule(id);
    await apply({ kind: 'resolved', value: null, resolution: 'rule_deleted' });
    await deliver();
    await deliver();
    expect(robots.shown[1]).toContain('the rule was deleted');
  });
});

describe('what takes Slack messages and answers otherwise', () => {
  it.each([
    ['Google Chat, with the message', answer(200, '{"name":"spaces/A/messages/B","text":"..."}')],
    ['Rocket.Chat', answer(200, '{"success":true}')],
    ['Zulip', answer(200, '{"result":"success","msg":""}')],
    ['hookshot', answer(200, '{"ok":true}')],
    ['Webex', answer(204, '')],
  ])('%s, is judged by its status', async (_, behaviour) => {
    const { url } = await receiving(behaviour);
    await records.alerts.createRule(ruleOf('', 'slack', { webhookUrl: url }));
    await apply({ kind: 'fired', value: 1 });
    await deliver();
    expect(await notification()).toMatchObject({ status: 'delivered', lastError: null });
  });

  it('but a page or an error is no message that was taken', async () => {
    const { url } = await receiving(answer(200, '{"success":false,"error":"invalid channel"}'));
    await records.alerts.createRule(ruleOf('', 'slack', { webhookUrl: url }));
    await apply({ kind: 'fired', value: 1 });
    await deliver();
    expect(await notification()).toMatchObject({
      status: 'pending',
      lastError: 'answered 200: refused the message with success false: invalid channel',
    });
  });
});

describe('a message that no chat shows is not delivered', () => {
  it.each([
    [
      'the message of another format',
      '/dingtalk',
      'standard',
      /errcode 40035: missing parameter msgtype.*webhook_template/,
    ],
    ['the message of another format', '/feishu', null, /code 9499: Bad Request/],
    [
      'a bad token',
      '/gone-token?access_token=0123456789abcdef',
      'dingtalk',
      /errcode 300001: token \*\*\* is not exist/,
    ],
    ['the format of another robot', '/wecom', 'feishu', /did not say that it took the message/],
  ] as const)('%s is refused for good, in the words of %s', async (_, path, format, words) => {
    await records.alerts.createRule(ruleOf(path, format));
    await apply({ kind: 'fired', value: 1 });
    await deliver();
    const told = await notification();
    expect(told?.lastError).toMatch(words);
    expect(told?.lastError).not.toContain('0123456789abcdef');
    expect(told?.status).toBe(format === 'feishu' ? 'pending' : 'failed');
    expect(robots.shown).toEqual([]);
  });

  it.each([
    ['a page in HTML', '/html', /a page of HTML/],
    ['an empty answer', '/empty', /an empty answer/],
    ['a robot that is busy', '/busy-robot', /errcode 45009: api freq out of limit/],
    ['a redirect', '/moved', /^answered 302: the redirect to another path is not followed$/],
  ])('%s is tried again', async (_, path, words) => {
    await records.alerts.createRule(ruleOf(path, 'wecom'));
    await apply({ kind: 'fired', value: 1 });
    await deliver();
    expect(await notification()).toMatchObject({
      status: 'pending',
      lastError: expect.stringMatching(words),
    });
  });

  it('says so in the test of a rule, in the words of the robot', async () => {
    const rule = await records.alerts.createRule(ruleOf('/dingtalk', 'standard'));
    const tester = new WebhookTester({
      ...TESTER_MEANS,
      guard: GUARD,
      secrets: [],
      timeZone: 'UTC',
      clock: systemClock,
    });
    const refused = await tester.test(rule, String(rule.webhookUrl));
    expect(refused).toMatchObject({ delivered: false, status: 200, error: expect.stringContaining('40035') });
    const taken = await tester.test({ ...rule, webhookFormat: 'dingtalk' }, String(rule.webhookUrl));
    expect(taken).toMatchObject({ delivered: true, error: null });
    expect(robots.shown).toEqual([expect.stringMatching(/告警触发 \[test\][\s\S]*nothing has happened/)]);
  });

  it('is not tried again before the time that a busy receiver names', async () => {
    await records.alerts.createRule(ruleOf('/busy', 'slack'));
    await apply({ kind: 'fired', value: 1 });
    const settled: unknown[] = [];
    const { webhooks } = records.alerts;
    const settle: typeof webhooks.settle = (deliveries, outcome) => {
      settled.push(outcome);
      return webhooks.settle(deliveries, outcome);
    };
    const outbox = { ...webhooks, settle };
    const sender = new WebhookSender({
      ...MESSAGE_MEANS,
      ...{
        outbox,
        guard: GUARD,
        secrets: [],
        timeZone: 'UTC',
        meter: { webhookAttempt: () => {} },
        sends: () => true,
      },
      ...{ clock: systemClock, random: () => 0.5, log: pino({ level: 'silent' }), onError: () => {} },
    });
    await sender.runOnce(new AbortController().signal);
    await sender.settled();
    expect(settled).toEqual([
      { status: 'pending', retryInMs: 120_000, error: 'answered 429: {}', answered: false },
    ]);
  });
});
