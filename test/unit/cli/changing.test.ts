// Commands that change something: what they send, and when they ask first.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Launchers } from '../../../src/cli/launchers.ts';
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import type { ConfigBody } from '../../../src/resources/schedule.ts';
import type { TaskBody } from '../../../src/resources/stats.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { waitFor } from '../../support/wait-for.ts';
import { CONFIG, INIT_STATE, OVERVIEW, task } from './bodies.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const directory = temporaryDirectory('cli');

const PAUSE = {
  task_type: 'realname',
  source: 'operator',
  reason: 'gateway maintenance',
  by: 'operator/0',
  since: '2026-11-21T10:00:00.000Z',
  until: '2026-11-21T10:10:00.000Z',
  maintenance_id: null,
};
const LIMIT = {
  task_type: 'realname',
  max_concurrency: 150,
  current: 12,
  effective_concurrency: 150,
  reason: null,
};

/** What the commands read that ask before they overload a fleet. */
function readings(line: string): unknown {
  if (line.startsWith('GET /api/admin/polling-stats/tasks')) {
    return { items: TASK_TYPES.map((type) => task(type)) };
  }
  if (line.startsWith('GET /api/admin/polling-configs?')) {
    return { items: [CONFIG], page: 1, page_size: 100, total: 1 };
  }
  if (line.startsWith('GET /api/admin/audit')) return { items: [], page: 1, page_size: 100, total: 0 };
  return line.includes('/preview') ? { matching: 100_000, estimated: true } : null;
}

const changed = ({ line }: { line: string }) => !line.startsWith('GET');

describe('requests', () => {
  it.each([
    [['configs', 'enable', '3'], 'PUT /api/admin/polling-configs/3', { status: 1 }, CONFIG],
    [['configs', 'disable', '3', '--yes'], 'PUT /api/admin/polling-configs/3', { status: 0 }, CONFIG],
    [
      [
        'configs',
        'set',
        '3',
        '--all-carriers',
        '--task',
        'package',
        '--cards',
        'verified',
        '--priority',
        '-4',
      ],
      'PUT /api/admin/polling-configs/3',
      { carrier_id: null, task_type: 'package', card_condition: 'verified', priority: -4 },
      CONFIG,
    ],
    [
      [
        'configs',
        'create',
        '--name',
        'VIP',
        '--task',
        'carddata',
        '--carrier-id',
        '7',
        '--interval-seconds',
        '5m',
      ],
      'POST /api/admin/polling-configs',
      { name: 'VIP', task_type: 'carddata', card_condition: 'any', carrier_id: 7, interval_seconds: 300 },
      CONFIG,
    ],
    [
      ['configs', 'set', '3', '--interval-seconds', '900'],
      'PUT /api/admin/polling-configs/3',
      { interval_seconds: 900 },
      CONFIG,
    ],
    [
      ['pause', 'realname', '--for', '30m', '--reason', 'maintenance'],
      'POST /api/admin/polling-pauses',
      { task_type: 'realname', seconds: 1_800, reason: 'maintenance' },
      { items: [PAUSE] },
    ],
    [
      ['pause', '--yes'],
      'POST /api/admin/polling-pauses',
      { task_type: 'all', seconds: 600, reason: '' },
      { items: [PAUSE] },
    ],
    [
      ['configs', '--json', 'set', '--interval-seconds=15m', '3'],
      'PUT /api/admin/polling-configs/3',
      { interval_seconds: 900 },
      CONFIG,
    ],
  ])('%j sends %s %j', async (argv, line, body, answer) => {
    const { env, requests } = await daemonThatSays((request, response) =>
      json(readings(request.line) ?? answer)(request, response),
    );
    expect(await cli(argv, { env })).toMatchObject({ code: 0 });
    const changes = requests.filter((request) => !request.line.startsWith('GET'));
    expect(changes.map((request) => [request.line, JSON.parse(request.body)])).toEqual([[line, body]]);
  });
});

