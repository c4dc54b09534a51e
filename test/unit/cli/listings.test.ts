// Every listing on narrow terminals, with the longest values that are legal: no line is wider than the terminal, what
// is left out is said, and -o wide shows it.
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import type { Launchers } from '../../../src/cli/launchers.ts';
import { CONFIG, OVERVIEW, task } from './bodies.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const MILLIONS = 98_765_432;
const LARGEST = 2 ** 31 - 1;
const LONG_AGO = '2025-01-02T03:04:05.000Z';
const CJK = '流量检查与实名核验'.repeat(25).slice(0, 200);
const SENTENCE = `${'the gateway refuses what it is asked '.repeat(12)}${'x'.repeat(300)}`;

const many = (item: object) => ({ items: [item, item, item], page: 2, page_size: 3, total: 1_000_000 });

const LONG_TASK = task('carddata', {
  queue_length: MILLIONS,
  due: MILLIONS,
  in_flight: 100_000,
  manual_length: MILLIONS,
  backoff: MILLIONS,
  scheduled_cards: MILLIONS,
  schedule_lag_seconds: 987_654,
  concurrency: { current: 100_000, max: 100_000, usage_percent: 100 },
  effective_concurrency: 99_999,
  succeeded: 987_654_321_098,
  failed: 987_654_321_098,
  avg_duration_ms: 60_000.25,
  rate_per_second: 123_456.78,
  rate_per_second_10s: 123_456.78,
  health: 'warning',
});
const WORKER = {
  worker_id: '0f3b1d52-6c44-4f0e-9c63-0a1b2c3d4e5f',
  hostname: `${'a'.repeat(63)}.${'b'.repeat(63)}.example`,
  pid: 4_194_304,
  version: '10.20.30-rc.1+build.20261121',
  roles: ['worker', 'api', 'scheduler'],
  probe_address: '[2001:db8:1234:5678:9abc:def0:1234:5678]:65535',
  started_at: LONG_AGO,
  heartbeat_at: LONG_AGO,
  in_flight: 100_000,
  cache_hits: MILLIONS,
  cache_misses: MILLIONS,
  cache_hit_ratio: 0.1234,
  loop_delay_ms: 2,
  cpu_percent: 35,
  redis_ms: 1,
  database_ms: 3,
};
const REASON = { code: 'breaker_open', severity: 'alert', text: SENTENCE, command: null } as const;
const GATEWAY = {
  interface: 'card_status',
  breaker: 'open',
  since: LONG_AGO,
  reason: SENTENCE,
  next_probe_at: '2026-11-21T10:00:53.000Z',
  instances: 100,
} as const;
const LONG_OVERVIEW = {
  ...OVERVIEW,
  health_reasons: [{ ...REASON, code: 'overloaded', command: 'cardpoll doctor' }, REASON],
  gateway: { interfaces: [GATEWAY] },
  tasks: [LONG_TASK, LONG_TASK, LONG_TASK],
  workers: [WORKER, WORKER],
};
const CONDITION = {
  rule_type: 'stop_unconfirmed',
  task_type: 'carddata',
  comparison: '>',
  threshold: 9_007_199_254_740_991,
};
const RULE = {
  ...CONDITION,
  id: LARGEST,
  name: CJK.slice(0, 100),
  is_enabled: false,
  notify_channels: ['webhook'],
  webhook_url: `https://hooks.example/${'x'.repeat(1_000)}`,
  cooldown_seconds: 604_799,
  created_at: LONG_AGO,
  updated_at: LONG_AGO,
};
const NOTIFICATION = { channel: 'webhook', event: 'alert.resolved', status: 'delivered', attempts: 12 };
const ALERT = {
  ...CONDITION,
  id: LARGEST,
  rule_id: LARGEST,
  rule_name: CJK.slice(0, 100),
  value: 123_456_789.25,
  fired_at: LONG_AGO,
  resolved_at: LONG_AGO,
  silenced: true,
  acknowledged_by: 'n'.repeat(64),
  notifications: [NOTIFICATION, NOTIFICATION],
};
const TRIGGER = {
  trigger_id: '5f0c2a9be17d4c33',
  kind: 'by_condition',
  task_type: 'carddata',
  status: 'completed',
  selection: null,
  total: MILLIONS,
  total_estimated: true,
  waiting: MILLIONS,
  early: MILLIONS,
  early_until: LONG_AGO,
  running: MILLIONS,
  succeeded: MILLIONS,
  failed: MILLIONS,
  created_at: LONG_AGO,
  finished_at: LONG_AGO,
};
const LIMIT = {
  task_type: 'carddata',
  max_concurrency: 100_000,
  current: 100_000,
  effective_concurrency: 99_999,
  reason: SENTENCE,
  curve: [],
  knee: null,
};
const PAUSE = {
  task_type: 'carddata',
  source: 'operator',
  by: 'n'.repeat(64),
  since: LONG_AGO,
  until: '2026-11-28T09:59:59.000Z',
  reason: CJK,
  maintenance_id: null,
};
const SILENCE = {
  ...{ id: LARGEST, rule_id: LARGEST, rule_type: 'stop_unconfirmed', task_type: 'carddata' },
  ...{ by: 'n'.repeat(64), since: LONG_AGO, until: '2026-12-21T09:59:59.000Z', reason: CJK },
};
const CHANGE = {
  id: MILLIONS,
  at: LONG_AGO,
  actor: CJK.slice(0, 64),
  role: 'operator',
  address: '2001:db8:1234:5678:9abc:def0:1234:5678',
  request_id: '0f3b1d52-6c44-4f0e-9c63-0a1b2c3d4e5f',
  action: 'cleanup_config.update.failed',
  object: 'trigger 5f0c2a9be17d4c33',
  before: { retention_days: 400, name: CJK },
  after: { retention_days: 1, error: `\u001b[2J${SENTENCE}` },
};
const LONG_CONFIG = {
  ...CONFIG,
  id: LARGEST,
  name: CJK,
  task_type: 'carddata',
  card_condition: 'not_verified',
  carrier_id: -LARGEST,
  interval_seconds: 2_591_999,
  achieved_interval_seconds: 2_591_999,
  members: MILLIONS,
  priority: -1_000_000,
  status: 0,
  problems: [SENTENCE],
};
const FAILURES = {
  items: [
    {
      task_type: 'carddata',
      reasons: [{ reason: 'server_error_of_an_unusual_kind', count: MILLIONS }],
      carriers: [{ carrier_id: -LARGEST, polls: MILLIONS, failed: MILLIONS, failed_percent: 99.99 }],
      failing_cards: 10_000,
      cards: [
        {
          card_id: Number.MAX_SAFE_INTEGER,
          at: LONG_AGO,
          reason: 'server_error_of_an_unusual_kind',
          message: SENTENCE,
          duration_ms: 60_000,
          attempts: 12_345,
        },
      ],
    },
  ],
};
const CLEANUP_ITEM = {
  id: LARGEST,
  target: 'manual_triggers',
  retention_days: 3_650,
  enabled: false,
  last_run_at: LONG_AGO,
  cutoff: LONG_AGO,
  rows: 98_765_432_109,
  estimated: true,
  deleted: 98_765_432_109,
  total: 98_765_432_109,
  error: SENTENCE,
};
const PROGRESS = {
  run_id: 'r',
  status: 'failed',
  items: [CLEANUP_ITEM],
  deleted: 98_765_432_109,
  batches: MILLIONS,
  started_at: LONG_AGO,
  finished_at: LONG_AGO,
};

