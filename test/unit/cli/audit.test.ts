// `cardpoll audit`: what it asks the daemon, and how a change reads.
import { describe, expect, it } from 'vitest';
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import { CONFIG, task } from './bodies.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const ENTRY = {
  id: 7,
  at: '2026-11-21T09:00:00.000Z',
  actor: 'anna',
  role: 'operator',
  address: '10.0.0.7',
  request_id: 'r1',
  action: 'concurrency.set',
  object: 'task_type realname',
  before: { max_concurrency: 100 },
  after: { max_concurrency: 150 },
};
const page = (...items: object[]) => json({ items, page: 1, page_size: 20, total: items.length });

describe('--since', () => {
  const asked = async (since: string, more: Record<string, string> = {}) => {
    const { env, requests } = await daemonThatSays(page(ENTRY));
    const outcome = await cli(['audit', '--since', since], { env: { ...env, ...more } });
    const query = new URL(requests[0]?.line.split(' ')[1] ?? '', 'http://x').searchParams;
    return { ...outcome, since: query.get('since') };
  };

  it.each([
    ['02:00', '2026-11-20T18:00:00.000Z', '2026-11-21T02:00:00+08:00'],
    ['-2h', '2026-11-21T08:00:00.000Z', '2026-11-21T16:00:00+08:00'],
    ['yesterday', '2026-11-19T16:00:00.000Z', '2026-11-20T00:00:00+08:00'],
  ])('%s is a time of the configured zone, and is shown', async (typed, since, shown) => {
    const outcome = await asked(typed, { CARDPOLL_TIME_ZONE: 'Asia/Shanghai' });
    expect(outcome).toMatchObject({ code: 0, since });
    expect(outcome.stdout.split('\n')[0]).toBe(`since ${shown} (Asia/Shanghai)`);
  });

  it('is a time of the zone of the process where none is configured', async () => {
    const { since } = await asked('2026-11-20');
    expect(since).toBe(new Date(2026, 10, 20).toISOString());
  });

  it('an invalid time ends with 64, and what to type', async () => {
    const { code, stderr } = await asked('1h ago');
    expect(code).toBe(64);
    expect(stderr).toMatch(/"1h ago" is not a time: type 2h for two hours ago .*02:00, today, yesterday/);
  });
});

it('refuses a range that ends before it begins, in which no change would be found', async () => {
  const { env, requests } = await daemonThatSays(page());
  const argv = ['audit', '--since', '08:00', '--until', '02:00'];
  const zone = { CARDPOLL_TIME_ZONE: 'UTC' };
  const { code, stderr } = await cli(argv, { env: { ...env, ...zone } });
  expect([code, requests]).toEqual([64, []]);
  expect(stderr).toContain('the range is empty: since 2026-11-21T08:00:00+00:00 until 2026-11-21T02:00:00');
  expect(stderr).toContain('--until is the first instant after the range');
});

describe('a change', () => {
  it.each([
    [{ limit: 1, same: [1] }, { limit: 2, same: [1] }, 'limit 1 -> 2'],
    [null, { name: 'slow', on: true }, 'name slow, on yes'],
    [{ name: 'slow' }, null, 'was name slow'],
    [{ status: null }, { status: 'x' }, 'status none -> x'],
    [{ used_mb: 1.5 }, { used_mb: 58.109559999999995 }, 'used_mb 1.5 -> 58.10956'],
    [null, null, '-'],
  ])('%j -> %j', async (before, after, said) => {
    const { env } = await daemonThatSays(page({ ...ENTRY, before, after }));
    const { stdout } = await cli(['audit', '-o', 'tsv'], { env });
    expect(stdout.split('\t')[6]).toBe(said);
  });
});

it('asks for what was typed and shows who, what and from what', async () => {
  const { env, requests } = await daemonThatSays(page(ENTRY));
  const argv = [
    'audit',
    '--since',
    '2026-11-21T08:00:00Z',
    '--actor',
    'anna',
    '--action',
    'concurrency',
    '--object',
    'card 8',
  ];
  const { code, stdout } = await cli(argv, { env, tty: true, columns: 80 });
  expect(code).toBe(0);
  const query = new URL(requests[0]?.line.split(' ')[1] ?? '', 'http://x').searchParams;
  expect(Object.fromEntries(query)).toEqual({
    since: '2026-11-21T08:00:00.000Z',
    actor: 'anna',
    action: 'concurrency',
    object: 'card 8',
    page: '1',
    page_size: '20',
  });
  expect(stdout).toMatch(/anna\s.*task_type realname.*\n +max_concurrency 100 -> 150/);
});

it('shows how long ago a change was made under watch, which gives a width', async () => {
  const { env } = await daemonThatSays(page(ENTRY));
  const { stdout } = await cli(['audit'], { env: { ...env, COLUMNS: '80' } });
  expect(stdout).toMatch(/^[\dhms ]+ ago +7 {2}anna /m);
});

it('says what to type when nothing matches', async () => {
  const { env } = await daemonThatSays(page());
  expect((await cli(['audit', '--actor', 'x'], { env, tty: true })).stdout).toBe(
    'no change matches: cardpoll audit shows all\n',
  );
});

