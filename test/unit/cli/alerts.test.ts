// The alerts commands: what they send and what they show.
import { chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recommendedAlerts } from '../../../src/domain/alerts/recommended-alerts.ts';
import type { AlertBody, AlertRuleBody } from '../../../src/resources/alerts.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const RULE: AlertRuleBody = {
  id: 3,
  name: '积压\u001b[31m',
  rule_type: 'queue_backlog',
  task_type: 'realname',
  comparison: '>',
  threshold: 50_000,
  is_enabled: true,
  notify_channels: ['webhook'],
  webhook_url: 'https://hooks.example/x',
  has_webhook_secret: false,
  webhook_format: 'standard',
  webhook_template: null,
  webhook_grouped: false,
  cooldown_seconds: 300,
  created_at: '2026-11-20T10:00:00.000Z',
  updated_at: '2026-11-21T09:00:00.000Z',
};
const ALERT: AlertBody = {
  id: 12,
  rule_id: 3,
  rule_name: '积压',
  rule_type: 'success_rate',
  task_type: 'package',
  comparison: '<',
  threshold: 90,
  value: 89.123456,
  cause: null,
  cause_since: null,
  earlier_causes: [],
  fired_at: '2026-11-21T09:58:00.000Z',
  resolved_at: null,
  resolution: null,
  resolved_value: null,
  acknowledged_at: null,
  acknowledged_by: null,
  acknowledged_reason: null,
  silenced: false,
  notifications: [
    {
      channel: 'webhook',
      event: 'alert.fired',
      status: 'delivered',
      attempts: 2,
      last_error: 'answered 500',
    },
  ],
};
const page = (items: readonly unknown[]) => ({ items, page: 1, page_size: 20, total: items.length });
const CREATE = ['alerts', 'rules', 'create', '--name', 'n', '--task', 'package'];