describe('what is printed about a change', () => {
  const daemon = (read: unknown, written: unknown) =>
    daemonThatSays((request, response) => {
      const isRead = request.line.startsWith('GET');
      json(readings(request.line) ?? (isRead ? read : written))(request, response);
    });

  it('a limit: old, new, and the cards it concerns', async () => {
    const { env, requests } = await daemon(null, LIMIT);
    const outcome = await cli(['concurrency', 'set', 'realname', '150'], { env });
    expect(outcome).toMatchObject({
      code: 0,
      stderr: 'realname: limit 100 -> 150, concerns 1,000,000 cards\n',
    });
    expect(requests.at(-1)).toMatchObject({
      line: 'PUT /api/admin/polling-concurrency/realname',
      body: '{"max_concurrency":150}',
    });
  });

  it('a polling config: every field that is another one now', async () => {
    const after = { ...CONFIG, interval_seconds: 900, carrier_id: 7 };
    const { env } = await daemon(CONFIG, after);
    const argv = ['configs', 'set', '3', '--interval-seconds', '900', '--carrier-id', '7'];
    expect((await cli(argv, { env })).stderr).toBe(
      'config 3 "流量检查 [31m": carrier all -> 7, interval 30m -> 15m, concerns 1,000,000 cards\n',
    );
    const same = await daemon(CONFIG, CONFIG);
    expect((await cli(argv, { env: same.env })).stderr).toBe('config 3 "流量检查 [31m": nothing changed\n');
  });
});

