// `cardpoll audit`: what it asks the daemon, and how a change reads.
import { describe, expect, it } from 'vitest';
import { changeText } from '../../../src/cli/output/reports/audit-table.ts';
import { pastTime } from '../../../src/cli/past-time.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
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

describe('a time that has passed', () => {
  const read = (raw: string) => {
    const parsed = pastTime().parse(raw);
    return parsed.ok ? new Date(parsed.value(NOW)).toISOString() : parsed.problem;
  };

  it.each([
    ['90s', '2026-11-21T09:58:30.000Z'],
    ['1h', '2026-11-21T09:00:00.000Z'],
    ['7d', '2026-11-14T10:00:00.000Z'],
    ['999999999d', '1970-01-01T00:00:00.000Z'],
    ['2026-11-21T18:00:00+08:00', '2026-11-21T10:00:00.000Z'],
    ['2026-11-20', new Date(2026, 10, 20).toISOString()],
  ])('%s', (raw, expected) => {
    expect(read(raw)).toBe(expected);
  });

  it.each(['yesterday', '1w', '-1h', '2026-13-01', '2026', '1h ago', '\u001b[2J'])('is not %j', (raw) => {
    expect(read(raw)).toMatch(/is not a time: 90s, 15m/);
  });
});

describe('a change', () => {
  it.each([
    [{ limit: 1, same: [1] }, { limit: 2, same: [1] }, 'limit 1 -> 2'],
    [null, { name: 'slow', on: true }, 'name slow, on true'],
    [{ name: 'slow' }, null, 'was name slow'],
    [{ status: null }, { status: 'x' }, 'status null -> x'],
    [null, null, ''],
  ])('%j -> %j', (before, after, said) => {
    expect(changeText({ before, after })).toBe(said);
  });
});

it('asks for what was typed and shows who, what and from what', async () => {
  const { env, requests } = await daemonThatSays(page(ENTRY));
  const argv = ['audit', '--since', '2026-11-21T08:00:00Z', '--actor', 'anna', '--action', 'concurrency'];
  const { code, stdout } = await cli(argv, { env, tty: true, columns: 80 });
  expect(code).toBe(0);
  const query = new URL(requests[0]?.line.split(' ')[1] ?? '', 'http://x').searchParams;
  expect(Object.fromEntries(query)).toEqual({
    since: '2026-11-21T08:00:00.000Z',
    actor: 'anna',
    action: 'concurrency',
    page: '1',
    page_size: '20',
  });
  expect(stdout).toMatch(/anna\s.*task_type realname\s+max_concurrency 100 -> 150/);
});

it('says what to type when nothing matches', async () => {
  const { env } = await daemonThatSays(page());
  expect((await cli(['audit', '--since', '1h'], { env, tty: true })).stdout).toBe(
    'no change matches: cardpoll audit shows all\n',
  );
});