describe('alerts rules', () => {
  it('shows the whole condition in 80 columns, whatever the name', async () => {
    const rule = { ...RULE, name: 'a name that is longer than its column', cooldown_seconds: 300 };
    const { env } = await daemonThatSays(json({ items: [rule], page: 1, page_size: 100, total: 1 }));
    const { stdout } = await cli(['alerts', 'rules'], { env, tty: true, columns: 80 });
    expect(stdout).toContain(' queue_backlog > 50000 ');
  });

  it.each([[['alerts', 'rules']], [['alerts', 'rules', 'list']]])('%j lists them', async (argv) => {
    const { env, requests } = await daemonThatSays(json(page([RULE])));
    const { code, stdout } = await cli([...argv, '-o', 'tsv'], { env });
    expect(code).toBe(0);
    expect(stdout).toBe('3\t积压 [31m\trealname\tqueue_backlog > 50000\t300\twebhook\tenabled\n');
    expect(requests[0]?.line).toBe('GET /api/admin/polling-alert-rules?page=1&page_size=100');
  });

  it('shows one, and as JSON exactly what the API answered', async () => {
    const { env } = await daemonThatSays(json(RULE));
    expect((await cli(['alerts', 'rules', 'show', '3'], { env })).stdout).toContain(
      'webhook URL         https://hooks.example/x\n',
    );
    expect((await cli(['alerts', 'rules', 'show', '3', '--json'], { env })).stdout).toBe(
      `${JSON.stringify(RULE)}\n`,
    );
  });

  it.each([
    [
      [...CREATE, '--rule-type', 'success_rate'],
      'POST /api/admin/polling-alert-rules',
      {
        name: 'n',
        rule_type: 'success_rate',
        task_type: 'package',
        comparison: '<',
        threshold: 90,
        is_enabled: true,
        notify_channels: [],
      },
    ],
    [
      [
        ...[
          ...CREATE,
          '--rule-type',
          'avg_duration',
          '--threshold',
          '800.5',
          '--comparison',
          '<',
          '--disabled',
        ],
        ...['--webhook-url', 'https://h.example/', '--cooldown-seconds', '10m'],
      ],
      'POST /api/admin/polling-alert-rules',
      {
        name: 'n',
        rule_type: 'avg_duration',
        task_type: 'package',
        comparison: '<',
        threshold: 800.5,
        is_enabled: false,
        notify_channels: ['webhook'],
        webhook_url: 'https://h.example/',
        cooldown_seconds: 600,
      },
    ],
    [
      ['alerts', 'rules', 'update', '3', '--threshold', '80000'],
      'PUT /api/admin/polling-alert-rules/3',
      { threshold: 80_000 },
    ],
    [
      ['alerts', 'rules', 'update', '3', '--disable', '--without-webhook'],
      'PUT /api/admin/polling-alert-rules/3',
      { is_enabled: false, notify_channels: [], webhook_url: null },
    ],
    [
      ['alerts', 'rules', 'update', '3', '--enable'],
      'PUT /api/admin/polling-alert-rules/3',
      { is_enabled: true },
    ],
  ])('%j sends %s %j', async (argv, line, body) => {
    const { env, requests } = await daemonThatSays(json(RULE, argv.includes('create') ? 201 : 200));
    expect(await cli(argv, { env })).toMatchObject({ code: 0 });
    const changes = requests.filter((request) => !request.line.startsWith('GET'));
    expect(changes.map((request) => [request.line, JSON.parse(request.body)])).toEqual([[line, body]]);
  });

  it('prints what has changed, old and new', async () => {
    const { env } = await daemonThatSays((request, response) =>
      json(request.line.startsWith('GET') ? RULE : { ...RULE, threshold: 80_000, is_enabled: false })(
        request,
        response,
      ),
    );
    const { stderr } = await cli(['alerts', 'rules', 'update', '3', '--threshold', '80000', '--disable'], {
      env,
    });
    expect(stderr).toBe(
      'alert rule 3 "积压 [31m": fires when queue_backlog > 50000 -> queue_backlog > 80000, enabled yes -> no\n',
    );
  });

  it.each([
    [['alerts', 'rules', 'update', '3'], /nothing to change/],
    [
      ['alerts', 'rules', 'update', '3', '--enable', '--disable'],
      /'--disable' cannot be used with option '--enable'/,
    ],
    [
      ['alerts', 'rules', 'update', '3', '--webhook-url', 'http://h', '--without-webhook'],
      /'--without-webhook' cannot be used with option '--webhook-url <url>'/,
    ],
    [CREATE, /--rule-type/],
    [[...CREATE, '--rule-type', 'backlog'], /--rule-type/],
    [[...CREATE, '--rule-type', 'avg_duration', '--threshold', '-5'], /threshold/],
    [['alerts', 'rules', 'lst'], /did you mean list.*cardpoll alerts rules --help/i],
    [['alerts', 'rule'], /did you mean rules/i],
  ])('%j is refused before anything is sent', async (argv, message) => {
    const { env, requests } = await daemonThatSays(json(RULE));
    const { code, stderr } = await cli(argv, { env });
    expect([code, requests.length]).toEqual([64, 0]);
    expect(stderr).toMatch(message);
  });

  const deletion = () =>
    daemonThatSays((request, response) => {
      if (request.line.startsWith('DELETE')) response.writeHead(204).end();
      else json(RULE)(request, response);
    });
  const remove = ['alerts', 'rules', 'delete', '3'];

  it('are deleted after the plan was agreed to', async () => {
    const { env, requests } = await deletion();
    const asked = await cli(remove, { env, tty: true, input: 'y\n' });
    expect(asked.code).toBe(0);
    expect(asked.stderr).toMatch(/Delete alert rule 3 .*queue_backlog > 50000[\s\S]*Go ahead\? \[y\/N\]/);
    expect(requests.at(-1)?.line).toBe('DELETE /api/admin/polling-alert-rules/3');
    expect((await cli(remove, { env })).code).toBe(64);
    expect((await cli([...remove, '--dry-run'], { env })).stdout).toContain('stay in the history');
    expect((await cli(remove, { env, tty: true, input: 'n\n' })).code).toBe(1);
    expect(requests.filter(({ line }) => line.startsWith('DELETE'))).toHaveLength(1);
    expect(await cli([...remove, '--yes'], { env })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'alert rule 3 is deleted\n',
    });
  });
});