describe('asking first', () => {
  /** 1,000,000 cards of carddata every 30 minutes; the limit of 100 allows 833 polls a second. */
  const daemon = (over: Partial<TaskBody> = {}) =>
    daemonThatSays((request, response) => {
      const items = TASK_TYPES.map((type) => task(type, over));
      const isLimit = request.line.includes('/polling-concurrency');
      const answer = request.line.includes('/tasks') ? { items } : readings(request.line);
      json(answer ?? (isLimit ? LIMIT : CONFIG))(request, response);
    });
  const fast = ['configs', 'set', '3', '--interval-seconds', '1'];
  const create = ['configs', 'create', '--name', 'Fast', '--task', 'carddata', '--interval-seconds', '1'];

  it.each([
    ['an interval of a second', fast],
    ['a new config of a second', create],
    ['a limit of one', ['concurrency', 'set', 'realname', '1']],
    ['a limit of 100,000', ['concurrency', 'set', 'realname', '100000']],
  ])('%s needs --yes without a terminal', async (_, argv) => {
    const { env, requests } = await daemon();
    expect(await cli(argv, { env })).toMatchObject({ code: 64, stderr: expect.stringContaining('--yes') });
    expect(requests.filter(changed)).toEqual([]);
    expect(await cli([...argv, '--yes'], { env })).toMatchObject({ code: 0 });
    expect(requests.filter(changed)).toHaveLength(1);
  });

  it.each([
    ['an interval that the limit allows', ['configs', 'set', '3', '--interval-seconds', '900']],
    [
      'a longer interval in an overloaded fleet',
      ['configs', 'set', '3', '--interval-seconds', '3600'],
      9_000,
    ],
    ['a config that is created disabled', [...create, '--disabled']],
    ['a lower limit that is sufficient', ['concurrency', 'set', 'realname', '40']],
    ['a limit ten times as high', ['concurrency', 'set', 'realname', '1000']],
    ['a limit as high as the demand needs', ['concurrency', 'set', 'realname', '1500'], 9_000],
    ['a higher limit that is not sufficient yet', ['concurrency', 'set', 'realname', '200'], 9_000],
  ] as const)('%s does not', async (_, argv, demand_per_second: number = 278) => {
    const { env, requests } = await daemon({ demand_per_second });
    expect(await cli(argv, { env })).toMatchObject({ code: 0 });
    expect(requests.filter(changed)).toHaveLength(1);
  });

  const ten = (over: Partial<ConfigBody>, changes: readonly object[] = []) =>
    daemonThatSays((request, response) => {
      const config = { ...CONFIG, members: 10_000, ...over };
      const list = (items: readonly unknown[]) => ({ items, page: 1, page_size: 100, total: items.length });
      const line = request.line;
      const concurrency = { current: 0, max: 900, usage_percent: 0 };
      const tasks = TASK_TYPES.map((type) => task(type, { concurrency, effective_concurrency: 900 }));
      const answer = line.includes('/tasks')
        ? list(tasks)
        : line.includes('/audit')
          ? list(changes)
          : line.includes('/polling-configs?')
            ? list([config])
            : (readings(line) ?? (line.includes('/polling-concurrency') ? LIMIT : config));
      json(answer)(request, response);
    });

  it.each([
    ['a ring that is not built yet', { members: null }],
    ['a config that is enabled', { members: null, status: 0 }],
  ] as const)('counts the cards of %s', async (_, over) => {
    const { env } = await ten({ interval_seconds: 1, ...over });
    const argv = over.members === null && 'status' in over ? ['configs', 'enable', '3'] : fast;
    const slow = argv === fast ? await ten({ interval_seconds: 300, ...over }) : { env };
    expect(await cli(argv, { env: slow.env })).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('With up to 100,000 cards, carddata needs 100,000 polls a second'),
    });
  });

  it.each([
    [
      'an interval',
      ['configs', 'set', '3', '--interval-seconds', '9'],
      'config 3',
      { interval_seconds: 600 },
    ],
    ['a limit', ['concurrency', 'set', 'realname', '1500'], 'task_type realname', { max_concurrency: 100 }],
  ] as const)('takes several steps of %s within an hour for one', async (_, argv, object, before) => {
    const entry = { id: 1, at: '2026-11-21T09:55:00.000Z', object, before, after: {} };
    const room = { members: 10_000, interval_seconds: 40 };
    const { env } = await ten(room, [
      { ...entry, before: { ...before, ...room, max_concurrency: 900 } },
      entry,
    ]);
    expect(await cli(argv, { env })).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('The gateway'),
    });
    expect((await cli(argv, { env: (await ten(room)).env })).code).toBe(0);
  });

  it('shows demand against capacity, and changes nothing without an answer', async () => {
    const { env, requests } = await daemon();
    const asked = await cli(fast, { env, tty: true, input: 'n\n' });
    expect(asked.code).toBe(1);
    expect(asked.stderr).toContain('every 1s');
    expect(asked.stderr).toMatch(
      /1,000,000 cards, carddata needs 1,000,000 polls a second \(now: 556 .*a limit of 100 allows about 833 polls/,
    );
    expect(requests.filter(changed)).toEqual([]);
    const plan = await cli(['concurrency', 'set', 'realname', '100000', '--dry-run'], { env });
    expect(plan).toMatchObject({ code: 0 });
    expect(plan.stdout).toContain(
      '100 -> 100,000.\nFor 1,000,000 cards, on every instance within a second.\nThe polling configs need 278 polls a second;',
    );
  });

  it.each([
    ['a limit', ['concurrency', 'set', 'realname', '150']],
    ['a polling config', fast],
    ['a new polling config', create],
  ])('changes nothing where the daemon does not report the task type: %s', async (_, argv) => {
    const { env, requests } = await daemonThatSays((request, response) => {
      json(request.line.includes('/tasks') ? { items: [] } : CONFIG)(request, response);
    });
    for (const flags of [[], ['--dry-run']]) {
      const { code, stderr } = await cli([...argv, ...flags], { env });
      expect(code).toBe(1);
      expect(stderr).toMatch(/the daemon does not report the task type (realname|carddata)/);
    }
    expect(requests.filter(changed)).toEqual([]);
  });

  describe('where the rate limits allow less than the limit', () => {
    /** A poll takes 100 ms, so that a limit of 10 is enough for the rate limits. */
    const paced = (demand_per_second: number) => {
      const capacity = {
        ...task('realname').capacity,
        capacity_per_second: 50,
        bound_by: 'rate_limits' as const,
      };
      return daemon({ demand_per_second, avg_duration_ms_10s: 100, capacity });
    };

    it.each([
      [10, 50],
      [2, 20],
      [1_000, 50],
    ])('a limit of %i allows %i polls a second', async (limit, allowed) => {
      const { env } = await paced(45);
      const { stdout } = await cli(['concurrency', 'set', 'realname', String(limit), '--dry-run'], { env });
      expect(stdout).toContain(`allows about ${allowed} polls a second`);
    });

    it('asks only before a limit that allows even less than they do, or far more calls at a time', async () => {
      const { env } = await paced(45);
      const set = async (limit: number) =>
        (await cli(['concurrency', 'set', 'realname', String(limit)], { env })).code;
      expect(await set(10)).toBe(0);
      expect(await set(2)).toBe(64);
      expect(await set(100_000)).toBe(64);
    });
  });

  it('assumes a duration before one was measured', async () => {
    const capacity = { ...task('carddata').capacity, capacity_per_second: null, headroom_percent: null };
    const { env } = await daemon({ capacity });
    const { stdout } = await cli([...fast, '--dry-run'], { env });
    expect(stdout).toContain('allows about 1,000 polls a second (assuming 100 ms a poll)');
  });
});