const LEVEL = { rate_per_second: 123_456, avg_duration_ms: 60_000, backpressure_percent: 12.3, at: LONG_AGO };
const ADVISED = {
  ...LIMIT,
  ...LONG_TASK,
  curve: [
    { ...LEVEL, concurrency: 90_000 },
    { ...LEVEL, concurrency: 100_000 },
  ],
  knee: { ...LEVEL, concurrency: 90_000 },
};
const CARD = {
  card_id: Number.MAX_SAFE_INTEGER,
  iccid: '9'.repeat(22),
  carrier_id: -LARGEST,
  status: -LARGEST,
  allowance_mb: 987_654_321.5,
  real_name_verified: false,
  stopped: true,
};
const MIGRATIONS = [
  { id: `0001_${'a_long_name_'.repeat(8)}`, appliedAtMs: Date.parse(LONG_AGO), newer: true },
  { id: '0002_usage', appliedAtMs: null, newer: false },
];
const FINDING = {
  check: 'gateway card_status',
  status: 'failed' as const,
  detail: SENTENCE,
  hint: SENTENCE,
  command: 'cardpoll configs',
};
/** Those that do not ask the daemon, or not alone. */
const LAUNCHERS: Partial<Launchers> = {
  migrate: async () => ({ applied: ['0001_x'], migrations: MIGRATIONS }),
  doctor: async () => [FINDING, { ...FINDING, status: 'warning' }],
};