describe('alerts history', () => {
  it('shows what fired and how the webhook went', async () => {
    const { env, requests } = await daemonThatSays(json(page([ALERT])));
    const { stdout } = await cli(['alerts', 'history', '--rule-id', '3', '--page', '2', '-o', 'tsv'], {
      env,
    });
    expect(stdout).toBe(
      '12\t3 积压\tpackage\tsuccess_rate < 90 %\t89.12\t2026-11-21T09:58:00.000Z\tfiring\tno\t-\tfired delivered after 2\t-\n',
    );
    expect(requests[0]?.line).toBe('GET /api/admin/polling-alert-history?rule_id=3&page=2&page_size=20');
  });

  it.each([
    [{ value: 89.97 }, '89.97'],
    [{ value: 89.996 }, '89.99'],
    [{ comparison: '>', threshold: 2_000, value: 2_000.004 }, '2000.01'],
    [{ comparison: '>', threshold: 0.28, value: 0.29 }, '0.29'],
  ] as const)('does not round a value to its threshold: %j is %s', async (alert, shown) => {
    const { env } = await daemonThatSays(json(page([{ ...ALERT, ...alert }])));
    expect((await cli(['alerts', 'history', '-o', 'tsv'], { env })).stdout.split('\t')[4]).toBe(shown);
  });

  it.each([
    [[], 'no alert has fired yet; to see the rules: cardpoll alerts rules\n'],
    [['--state', 'firing'], 'no alert matches: cardpoll alerts history shows all\n'],
    [['--rule-id', '3', '--all'], 'no alert matches: cardpoll alerts history shows all\n'],
  ])('%j without an alert says what to type', async (filter, said) => {
    const { env } = await daemonThatSays(json(page([])));
    expect((await cli(['alerts', 'history', ...filter], { env, tty: true })).stdout).toBe(said);
  });

  it('shows why an alert fired, on a terminal too', async () => {
    const text = 'the gateway takes 3.0 s a call, usually 0.05 s';
    const cause = { code: 'gateway_slow', severity: 'alert', text, command: null };
    const { env } = await daemonThatSays(json(page([{ ...ALERT, cause }])));
    const show = async (...argv: string[]) =>
      (await cli(['alerts', 'history', ...argv], { env, tty: true })).stdout;
    expect(await show('-o', 'wide')).toContain(text);
    expect(await show()).toContain('the gateway takes 3.0 s');
  });

  it('asks for the time that is typed, and shows it', async () => {
    const { env, requests } = await daemonThatSays(json(page([])));
    const argv = ['alerts', 'history', '--since', '02:00', '--until', '06:00'];
    const { stdout } = await cli(argv, { env: { ...env, CARDPOLL_TIME_ZONE: 'UTC' } });
    const query = new URL(requests[0]?.line.split(' ')[1] ?? '', 'http://x').searchParams;
    expect([query.get('since'), query.get('until')]).toEqual([
      '2026-11-21T02:00:00.000Z',
      '2026-11-21T06:00:00.000Z',
    ]);
    expect(stdout).toContain('since 2026-11-21T02:00:00+00:00 until 2026-11-21T06:00:00+00:00 (UTC)');
    expect(stdout).toContain('no alert matches: cardpoll alerts history shows all');
  });

  it('asks for all rules without a filter', async () => {
    const { env, requests } = await daemonThatSays(json(page([])));
    expect((await cli(['alerts', 'history', '--page-size', '100'], { env })).code).toBe(0);
    expect(requests[0]?.line).toBe('GET /api/admin/polling-alert-history?page=1&page_size=100');
  });
});