describe('names', () => {
  const named = (id: number, name: string) => ({ ...CONFIG, id, name });
  const items = [
    named(3, 'Package check'),
    named(4, 'VIP'),
    named(5, 'vip'),
    named(6, 'Twice'),
    named(7, 'Twice'),
  ];
  const daemon = () =>
    daemonThatSays((request, response) => {
      const list = { items, page: 1, page_size: 100, total: items.length };
      const isList = request.line.includes('/polling-configs?');
      json(isList ? list : (readings(request.line) ?? CONFIG))(request, response);
    });

  it.each([
    ['Package check', 3],
    ['package CHECK', 3],
    ['vip', 5],
    ['VIP', 4],
  ])('%j means %i', async (name, id) => {
    const { env, requests } = await daemon();
    expect(await cli(['configs', 'enable', name], { env })).toMatchObject({ code: 0 });
    expect(requests.at(-1)?.line).toBe(`PUT /api/admin/polling-configs/${id}`);
  });

  it.each([
    ['Pakage check', 1, /there is no polling config "Pakage check" \(did you mean Package check\?\)/],
    ['Twice', 64, /2 polling configs have the name "Twice": 6, 7/],
    ['Vip', 64, /2 polling configs have the name "Vip": 4, 5/],
  ])('%j: exit code %i, and nothing is changed', async (name, code, said) => {
    const { env, requests } = await daemon();
    const outcome = await cli(['configs', 'disable', name, '--yes'], { env });
    expect(outcome).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(said) });
    expect(requests.filter(({ line }) => !line.startsWith('GET'))).toEqual([]);
  });
});

describe('cleanup set-retention', () => {
  const retention = { id: 6, target: 'card_stops', retention_days: 365, enabled: true, last_run_at: null };
  const daemon = (days: number) =>
    daemonThatSays((request, response) => {
      const read = { items: [retention], page: 1, page_size: 100, total: 1 };
      json(request.line.startsWith('GET') ? read : { ...retention, retention_days: days })(request, response);
    });

  it('asks when data is kept shorter', async () => {
    const { env, requests } = await daemon(90);
    const argv = ['cleanup', 'set-retention', 'card_stops', '90'];
    expect(await cli(argv, { env })).toMatchObject({ code: 64, stdout: '' });
    const planned = await cli([...argv, '--dry-run'], { env });
    expect(planned).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Keep card_stops for 90 days instead of 365/),
    });
    expect(requests.every(({ line }) => line.startsWith('GET'))).toBe(true);
    const done = await cli(argv, { env, tty: true, input: 'y\n' });
    expect([done.code, requests.at(-1)?.line]).toEqual([0, 'PUT /api/admin/data-cleanup-configs/6']);
    expect(done.stderr).toContain('card_stops: days 365 -> 90\n');
  });

  it('does not ask when it is kept longer', async () => {
    const { env, requests } = await daemon(400);
    expect(await cli(['cleanup', 'set-retention', '6', '400'], { env })).toMatchObject({ code: 0 });
    expect(requests.at(-1)).toMatchObject({ body: '{"retention_days":400}' });
  });
});

