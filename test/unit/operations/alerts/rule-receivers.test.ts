// What the receiver of a rule makes of its URL, its secret and its groups.
import { describe, expect, it } from 'vitest';
import type { AlertRuleFields } from '../../../../src/domain/alerts/alert-rule.ts';
import {
  fitReceiver,
  type GivenWebhook,
  receiverReports,
} from '../../../../src/operations/alerts/rule-receivers.ts';
import { ruleFields } from '../../../support/alert-rules.ts';
import { MESSAGE_MEANS } from '../../../support/message-deps.ts';

const { receivers: SHIPPED } = MESSAGE_MEANS;
const SECRET = 'key-0123456789';
const URL = 'https://hooks.example/x';

const rule = (over: Partial<AlertRuleFields>) =>
  ruleFields({ notifyChannels: ['webhook'], webhookUrl: URL, ...over });

function fittedTo(
  webhookFormat: string,
  given: GivenWebhook,
  over: Partial<AlertRuleFields> = {},
  before: AlertRuleFields | null = null,
) {
  const webhookUrl = given.webhookUrl === undefined ? (before?.webhookUrl ?? null) : given.webhookUrl;
  const fields = rule({ ...before, webhookUrl, ...over, webhookFormat });
  const { problems, ...fitted } = fitReceiver(fields, given, before, SHIPPED);
  return {
    ...fitted,
    ...Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== null)),
  };
}

describe('a rule', () => {
  it('needs no URL for a receiver that has its own, and none else is accepted', () => {
    const own = 'https://events.pagerduty.com/v2/enqueue';
    expect(fittedTo('pagerduty', { webhookSecret: SECRET })).toMatchObject({
      webhookUrl: own,
      webhookSecrets: [SECRET],
    });
    expect(fittedTo('pagerduty', { webhookSecret: SECRET, webhookUrl: URL })).toMatchObject({
      webhookUrl: 'must be left out: pagerduty has a URL of its own',
    });
  });

  it('does not keep that URL for another receiver', () => {
    const before = rule({
      webhookFormat: 'pagerduty',
      webhookUrl: 'https://events.pagerduty.com/v2/enqueue',
    });
    expect(fittedTo('slack', {}, {}, before)).toMatchObject({ webhookUrl: null });
  });

  it.each([
    ['gotify', {}, 'is required: gotify has the secret token'],
    [
      'pushover',
      {},
      /^is not enough: webhooks\.receivers in the configuration must give pushover its secrets token, user/,
    ],
    ['pushover', { webhookSecret: SECRET }, /must be null: messages to pushover have no secret of a rule/],
    ['slack', { webhookSecret: SECRET }, /must be null: messages to slack have/],
    ['dingtalk', { webhookSecret: 'two words' }, /must be the secret that the page/],
    ['standard', { webhookSecret: SECRET }, /must be whsec_/],
  ])('with the receiver %s and the secret %j says what is wrong', (name, given, problem) => {
    const { webhookSecret } = fittedTo(name, { webhookUrl: URL, ...given }) as { webhookSecret?: string };
    expect(webhookSecret).toMatch(problem);
  });

  it('needs no secret of its own where the configuration gives it', () => {
    const { gotify } = SHIPPED;
    if (gotify === undefined) throw new Error('gotify is shipped');
    const receivers = { oncall: { ...gotify, secrets: { token: SECRET } } };
    expect(
      fitReceiver(rule({ webhookFormat: 'oncall' }), {}, null, receivers).problems.webhookSecret,
    ).toBeNull();
  });

  it.each([
    ['another server', 'gotify', { webhookUrl: 'https://evil.example/message' }],
    ['another receiver', 'matrix', {}],
    ['a receiver that shows what signed before', 'gotify', {}, 'dingtalk'],
  ])('does not send a secret that cannot be read to %s', (_, name, given, former = 'gotify') => {
    const before = rule({ webhookFormat: former, webhookSecrets: [SECRET] });
    expect(fittedTo(name, given, {}, before)).toMatchObject({
      webhookSecret: 'must be given again: it would be sent to another receiver',
    });
    expect(fittedTo(name, { ...given, webhookSecret: SECRET }, {}, before)).toMatchObject({
      webhookSecrets: [SECRET],
    });
  });

  it('keeps its secret for another path of the same server', () => {
    const before = rule({ webhookFormat: 'gotify', webhookSecrets: [SECRET] });
    expect(fittedTo('gotify', { webhookUrl: 'https://hooks.example/y' }, {}, before)).toMatchObject({
      webhookSecrets: [SECRET],
    });
  });

  it('keeps its secret without a webhook, where nothing is sent', () => {
    const before = rule({ webhookFormat: 'gotify', webhookSecrets: [SECRET] });
    const over = { notifyChannels: [] };
    expect(fittedTo('gotify', { webhookUrl: null }, over, before)).toEqual({
      ...{ webhookUrl: null, webhookSecrets: [SECRET], webhookGrouped: false },
    });
  });

  it('can be disabled when the configuration no longer has its receiver, and keeps its webhook', () => {
    const before = rule({ webhookFormat: 'gone', webhookSecrets: [SECRET] });
    expect(fittedTo('gone', {}, { isEnabled: false }, before)).toEqual({
      ...{ webhookUrl: URL, webhookSecrets: [SECRET], webhookGrouped: false },
    });
  });

  it('is not grouped where the receiver closes each alert by its key', () => {
    expect(fittedTo('pagerduty', { webhookSecret: SECRET }, { webhookGrouped: true })).toMatchObject({
      webhookGrouped: false,
    });
    expect(fittedTo('slack', { webhookUrl: URL }, { webhookGrouped: true })).toMatchObject({
      webhookGrouped: true,
    });
  });

  it('names a receiver that there is', () => {
    expect(fittedTo('pagerdutty', { webhookUrl: URL })).toMatchObject({
      webhookTemplate: expect.stringMatching(
        /^is no receiver of this daemon; there are standard, dingtalk, /,
      ),
    });
    expect(fittedTo('constructor', { webhookUrl: URL })).toHaveProperty('webhookTemplate');
  });
});

it('the list says of each receiver what it needs, and shows no secret', () => {
  const { pushover } = SHIPPED;
  if (pushover === undefined) throw new Error('pushover is shipped');
  const [report] = receiverReports({
    phone: { ...pushover, from: 'configured', secrets: { token: SECRET } },
  });
  expect(report).toEqual({
    ...{ name: 'phone', from: 'configured', description: 'Pushover, Message API' },
    ...{ url: 'https://api.pushover.net/1/messages.json', secrets: ['token', 'user'], missing: ['user'] },
    ...{ ruleSecret: false, signs: false, grouped: true },
  });
});