describe('what an on-call does', () => {
  const SILENCE = {
    ...{
      id: 5,
      rule_id: null,
      rule_type: 'avg_duration',
      task_type: null,
      reason: 'works\u001b[31m',
      by: 'ann',
    },
    ...{ since: '2026-11-21T09:58:00.000Z', until: '2026-11-21T11:58:00.000Z' },
  };

  it.each([
    [
      ['alerts', 'ack', '12', '--reason', 'on it'],
      ALERT,
      'POST /api/admin/polling-alert-history/12/acknowledge',
    ],
    [['alerts', 'redeliver', '12'], ALERT, 'POST /api/admin/polling-alert-history/12/redeliver'],
    [['alerts', 'silences'], { items: [SILENCE] }, 'GET /api/admin/polling-alert-silences'],
    [['alerts', 'unsilence', '5'], SILENCE, 'DELETE /api/admin/polling-alert-silences/5'],
    [['alerts'], page([ALERT]), 'GET /api/admin/polling-alert-history?state=firing&page=1&page_size=20'],
    [
      ['alerts', 'history', '--state', 'firing'],
      page([ALERT]),
      'GET /api/admin/polling-alert-history?state=firing&page=1&page_size=20',
    ],
  ])('%j sends what it says', async (argv, body, line) => {
    const { env, requests } = await daemonThatSays(json(body));
    const { code, stdout } = await cli([...argv, '-o', 'tsv'], { env });
    expect([code, requests.map((request) => request.line)]).toEqual([0, [line]]);
    expect(stdout).toMatch(/^(12|5)\t.*\n$/);
    expect(stdout).not.toContain('\u001b');
  });

  it.each([
    [['3', '--for', '2h', '--reason', 'r'], { rule_id: 3, seconds: 7_200, reason: 'r' }],
    [['--type', 'avg_duration', '--for', '90s'], { rule_type: 'avg_duration', seconds: 90, reason: '' }],
    [['--task', 'package'], { task_type: 'package', seconds: 3_600, reason: '' }],
  ])('silence %j asks for %j', async (argv, body) => {
    const { env, requests } = await daemonThatSays((request, response) =>
      json(request.line.startsWith('GET') ? RULE : SILENCE)(request, response),
    );
    expect(await cli(['alerts', 'silence', ...argv], { env })).toMatchObject({ code: 0 });
    expect(JSON.parse(requests.at(-1)?.body ?? '')).toEqual(body);
  });

  it('silences nothing that is not named', async () => {
    const { env, requests } = await daemonThatSays(json(SILENCE));
    const { code, stderr } = await cli(['alerts', 'silence'], { env });
    expect([code, requests.length]).toEqual([64, 0]);
    expect(stderr).toMatch(/a rule, --type or --task/);
  });

  it.each([
    [
      {
        delivered: true,
        status: 204,
        error: null,
        taken: 'ok is true',
        sent: 'POST {}',
        answer: '{"ok":true}',
        duration_ms: 12,
      },
      0,
      /delivered\tyes\nbecause\tok is true\nsent\tPOST {}\nstatus\t204\nanswer\t{"ok":true}/,
    ],
    [
      {
        delivered: false,
        status: null,
        error: 'connect\u001b[31m ECONNREFUSED',
        taken: null,
        sent: 'POST {}',
        answer: null,
        duration_ms: 3,
      },
      1,
      /delivered\tno\nbecause\tconnect \[31m ECONNREFUSED\n/,
    ],
  ])('a test of a webhook that says %j ends with %i', async (trial, code, shown) => {
    const { env, requests } = await daemonThatSays((request, response) =>
      json(request.line.startsWith('GET') ? RULE : trial)(request, response),
    );
    const outcome = await cli(['alerts', 'test', '3', '-o', 'tsv'], { env });
    expect(outcome).toMatchObject({ code, stdout: expect.stringMatching(shown) });
    expect(requests.at(-1)?.line).toBe('POST /api/admin/polling-alert-rules/3/test');
  });

  it('what cannot be done any more ends with 1', async () => {
    const { env } = await daemonThatSays(json({ code: 'alert_resolved', detail: 'alert 12 is over' }, 409));
    expect(await cli(['alerts', 'ack', '12'], { env })).toEqual({
      ...{ code: 1, stdout: '', stderr: 'cardpoll: alert 12 is over\n' },
    });
  });

  it('a signing secret comes from a file that others cannot read, never from the command line', async () => {
    const { env, requests } = await daemonThatSays(json(RULE));
    const file = join(temporaryDirectory('secret'), 'secret');
    writeFileSync(file, 'whsec_AAAA\n', { mode: 0o644 });
    const argv = ['alerts', 'rules', 'update', '3', '--webhook-secret-file', file];
    expect(await cli(argv, { env })).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('chmod 600'),
    });
    chmodSync(file, 0o600);
    expect(await cli(argv, { env })).toMatchObject({ code: 0 });
    expect(JSON.parse(requests.at(-1)?.body ?? '')).toEqual({ webhook_secret: 'whsec_AAAA' });
    const without = await cli(['alerts', 'rules', 'update', '3', '--without-webhook-secret'], { env });
    expect([without.code, JSON.parse(requests.at(-1)?.body ?? '')]).toEqual([0, { webhook_secret: null }]);
    rmSync(file);
    expect(await cli(argv, { env })).toMatchObject({ code: 66 });
    // Its rights cannot be looked at either.
    symlinkSync(file, file);
    expect(await cli(argv, { env })).toMatchObject({ code: 66 });
  });
});