describe('pause and resume', () => {
  it.each(['0s', '3650d', '-5m', '169h'])('refuses a pause of %s', async (length) => {
    const { env, requests } = await daemonThatSays(json({ items: [] }));
    expect(await cli(['pause', '--for', length], { env })).toMatchObject({ code: 64, stdout: '' });
    expect(requests).toEqual([]);
  });

  it('refuses a pause of more than an hour without a reason, and says what to type', async () => {
    const { env, requests } = await daemonThatSays(json({ items: [PAUSE] }));
    const { code, stderr } = await cli(['pause', 'package', '--for', '2h'], { env });
    expect([code, requests]).toEqual([64, []]);
    expect(stderr).toContain('a pause of more than 1h needs a reason');
    expect(stderr).toContain("cardpoll pause package --for 2h --reason 'gateway maintenance'");
    for (const options of [
      ['--for', '1h'],
      ['--for', '2h', '--reason', 'vendor'],
    ])
      expect((await cli(['pause', 'package', ...options], { env })).code).toBe(0);
  });

  it.each([[[]], [['all']]])(
    'refuses to pause all task types without a terminal and without --yes: %j',
    async (types) => {
      const { env, requests } = await daemonThatSays(json({ items: [] }));
      expect(await cli(['pause', ...types, '--for', '10m'], { env })).toMatchObject({
        code: 64,
        stderr: expect.stringContaining('Pause all task types for 10m, on every instance.'),
      });
      expect(requests.filter(changed)).toEqual([]);
    },
  );

  it('shows the plan of a pause, and pauses nothing', async () => {
    const { env, requests } = await daemonThatSays(json({ items: [] }));
    const { code, stdout } = await cli(['pause', 'package', '--for', '1h', '--dry-run'], { env });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        'Pause package for 1h, on every instance.\n' +
        'No card is polled for it meanwhile, manual triggers included.\n' +
        'Calls in flight end. What falls due waits in the queue.\n' +
        'No card is stopped or resumed meanwhile.\n',
    });
    expect(requests.filter(changed)).toEqual([]);
  });

  it('says which pause of another operator it replaces: that one may have been longer', async () => {
    const byGateway = { ...PAUSE, source: 'gateway', by: 'instance x' };
    const ofAnna = { ...PAUSE, by: 'anna', until: '2026-11-21T12:00:00.000Z' };
    const { env } = await daemonThatSays((request, response) => {
      const before = [byGateway, ofAnna, { ...ofAnna, task_type: 'package' }];
      json({ items: request.line.startsWith('GET') ? before : [PAUSE] })(request, response);
    });
    expect(await cli(['pause', 'realname', '--for', '10s'], { env })).toMatchObject({
      code: 0,
      stderr: 'realname: replaces the pause of anna, else over in 2h: gateway maintenance\n',
    });
  });

  it('shows who asked, why, and until when', async () => {
    const { env } = await daemonThatSays(json({ items: [PAUSE] }));
    const { stdout } = await cli(['pause', 'realname'], { env, tty: true });
    expect(stdout).toMatch(/realname +operator \(operator\/0\) +now +in 10m +gateway maintenance/);
  });

  it('resumes all, or one task type, and says when nothing was paused', async () => {
    const { env, requests } = await daemonThatSays(json({ items: [] }));
    const outcome = await cli(['resume'], { env });
    expect(outcome).toMatchObject({ code: 0, stdout: '', stderr: 'nothing was paused\n' });
    await cli(['resume', 'package'], { env });
    const ended = await daemonThatSays(json({ items: [PAUSE] }));
    expect((await cli(['resume'], { env: ended.env })).stderr).toBe('no longer paused:\n');
    expect(requests.map(({ line }) => line)).toEqual([
      'DELETE /api/admin/polling-pauses?task_type=all',
      'DELETE /api/admin/polling-pauses?task_type=package',
    ]);
  });
});

describe('concurrency reset', () => {
  const daemon = () =>
    daemonThatSays((request, response) => {
      const body = request.line.startsWith('GET')
        ? { items: [LIMIT] }
        : { task_type: 'realname', previous: 12, current: 0 };
      json(body)(request, response);
    });
  const reset = ['concurrency', 'reset', 'realname'];
  const sent = (requests: readonly { line: string }[]) =>
    requests.filter(({ line }) => line.startsWith('POST')).length;

  it('shows the plan and does it after yes', async () => {
    const { env, requests } = await daemon();
    const { code, stdout, stderr } = await cli(reset, { env, tty: true, input: 'y\n' });
    expect(stderr).toMatch(/realname: 12 -> 0[\s\S]*Go ahead\? \[y\/N\]/);
    expect(stdout).toContain('12');
    expect([code, sent(requests)]).toEqual([0, 1]);
    expect(requests.at(-1)).toMatchObject({
      line: 'POST /api/admin/polling-concurrency/reset',
      body: '{"task_type":"realname"}',
    });
  });

  it.each([
    ['no', 'n\n'],
    ['nothing', '\n'],
    ['the end of input', ''],
  ])('leaves it after %s', async (_, input) => {
    const { env, requests } = await daemon();
    expect((await cli(reset, { env, tty: true, input })).code).toBe(1);
    expect(sent(requests)).toBe(0);
  });

  it('refuses without a terminal to ask on, and does not ask with --yes', async () => {
    const { env, requests } = await daemon();
    const refused = await cli(reset, { env });
    expect(refused).toMatchObject({ code: 64, stdout: '' });
    expect(refused.stderr).toContain('--yes');
    expect(sent(requests)).toBe(0);
    expect(await cli([...reset, '--yes', '-o', 'tsv'], { env })).toEqual({
      code: 0,
      stdout: 'realname\t12\t0\n',
      stderr: '',
    });
    expect(sent(requests)).toBe(1);
  });

  it('prints the plan and does nothing with --dry-run', async () => {
    const { env, requests } = await daemon();
    const { code, stdout } = await cli([...reset, '--dry-run', '--yes'], { env });
    expect(code).toBe(0);
    expect(stdout).toContain('realname: 12 -> 0');
    expect(sent(requests)).toBe(0);
  });
});