describe('--all', () => {
  const START = Date.parse('2026-11-21T09:00:00Z');
  /** As the daemon answers: newest first, before `until`, in pages. */
  async function daemonWith(changes: readonly { id: number; atMs: number }[]) {
    const entries = changes
      .map(({ id, atMs }) => ({ ...ENTRY, id, at: new Date(atMs).toISOString() }))
      .sort((one, other) => Date.parse(other.at) - Date.parse(one.at) || other.id - one.id);
    return daemonThatSays((request, response) => {
      const query = new URL(request.line.split(' ')[1] ?? '', 'http://x').searchParams;
      const until = query.get('until');
      const matching = entries.filter(({ at }) => until === null || at < until);
      const [number, size] = [Number(query.get('page')), Number(query.get('page_size'))];
      const items = matching.slice((number - 1) * size, number * size);
      json({ items, page: number, page_size: size, total: matching.length })(request, response);
    });
  }

  it.each<[string, (id: number) => number]>([
    ['at different times', (id) => START + id],
    ['of the same millisecond', () => START],
    ['in bursts of 150', (id) => START + Math.floor(id / 150)],
  ])('shows every change once, newest first: 430 changes %s', async (_, atMs) => {
    const ids = Array.from({ length: 430 }, (__, at) => at + 1);
    const { env } = await daemonWith(ids.map((id) => ({ id, atMs: atMs(id) })));
    const { stdout, stderr } = await cli(['audit', '--all', '-o', 'jsonl'], { env });
    const shown = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(shown).toEqual(ids.toReversed());
    expect(stderr).toBe('');
    expect(JSON.parse((await cli(['audit', '--all', '--json'], { env })).stdout)).toMatchObject({
      total: 430,
    });
    const table = (await cli(['audit', '--all'], { env })).stdout;
    expect(table.match(/^AT .*WHO/gm)?.length).toBeGreaterThanOrEqual(5);
    expect(table.match(/ anna /g)).toHaveLength(430);
  });

  it('an export of nothing says so', async () => {
    const { env } = await daemonWith([]);
    expect(await cli(['audit', '--all'], { env })).toMatchObject({
      code: 0,
      stdout: 'nothing has been changed yet\n',
    });
  });
});

it('keeps who, action and object at 80 columns, with the change below', async () => {
  const after = { reason: 'x'.repeat(300) };
  const entry = { ...ENTRY, actor: 'ops1', action: 'alert_rule.update', object: 'alert_rule 12', after };
  const { env } = await daemonThatSays(page(entry, { ...ENTRY, id: 8 }));
  const { stdout } = await cli(['audit'], { env, tty: true, columns: 80 });
  expect(stdout).toMatch(/^AT +ID +WHO +ACTION +OBJECT/m);
  expect(stdout).toMatch(
    / 7 +ops1 +alert_rule\.update +alert_rule 12 .*\n {2}was max_concurrency 100, reason/,
  );
  expect(stdout).toMatch(
    / 8 +anna +concurrency\.set +task_type realname .*\n {2}max_concurrency 100 -> 150\n/,
  );
  const piped = (await cli(['audit'], { env })).stdout.split('\n');
  expect(piped.find((line) => line.includes('concurrency.set'))?.length).toBeLessThan(120);
});

describe('undo', () => {
  const undone = (over: object) => ({
    ...{ undoes: 7, state: 'planned', audit_id: null, at: ENTRY.at, actor: 'anna' },
    ...over,
  });
  const daemon = (over: object) =>
    daemonThatSays((request, response) => {
      const { line } = request;
      const list = { items: [CONFIG], page: 1, page_size: 100, total: 1 };
      const isDone = line.includes('dry_run=false');
      const answers: [string, unknown][] = [
        ['/undo', isDone ? undone({ ...over, state: 'undone', audit_id: 9 }) : undone(over)],
        ['/audit', { items: [], page: 1, page_size: 100, total: 0 }],
        ['/tasks', { items: TASK_TYPES.map((type) => task(type)) }],
        ['/polling-configs?', list],
        ['/polling-configs/', CONFIG],
      ];
      json(answers.find(([path]) => line.includes(path))?.[1])(request, response);
    });
  const argv = ['audit', 'undo', '7'];
  const made = (requests: readonly { line: string }[]) =>
    requests.filter(({ line }) => line.includes('=false'));
  const config = (interval: number) => ({ ...CONFIG, interval_seconds: interval });

  it.each<[string, object]>([
    ['a longer interval', { action: 'config.update', object: 'config 3', before: config(1), after: CONFIG }],
    ['a created config', { action: 'config.create', object: 'config 3', before: null, after: CONFIG }],
    [
      'a raised limit',
      {
        ...{ action: 'concurrency.set', object: 'task_type realname' },
        ...{ before: { max_concurrency: 1 }, after: { max_concurrency: 100 } },
      },
    ],
    [
      'a longer retention',
      {
        ...{ action: 'cleanup_config.update', object: 'cleanup_config 1' },
        ...{ before: { retention_days: 1 }, after: { retention_days: 9 } },
      },
    ],
  ])('the undo of %s asks as the opposite change would', async (_, change) => {
    const { env, requests } = await daemon(change);
    expect(await cli(argv, { env })).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('Undo change 7,'),
    });
    expect(made(requests)).toEqual([]);
    const done = await cli([...argv, '--yes'], { env });
    expect(done).toMatchObject({
      code: 0,
      stderr: 'change 7 is undone (take that back: cardpoll audit undo 9)\n',
    });
    expect(made(requests)).toHaveLength(1);
  });

  it('the undo of a shorter interval does not ask, and shows what is restored', async () => {
    const change = { action: 'config.update', object: 'config 3', before: CONFIG, after: config(900) };
    const { env } = await daemon(change);
    expect(await cli(argv, { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('interval_seconds 900 -> 1800'),
    });
  });
});