it.each(['--webhook-template', '--webhook-format'])('%s names the receiver of a rule', async (flag) => {
  const { env, requests } = await daemonThatSays(json(RULE));
  expect(await cli(['alerts', 'rules', 'update', '3', flag, 'pagerduty'], { env })).toMatchObject({
    code: 0,
  });
  expect(JSON.parse(requests.at(-1)?.body ?? '')).toEqual({
    notify_channels: ['webhook'],
    webhook_template: 'pagerduty',
  });
});

it('alerts receivers shows what each needs', async () => {
  const receiver = {
    ...{ name: 'gotify', from: 'shipped', description: 'Gotify', url: null, secrets: ['token'] },
    ...{ missing: ['token'], rule_secret: true, signs: false, grouped: true },
  };
  const items = [
    receiver,
    { ...receiver, name: 'oncall', from: 'configured', url: 'https://pager.example', missing: [] },
    { ...receiver, name: 'pushover', secrets: ['token', 'user'], missing: ['user'], rule_secret: false },
    { ...receiver, name: 'feishu', secrets: [], missing: [], signs: true },
    { ...receiver, name: 'slack', secrets: [], missing: [] },
  ];
  const { env, requests } = await daemonThatSays(json({ items }));
  const { stdout } = await cli(['alerts', 'receivers', '-o', 'tsv'], { env });
  expect(requests.map(({ line }) => line)).toEqual(['GET /api/admin/polling-alert-receivers']);
  expect(stdout.split('\n').slice(0, 5)).toEqual([
    'gotify\tshipped\tof the rule\ttoken (of the rule)\tGotify',
    'oncall\tconfigured\thttps://pager.example\tconfigured\tGotify',
    'pushover\tshipped\tof the rule\tuser (to configure)\tGotify',
    'feishu\tshipped\tof the rule\tof the rule, to sign\tGotify',
    'slack\tshipped\tof the rule\t-\tGotify',
  ]);
});