describe('cards import', () => {
  const file = (name: string, content: string) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
  const report = { received: 2, inserted: 1, updated: 0, unchanged: 0, rejected: 1 };
  const rejected = {
    ...report,
    errors: [{ line: 3, message: 'iccid must be 18 to 22 digits' }],
    errors_truncated: false,
    ignored_columns: [],
  };

  it.each([
    ['cards.csv', 'card_id,iccid\n1,89860012345678901234\n', 'text/csv'],
    ['cards.txt', '\n {"card_id":1,"iccid":"89860012345678901234"}\n', 'application/x-ndjson'],
  ])('sends %s as it is and detects its format from its content', async (name, content, type) => {
    const { env, requests } = await daemonThatSays(json({ ...rejected, rejected: 0, errors: [] }));
    const { code, stdout } = await cli(['cards', 'import', file(name, content), '-o', 'tsv'], { env });
    expect(code).toBe(0);
    expect(stdout).toBe('received\t2\ninserted\t1\nupdated\t0\nunchanged\t0\nrejected\t0\n');
    expect(requests.map(({ line }) => line)).toEqual([
      'POST /api/admin/cards/import/preview',
      'POST /api/admin/cards/import?accept_over_package=0',
    ]);
    for (const request of requests) {
      expect(request.body).toBe(content);
      expect(request.headers['content-type']).toBe(type);
    }
  });

  it('asks the daemon what its options say, and names ignored columns', async () => {
    const body = { ...rejected, rejected: 0, errors: [], ignored_columns: ["'note'"] };
    const { env, requests } = await daemonThatSays(json(body));
    const argv = ['cards', 'import', file('more.csv', 'card_id,iccid,note\n'), '--ignore-columns'];
    const { code, stderr } = await cli([...argv, '--overwrite-verified'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "ignored columns: 'note'\n" });
    expect(requests.map(({ line }) => line)).toEqual([
      'POST /api/admin/cards/import/preview?ignore_columns=true&overwrite_verified=true',
      'POST /api/admin/cards/import?ignore_columns=true&overwrite_verified=true&accept_over_package=0',
    ]);
  });

  it('names cards that no config selects, and cards that may be resumed, with the command for each', async () => {
    const forgotten = {
      stopped_within: 4,
      unselected: [{ task_type: 'realname', carrier_id: 7, cards: 100 }],
    };
    const { env } = await daemonThatSays(json({ ...rejected, rejected: 0, errors: [], ...forgotten }));
    const { code, stderr } = await cli(['cards', 'import', file('seven.csv', 'card_id,iccid\n')], { env });
    expect(code).toBe(0);
    expect(stderr.split('\n').slice(-3)).toEqual([
      expect.stringMatching(/^100 cards of carrier 7: .* realname .*\(`cardpoll configs`\)$/),
      '4 of these cards are stopped and fit their new package: `cardpoll stops resume --within --reason "..."` resumes them',
      '',
    ]);
  });

  it('accepts a tenth more cards over their package than were confirmed, and ends with 75 at more', async () => {
    const { env, requests } = await daemonThatSays((request, response) =>
      request.line.includes('/preview')
        ? json({ ...rejected, over_package: 40 })(request, response)
        : json({ code: 'cards_over_package', detail: 'the import ended before line 7' }, 422)(
            request,
            response,
          ),
    );
    const { code, stderr } = await cli(['cards', 'import', file('cut.csv', 'card_id\n'), '--yes'], { env });
    expect({ code, stderr }).toEqual({
      code: 75,
      stderr: expect.stringMatching(/ended before line 7 .*run the command again/),
    });
    expect(requests.at(-1)?.line).toBe('POST /api/admin/cards/import?accept_over_package=44');
  });

  it('refuses an undo file for standard input instead of leaving it out', async () => {
    const { env, requests } = await daemonThatSays(json(rejected));
    const { code, stderr } = await cli(['cards', 'import', '-', '--undo-file', 'undo.csv'], { env });
    expect({ code, requests }).toEqual({ code: 64, requests: [] });
    expect(stderr).toContain('standard input is read once: nothing is kept');
  });

  it('lists rejected rows on stderr and ends with 65', async () => {
    const { env } = await daemonThatSays(json(rejected));
    const { code, stdout, stderr } = await cli(['cards', 'import', file('bad.csv', 'card_id\n')], { env });
    expect(code).toBe(65);
    expect(stderr).toBe('line 3: iccid must be 18 to 22 digits\n');
    expect(stdout).toContain('rejected   1\n');
  });

  it('draws progress on a terminal only', async () => {
    const { env } = await daemonThatSays(json({ ...rejected, rejected: 0, errors: [] }));
    const path = file('large.csv', 'x'.repeat(1_000_000));
    expect((await cli(['cards', 'import', path], { env, tty: true })).stderr).toMatch(
      /sending .*large\.csv █.* %/,
    );
    expect((await cli(['cards', 'import', path], { env })).stderr).toBe('');
  });

  it('ends with 66 for a missing file, before it asks a question', async () => {
    const { code, stderr } = await cli(['cards', 'import', join(directory, 'none.csv')]);
    expect(code).toBe(66);
    expect(stderr).toMatch(/^cardpoll: no such file: .*none\.csv\n$/);
  });
});