const LISTINGS: ReadonlyArray<readonly [argv: readonly string[], body: unknown]> = [
  [['stats'], LONG_OVERVIEW],
  [['stats', 'queues'], { items: [LONG_TASK, LONG_TASK] }],
  [['stats', 'tasks'], { items: [LONG_TASK, LONG_TASK] }],
  [['stats', 'instances'], LONG_OVERVIEW],
  [['stats', 'failures'], FAILURES],
  [['concurrency'], { items: [LIMIT, LIMIT] }],
  [['configs'], many(LONG_CONFIG)],
  [['alerts', 'rules'], many(RULE)],
  [['alerts', 'history'], many(ALERT)],
  [['alerts', 'silences'], { items: [SILENCE] }],
  [['alerts', 'recommended'], { items: [] }],
  [['trigger', 'list'], many(TRIGGER)],
  [['cleanup', 'configs'], many(CLEANUP_ITEM)],
  [['cleanup', 'preview'], { items: [CLEANUP_ITEM], total_rows: MILLIONS }],
  [['cleanup', 'progress'], PROGRESS],
  [['pause', '--yes'], { items: [PAUSE] }],
  [['concurrency', 'advise'], { tasks: [ADVISED], items: [ADVISED] }],
  [['cards', 'list', '--limit', '2'], { items: [CARD, CARD], next_after_id: Number.MAX_SAFE_INTEGER }],
  [['migrate', 'status', '--database-url', 'postgres://db/cards'], null],
  [['doctor', '--gateway-url', 'http://gateway:8080'], LONG_OVERVIEW],
  [['audit'], many(CHANGE)],
];

describe.each(LISTINGS)('%j', (argv, body) => {
  const shown = async (columns: number, ...more: string[]) => {
    const { env } = await daemonThatSays(json(body));
    const { code, stdout, stderr } = await cli([...argv, ...more], {
      env,
      launchers: LAUNCHERS,
      tty: true,
      columns,
    });
    // Those that found something missing or failed end with 1, after the listing.
    expect(code).toBeLessThanOrEqual(1);
    expect(stderr.replace(/^.*\r/s, '').replace(/^(database|carddata): .*\n/, '')).toBe('');
    return stripVTControlCharacters(stdout).split('\n').slice(0, -1);
  };

  it.each([60, 80, 120, 200])('wraps no line of %i columns', async (columns) => {
    const lines = await shown(columns);
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([]);
  });

  it('says what it leaves out, and shows it with -o wide', async () => {
    const narrow = (await shown(60)).join('\n');
    const hidden = [...narrow.matchAll(/^-o wide also shows ([A-Z0-9/% ]+(?:,\s+[A-Z0-9/% ]+)*)/gm)];
    const wide = (await shown(60, '-o', 'wide')).join('\n');
    expect(wide).not.toContain('-o wide');
    for (const header of hidden.flatMap(([, names = '']) => names.split(/,\s+/))) {
      expect(narrow.split('-o wide')[0]?.split(/ {2,}|\n/)).not.toContain(header);
      expect(wide).toContain(header);
    }
  });
});

