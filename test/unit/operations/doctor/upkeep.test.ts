import { describe, expect, it } from 'vitest';
import type { AlertRuleFields } from '../../../../src/domain/alerts/alert-rule.ts';
import type { RateLimit } from '../../../../src/domain/limits/rate-limit.ts';
import type { PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import type { TaskType } from '../../../../src/domain/task-type.ts';
import { alertFindings, rateLimitFindings, tokenFindings } from '../../../../src/operations/doctor/upkeep.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { ruleFields } from '../../../support/alert-rules.ts';
import { MESSAGE_MEANS } from '../../../support/message-deps.ts';

describe('tokens', () => {
  const NOW = Date.parse('2026-11-21T10:00:00Z');
  const token = (name: string, endOf: string | null) => ({
    name,
    role: 'operator' as const,
    expiresAtMs: endOf === null ? null : Date.parse(`${endOf}T00:00:00Z`) + 86_400_000,
  });

  it('warns of tokens that expired or will within 14 days, with the command for a new one', () => {
    const tokens = [
      token('gone', '2026-11-20'),
      token('today', '2026-11-21'),
      token('soon', '2026-12-04'),
      token('later', '2026-12-05'),
      token('never', null),
    ];
    expect(tokenFindings(tokens, NOW)).toMatchObject([
      { status: 'warning', detail: 'the token of gone expired: 2026-11-20 was its last day' },
      { status: 'warning', detail: 'the token of today expires: 2026-11-21 is its last day' },
      {
        status: 'warning',
        detail: 'the token of soon expires: 2026-12-04 is its last day',
        command: 'cardpoll token new --name soon --role operator',
      },
    ]);
  });

  it.each([
    [-1, 'expired'],
    [0, 'expired'],
    [1, 'expires'],
    [14 * 86_400_000 - 1, 'expires'],
  ])('a token that ends in %i ms %s', (inMs, is) => {
    const ending = { name: 'a', role: 'admin' as const, expiresAtMs: NOW + inMs };
    expect(tokenFindings([ending], NOW)).toMatchObject([
      { check: 'admin tokens', status: 'warning', detail: expect.stringContaining(`the token of a ${is}: `) },
    ]);
    expect(tokenFindings([{ ...ending, expiresAtMs: NOW + 14 * 86_400_000 }], NOW)).toMatchObject([
      { check: 'admin tokens', status: 'ok' },
    ]);
  });

  it('is content with others, and says nothing where there are none', () => {
    expect(tokenFindings([token('later', '2026-12-05'), token('never', null)], NOW)).toMatchObject([
      { status: 'ok', detail: '2 known, none expires within 14 days' },
    ]);
    expect(tokenFindings([], NOW)).toEqual([]);
  });
});

describe('rate limits', () => {
  const LIMIT: RateLimit = { kind: 'calls', interfaces: null, calls: 200, unit: 'second', burst: 80 };
  const PER_CARD: RateLimit = { kind: 'card', interfaces: ['flow'], everySeconds: 900 };

  const config = (id: number, taskType: TaskType, intervalSeconds: number, status: 0 | 1 = 1) =>
    ({ id, taskType, intervalSeconds, status }) as PollingConfig;
  const find = (limits: readonly RateLimit[], cards: number, ...configs: PollingConfig[]) => {
    const records = { configs: { list: async () => configs }, cards: { estimate: async () => cards } };
    return rateLimitFindings(records as unknown as RecordStore, {
      rateLimits: limits,
      offers: (name) => name !== 'card_status',
      cardsPerCall: (name) => (name === 'flow' ? 50 : 1),
    });
  };

  it('says nothing without a limit, and names limits that are enough', async () => {
    expect(await find([], 1e7, config(1, 'realname', 60))).toEqual([]);
    expect(await find([LIMIT, PER_CARD], 1_000, config(1, 'carddata', 900))).toMatchObject([
      { status: 'ok', detail: '200 calls a second, burst 80; one poll of a card (flow) every 900 s' },
    ]);
  });

  it.each([
    [30, 'minute', 'the rate limits allow a stop within 6 s of its reading'],
    [1, 'hour', 'the rate limits allow a stop within 3 h of its reading'],
  ] as const)('says how long a stop may take at %i calls a %s', async (calls, unit, detail) => {
    const slow: RateLimit = { kind: 'calls', interfaces: null, calls, unit, burst: 1 };
    expect(await find([slow], 1, config(1, 'realname', 86_400))).toContainEqual(
      expect.objectContaining({ check: 'rate limits', status: 'ok', detail }),
    );
  });

  it('says what the limits allow where the configs need more', async () => {
    const configs = [config(1, 'realname', 1_800), config(2, 'carddata', 1, 0)];
    expect(await find([LIMIT], 10_000_000, ...configs)).toMatchObject([
      {
        status: 'warning',
        detail: expect.stringMatching(/^realname: 200 .* 10,000,000 .*\b14 h, .*\b30 min$/),
      },
    ]);
  });

  it('counts the calls of a batch, not its cards', async () => {
    expect(await find([LIMIT], 1_000_000, config(2, 'carddata', 120))).toMatchObject([{ status: 'ok' }]);
    expect(await find([LIMIT], 10_000_000, config(2, 'carddata', 900))).toMatchObject([
      {
        detail: expect.stringMatching(
          /^carddata: 200 .*\(50 cards each\) .* 10,000,000 .*\b17 min, .*\b15 min$/,
        ),
      },
    ]);
  });

  it('counts no config whose interface the gateway does not offer', async () => {
    expect(await find([LIMIT], 10_000_000, config(3, 'package', 1))).toMatchObject([{ status: 'ok' }]);
  });

  it('names a config that polls a card more often than allowed', async () => {
    expect(await find([PER_CARD], 10, config(1, 'realname', 60), config(2, 'carddata', 300))).toMatchObject([
      {
        status: 'warning',
        detail: expect.stringContaining('config 2: interval_seconds is 300, and must be at least 900'),
        command: 'cardpoll configs set 2 --interval-seconds SECONDS',
      },
    ]);
  });
});

describe('receivers of alert rules', () => {
  const found = (...rules: ReadonlyArray<Partial<AlertRuleFields>>) => {
    const items = rules.map((fields, i) => ({
      ...ruleFields({ webhookUrl: 'https://hooks.example/x', ...fields }),
      ...{ id: i + 1, createdAtMs: 0, updatedAtMs: 0 },
    }));
    const alerts = {
      rules: async () => ({ items, total: items.length }),
    } as unknown as RecordStore['alerts'];
    return alertFindings({ alerts }, MESSAGE_MEANS);
  };

  it('fail where the configuration does not have one, or a secret of one', async () => {
    const oncall = (name: string) => ({ name, webhookFormat: 'oncall' });
    const rules = [
      oncall('a'),
      oncall('b'),
      { name: 'c', webhookFormat: 'gotify' },
      oncall('d'),
      oncall('e'),
    ];
    expect(await found({ name: 'fine' }, ...rules)).toMatchObject([
      {
        ...{ check: 'alert rules', status: 'failed', command: 'cardpoll alerts test 2' },
        detail:
          'a daemon with this configuration notifies no one by a, b, d and 1 more rules: it has no receiver oncall',
        hint: expect.stringContaining('webhooks.receivers'),
      },
      {
        detail:
          'a daemon with this configuration notifies no one by c: its receiver gotify has no secret token',
      },
    ]);
  });

  it.each([
    ['that gives its own secret', { webhookFormat: 'gotify', webhookSecrets: ['token'] }],
    ['with a shipped receiver', { webhookUrl: 'https://hooks.slack.com/services/T' }],
    ['that is disabled', { webhookFormat: 'oncall', isEnabled: false }],
    ['that has no webhook', { webhookFormat: 'oncall', notifyChannels: [] }],
  ])('are well for a rule %s', async (_, fields) => {
    expect(await found({}, fields)).toMatchObject([{ check: 'alert rules', status: 'ok' }]);
  });
});