describe('launched commands', () => {
  it('hand the daemon its configuration and end with its exit code', async () => {
    const seen: unknown[] = [];
    const daemon = async (config: unknown) => {
      seen.push(config);
      return 7;
    };
    const argv = [
      'daemon',
      '--gateway-url',
      'http://gateway',
      '--roles',
      'worker,api',
      '--data-dir',
      ':memory:',
    ];
    expect((await cli(argv, { launchers: { daemon } })).code).toBe(7);
    expect(seen).toMatchObject([{ roles: ['worker', 'api'], gateway: { url: 'http://gateway' } }]);
  });

  it('print on a terminal where the daemon listens and logs', async () => {
    const daemon: Launchers['daemon'] = async (_config, _load, listening) => {
      listening('http://127.0.0.1:7480');
      return 0;
    };
    const argv = ['daemon', '--gateway-url', 'http://gateway', '--log-dir', '/var/log/cardpoll'];
    expect((await cli(argv, { launchers: { daemon }, tty: true })).stderr).toBe(
      'cardpoll daemon: listening on http://127.0.0.1:7480, logs in /var/log/cardpoll; Ctrl-C stops it\n',
    );
    expect((await cli(argv, { launchers: { daemon } })).stderr).toBe('');
  });

  it('give the simulator what was asked for and nothing else', async () => {
    const seen: unknown[] = [];
    const simulate = async (options: unknown, listening: (url: string) => void) => {
      seen.push(options);
      listening('http://127.0.0.1:8090');
      return 0;
    };
    const argv = [
      'gateway',
      'simulate',
      '--listen',
      '127.0.0.1:0',
      '--latency-ms',
      '50',
      '--failure-rate',
      '0.1',
    ];
    const { code, stdout, stderr } = await cli(argv, { launchers: { simulate } });
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^[^\n]*http:\/\/127\.0\.0\.1:8090\/stats[^\n]*\n$/);
    expect(seen).toEqual([{ listen: { host: '127.0.0.1', port: 0 }, latencyMs: 50, failureRate: 0.1 }]);
    const old = await cli([...argv, '--profile', '1nce'], { launchers: { simulate } });
    expect([old.code, old.stderr]).toEqual([64, expect.stringContaining('cardpoll gateway try')]);
  });

  it('print where the demo answers once it does, and its state from then on', async () => {
    const daemon = await daemonThatSays(json(OVERVIEW));
    const demo = async (_options: unknown, launched: (url: string, logDir: string) => void) => {
      launched(daemon.url, '/tmp/demo-logs');
      await waitFor(() => daemon.requests.length > 1);
      return 0;
    };
    const { code, stdout, stderr } = await cli(['demo'], { launchers: { demo } });
    expect(code).toBe(0);
    expect(stderr).toContain(`API on ${daemon.url}, logs in /tmp/demo-logs;`);
    expect(stdout).toMatch(/^✖ alert .*realname /);
  });

  it('say which fleet a Redis belongs to now', async () => {
    const fleet = { id: '0f8fad5b-d9cb-469f-a165-70867728950e', name: 'poll' };
    const adopt: Launchers['adopt'] = async (_, goAhead) => {
      const plan = { fleet, holder: null };
      await goAhead(plan);
      return plan;
    };
    const env = { CARDPOLL_DATABASE_URL: 'postgres://db/cardpoll', CARDPOLL_REDIS_URL: 'redis://r' };
    const { stdout } = await cli(['init', 'adopt', '--yes'], { env, launchers: { adopt } });
    expect(stdout).toBe('The Redis belongs to the fleet "poll" (0f8fad5b).\n');
  });

  it.each([
    ['all 1 migrations of this version are applied', []],
    ['all 1 migrations of this version are applied; of a later version: 0002_second', ['0002_second']],
  ])('say that there is nothing to migrate, instead of a list: %s', async (said, later) => {
    const migrations = [
      { id: '0001_first', appliedAtMs: 0, newer: false },
      ...later.map((id) => ({ id, appliedAtMs: 0, newer: true })),
    ];
    const migrate: Launchers['migrate'] = async () => ({ applied: [], migrations });
    const env = { CARDPOLL_DATABASE_URL: 'postgres://db/cardpoll' };
    expect(await cli(['migrate', 'up'], { env, launchers: { migrate } })).toEqual({
      code: 0,
      stdout: '',
      stderr: `database: postgres://db/cardpoll, from CARDPOLL_DATABASE_URL\nnothing to do: ${said}\n`,
    });
  });

  it('show migrations, 1 while some are missing', async () => {
    const migrations = [
      { id: '0001_first', appliedAtMs: 0, newer: false },
      { id: '0002_second', appliedAtMs: null, newer: false },
      { id: '0003_third', appliedAtMs: 0, newer: true },
    ];
    const seen: unknown[] = [];
    const migrate: Launchers['migrate'] = async (config, action, onBegin) => {
      seen.push([config.database.kind, action]);
      if (action === 'up') onBegin('0002_second');
      return { applied: [], migrations };
    };
    const env = { CARDPOLL_DATABASE_URL: 'postgres://poll:se:cr@et@db/cardpoll?password=x' };
    const { code, stdout, stderr } = await cli(['migrate', 'status', '-o', 'tsv'], {
      env,
      launchers: { migrate },
    });
    expect(code).toBe(1);
    expect(stderr).toBe('database: postgres://poll@db/cardpoll, from CARDPOLL_DATABASE_URL\n');
    expect(stdout).toBe(
      '0001_first\tapplied\t1970-01-01T00:00:00.000Z\n0002_second\tmissing\t-\n0003_third\tof a later version\t1970-01-01T00:00:00.000Z\n',
    );
    const applied = await cli(['migrate', 'up'], { env, launchers: { migrate } });
    expect(applied.stderr).toContain('\napplying 0002_second\n');
    expect(seen).toEqual([
      ['postgres', 'status'],
      ['postgres', 'up'],
    ]);
  });
});