describe('alerts recommended', () => {
  const daemon = (existing: readonly AlertRuleBody[]) =>
    daemonThatSays((request, response) => {
      if (request.line.startsWith('GET')) json(page(existing))(request, response);
      else json({ ...RULE, ...JSON.parse(request.body), id: 100 }, 201)(request, response);
    });
  const [first, ...missing] = recommendedAlerts();
  const present = { ...RULE, name: first?.name ?? '' };

  it('shows which are missing, and creates nothing', async () => {
    const { env, requests } = await daemon([present]);
    const { code, stdout } = await cli(['alerts', 'recommended', '-o', 'tsv'], { env });
    expect(code).toBe(0);
    expect(stdout.split('\n').filter((line) => line.includes('missing'))).toHaveLength(missing.length);
    expect(stdout).toContain('Stops without effect: package\tstop_unconfirmed > 0\tpresent\twebhook\t3\n');
    expect(requests).toHaveLength(1);
  });

  it('says when they notify no one', async () => {
    const silent = { ...present, notify_channels: [], webhook_url: null };
    const { env, requests } = await daemon([silent]);
    const { stderr } = await cli(['alerts', 'recommended'], { env });
    expect(stderr).toBe(
      'these rules have no webhook and notify no one: cardpoll alerts recommended --apply --webhook-url URL\n',
    );
    expect(requests).toHaveLength(1);
  });

  it('says what their webhooks hear besides, and what they cannot', async () => {
    const { env } = await daemon([
      { ...present, notify_channels: ['webhook'], webhook_url: 'https://h.example' },
    ]);
    const { stderr } = await cli(['alerts', 'recommended'], { env });
    expect(stderr).toMatch(/hear when Redis or PostgreSQL is away; .* alerts\.heartbeat_url/);
  });

  it('adds the webhook to those that have none', async () => {
    const silent = { ...present, notify_channels: [], webhook_url: null };
    const { env, requests } = await daemon([silent]);
    const argv = ['alerts', 'recommended', '--apply', '--webhook-url', 'https://h.example', '--json'];
    const { stdout, stderr } = await cli(argv, { env });
    expect(JSON.parse(stdout).items[0]).toMatchObject({ state: 'updated', id: 100 });
    const [update] = requests.filter(({ line }) => line.startsWith('PUT'));
    expect(update?.line).toContain('/polling-alert-rules/3');
    expect(JSON.parse(update?.body ?? '')).toEqual({
      notify_channels: ['webhook'],
      webhook_url: 'https://h.example',
      webhook_grouped: true,
    });
    expect(stderr).toBe('');
  });

  it('names a receiver that needs no URL', async () => {
    const { env, requests } = await daemon([{ ...present, notify_channels: [], webhook_url: null }]);
    await cli(['alerts', 'recommended', '--apply', '--webhook-template', 'oncall'], { env });
    const [update] = requests.filter(({ line }) => line.startsWith('PUT'));
    const webhook = { notify_channels: ['webhook'], webhook_template: 'oncall', webhook_grouped: true };
    expect(JSON.parse(update?.body ?? '')).toEqual(webhook);
  });

  it('creates those that are missing', async () => {
    const { env, requests } = await daemon([present]);
    const argv = ['alerts', 'recommended', '--apply', '--webhook-url', 'https://h.example', '--json'];
    const { stdout } = await cli(argv, { env });
    const states = JSON.parse(stdout).items.map(({ state }: { state: string }) => state);
    expect(states).toEqual(['present', ...missing.map(() => 'created')]);
    const sent = requests.filter(({ line }) => line.startsWith('POST')).map(({ body }) => JSON.parse(body));
    expect(sent.map(({ name }) => name)).toEqual(missing.map(({ name }) => name));
    expect(sent).toContainEqual({
      name: 'Health: package',
      rule_type: 'health',
      task_type: 'package',
      comparison: '>',
      threshold: 1,
      is_enabled: true,
      notify_channels: ['webhook'],
      webhook_url: 'https://h.example',
      webhook_grouped: true,
    });
  });
});
