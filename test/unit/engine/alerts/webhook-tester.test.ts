// What the receiver of a rule gets when an operator tests it, and what the operator sees.
import { Webhook } from 'standardwebhooks';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { AlertRule } from '../../../../src/domain/alerts/alert-rule.ts';
import { WebhookTester, type WebhookTrial } from '../../../../src/engine/alerts/webhook-tester.ts';
import { parseAddressRange, SsrfGuard } from '../../../../src/platform/ssrf-guard.ts';
import {
  answer,
  type BadGateway,
  type Behaviour,
  hangUp,
  startBadGateway,
} from '../../../support/bad-gateway.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const LOOPBACK = [parseAddressRange('127.0.0.1')].filter((range) => range !== null);
const secretOf = (key: string) => `whsec_${Buffer.from(key).toString('base64')}`;
const OWN = secretOf('the key of the rule, its own one');
const CONFIGURED = secretOf('the key of the configuration...');

const RULE: AlertRule = {
  id: 5,
  name: 'Slow polls',
  ruleType: 'avg_duration',
  taskType: 'package',
  comparison: '>',
  threshold: 800,
  isEnabled: true,
  notifyChannels: ['webhook'],
  webhookUrl: 'http://example.com/not-this-one',
  webhookSecrets: [],
  webhookGrouped: false,
  cooldownSeconds: 300,
  createdAtMs: 0,
  updatedAtMs: 0,
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
  { own = [], configured = [], guard = new SsrfGuard(LOOPBACK) }: Partial<Means> = {},
): Promise<WebhookTrial> {
  const tester = new WebhookTester({ guard, secrets: configured, clock });
  return tester.test({ ...RULE, webhookSecrets: own }, url);
}

interface Means {
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
  });
});

it('reports how long the answer took, in whole milliseconds', async () => {
  const receiving = await receiver((socket, request) => {
    clock.advance(1_234.6);
    answer(204, '')(socket, request);
  });
  expect(await trial(receiving.url)).toEqual({
    delivered: true,
    status: 204,
    error: null,
    durationMs: 1_235,
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
  ['an answer that is no success', answer(503, 'not now'), 503, /^answered 503$/],
  ['a receiver that is gone', answer(410, ''), 410, /^answered 410: the receiver is gone$/],
  ['no answer', hangUp, null, /^socket hang up$/],
])('says that it was not delivered, and why, with %s', async (_, behaviour, status, reason) => {
  const receiving = await receiver(behaviour);
  expect(await trial(receiving.url)).toEqual({
    delivered: false,
    status,
    error: expect.stringMatching(reason),
    durationMs: 0,
  });
});

it('calls no address that is not public', async () => {
  const receiving = await receiver(answer(204, ''));
  expect(await trial(receiving.url, { guard: new SsrfGuard([]) })).toMatchObject({
    delivered: false,
    status: null,
    error: expect.stringContaining('127.0.0.1 is not a public address'),
  });
  expect(receiving.accepted).toBe(0);
});