describe('what asks first', () => {
  it.each([
    [['configs', 'disable', '3'], 'PUT /api/admin/polling-configs/3', CONFIG],
    [['configs', 'delete', '3'], 'DELETE /api/admin/polling-configs/3', CONFIG],
    [['init', 'rebuild'], 'POST /api/admin/polling-init/rebuild', { ...OVERVIEW, ...INIT_STATE }],
  ])('%j shows its plan, refuses without a terminal, and does it with --yes', async (argv, line, answer) => {
    const { env, requests } = await daemonThatSays(json(answer));
    const planned = await cli([...argv, '--dry-run'], { env });
    expect(planned).toMatchObject({ code: 0 });
    expect(planned.stdout).toMatch(/1,000,000/);
    expect(await cli(argv, { env })).toMatchObject({ code: 64 });
    expect(requests.map((request) => request.line)).not.toContain(line);
    expect(await cli([...argv, '--yes'], { env })).toMatchObject({ code: 0 });
    expect(requests.at(-1)?.line).toBe(line);
  });

  it('init rebuild names no size of a batch, which each daemon sets itself', async () => {
    const { env } = await daemonThatSays(json(OVERVIEW));
    const { stdout } = await cli(['init', 'rebuild', '--dry-run'], { env });
    expect(stdout).toContain('all 1,000,000 cards, and repair');
  });

  it('init rebuild knows the size of the fleet before initialisation has begun', async () => {
    const init = { ...OVERVIEW.init, status: 'pending', total: 0, loaded: 0 };
    const { env } = await daemonThatSays((request, response) => {
      const isOverview = request.line === 'GET /api/admin/polling-stats';
      json(isOverview ? { ...OVERVIEW, init } : { ...INIT_STATE, ...init })(request, response);
    });
    const { stdout } = await cli(['init', 'rebuild', '--dry-run'], { env });
    expect(stdout).toContain('all 1,000,000 cards');
  });
});

describe('version', () => {
  it('names what is installed and what the daemon is', async () => {
    const { env } = await daemonThatSays(json({ ...OVERVIEW, version: '9.9.9' }));
    const { code, stdout } = await cli(['version'], { env });
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^cardpoll \S+ \(commit unknown, node .*\)\ndaemon 9\.9\.9\n$/),
    ]);
  });

  it('is right about itself without a daemon', async () => {
    const { code, stdout } = await cli(['version'], { env: { CARDPOLL_URL: 'http://127.0.0.1:1' } });
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^cardpoll .*\ndaemon not known: .*127\.0\.0\.1:1/),
    ]);
  });
});