describe('without a terminal', () => {
  const piped = async (argv: readonly string[], body: unknown, environment: Record<string, string> = {}) => {
    const { env } = await daemonThatSays(json(body));
    const { stdout } = await cli(argv, { env: { ...env, ...environment }, launchers: LAUNCHERS });
    return stdout;
  };
  const isCut = /…/;

  it.each(LISTINGS)(
    '%j has all columns under their names, no colour, and nothing is cut',
    async (argv, body) => {
      const stdout = await piped(argv, body);
      expect(stdout).not.toContain('\u001b');
      expect(stdout).not.toContain('\t');
      expect(stdout).not.toMatch(isCut);
      // Only the table of a summary leaves columns out, because its text has the width of a usual terminal.
      if (argv[0] !== 'stats' || argv.length > 1) expect(stdout).not.toContain('-o wide');
    },
  );

  it('text has at most 80 columns, commands are whole', async () => {
    const lines = (await piped(['stats'], LONG_OVERVIEW)).split('\n');
    expect(lines.filter((line) => stringWidth(line) > 80)).toEqual([]);
    expect(lines[0]).toMatch(/^✖ alert: /);
    expect(lines).toContain('  cardpoll doctor');
    expect(await piped(['stats', '-o', 'wide'], LONG_OVERVIEW)).toMatch(/^TASK .* FAILED$/m);
  });

  it('everything has the width that COLUMNS gives, as watch sets it', async () => {
    const lines = (await piped(['configs'], many(LONG_CONFIG), { COLUMNS: '60' })).split('\n');
    expect(lines.filter((line) => stringWidth(line) > 60)).toEqual([]);
    expect(lines.join('\n')).toMatch(isCut);
  });

  it('-o tsv is one record a line without a header, every value in full', async () => {
    const records = (await piped(['configs', '-o', 'tsv'], many(LONG_CONFIG))).trimEnd().split('\n');
    expect(records).toHaveLength(3);
    expect(records[0]?.split('\t')[1]).toBe(CJK);
  });

  it('jsonl is one item a line, and json on a terminal is indented', async () => {
    const { env } = await daemonThatSays(json(many(RULE)));
    const { stdout } = await cli(['alerts', 'rules', '-o', 'jsonl'], { env });
    expect(stdout).toBe(`${JSON.stringify(RULE)}\n`.repeat(3));
    const terminal = await cli(['alerts', 'rules', '-o', 'json'], { env, tty: true });
    expect(terminal.stdout).toBe(`${JSON.stringify(many(RULE), null, 2)}\n`);
  });
});

describe('pages', () => {
  const listed = async (body: object, ...argv: string[]) => {
    const { env } = await daemonThatSays(json(body));
    return (await cli(['alerts', 'rules', ...argv], { env: { ...env, NO_COLOR: '1' }, tty: true })).stdout;
  };

  it('print how many there are and how to see the next page', async () => {
    const page = { ...many(RULE), page: 1, page_size: 20, total: 53 };
    expect(await listed(page)).toMatch(/\n3 of 53 rules: --page 2, or --all\n$/);
    expect(await listed({ ...page, page: 3 })).toMatch(/\n3 of 53 rules \(page 3 of 3\)\n$/);
    expect(await listed({ ...page, total: 3 })).not.toMatch(/ of 3 rules/);
  });

  it.each([[['alerts', 'rules']], [['configs']]])(
    'are chosen as the last line of %j suggests',
    async (words) => {
      const { env, requests } = await daemonThatSays(
        json({ items: [], page: 2, page_size: 100, total: 120 }),
      );
      expect(await cli([...words, '--page', '2'], { env })).toMatchObject({ code: 0, stderr: '' });
      expect(await cli([...words, '--all'], { env })).toMatchObject({ code: 0, stderr: '' });
      expect(requests.map(({ line }) => /[?&]page=(\d+)/.exec(line)?.[1])).toEqual(['2', '1']);
    },
  );

  it('missing pages and empty lists are reported', async () => {
    const page = { items: [], page: 7, page_size: 20, total: 53 };
    expect(await listed(page)).toBe('there is no page 7: 53 rules on 3 pages\n');
    expect(await listed({ ...page, page: 1, total: 0 })).toBe(
      'no rules yet: cardpoll alerts recommended --apply\n',
    );
  });

  it('say on stderr that lines for programs are not all', async () => {
    const { env } = await daemonThatSays(json({ ...many(RULE), page: 1, page_size: 20, total: 38_984 }));
    const said = async (format: string) => (await cli(['alerts', 'rules', '-o', format], { env })).stderr;
    expect(await said('tsv')).toBe('cardpoll: 3 of 38,984 rules: --page 2, or --all\n');
    expect(await said('jsonl')).toBe('cardpoll: 3 of 38,984 rules: --page 2, or --all\n');
    expect(await said('json')).toBe('');
    expect(await said('table')).toBe('');
  });

  it('give programs nothing where there is nothing', async () => {
    const { env } = await daemonThatSays(json({ items: [], page: 1, page_size: 20, total: 0 }));
    expect(await cli(['alerts', 'rules', '-o', 'tsv'], { env })).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
