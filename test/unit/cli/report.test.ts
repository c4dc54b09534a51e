// `cardpoll report`: what it asks the daemon, and a night on one page.
import { describe, expect, it } from 'vitest';
import type { ShiftReportBody } from '../../../src/resources/report.ts';
import { widthOf } from '../../../src/terminal/width.ts';
import { type CliOptions, cli, daemonThatSays, json } from './cli-under-test.ts';

const ZONE = { CARDPOLL_TIME_ZONE: 'Asia/Shanghai' };
const NO_STOPS = { done: 0, requested: 0, held: 0, observed: 0, dismissed: 0, resumed: 0 };

const QUIET: ShiftReportBody = {
  since: '2026-11-20T14:00:00.000Z',
  until: '2026-11-20T22:00:00.000Z',
  generated_at: '2026-11-20T22:00:00.000Z',
  unknown: null,
  kept_from: { alerts: null, changes: null, stops: null, polls: null },
  reasons: [],
  alerts: { fired: 0, resolved: 0, open: 0, items: [] },
  changes: { total: 0, imports: null, groups: [] },
  stops: { ...NO_STOPS, is_cut: false, carriers: [] },
  polls: (['realname', 'carddata', 'package'] as const).map((task_type) => ({
    ...{ task_type, polls: 1_234_567, failed: 2_469, success_rate: 99.8, on_time_percent: null },
  })),
  open: {
    ...{
      alerts: 0,
      acknowledged: 0,
      stop_mode: 'enforce',
      held_stops: 0,
      observed_stops: 0,
      released_stops: 0,
    },
    ...{ resumes: [], pauses: [], ends: [] },
  },
};

const many = <Item>(count: number, item: (n: number) => Item) =>
  Array.from({ length: count }, (_, n) => item(n));
const night = (n: number) => `2026-11-20T18:${String(n).padStart(2, '0')}:00.000Z`;
const LONG = 'the gateway takes 3.0 s a call, usually 0.05 s: less load would not help, and so on and on';

const BUSY: ShiftReportBody = {
  ...QUIET,
  kept_from: { alerts: null, changes: null, stops: null, polls: '2026-11-20T16:00:00.000Z' },
  reasons: many(9, (n) => ({
    ...{ source: 'alert', code: 'gateway_slow', severity: 'alert', task_types: ['realname'], text: LONG },
    ...{ began_at: night(n), ended_at: n === 8 ? null : night(n + 10), alerts: [n] },
  })),
  alerts: {
    ...{ fired: 9, resolved: 8, open: 1 },
    items: many(9, (n) => ({
      ...{
        id: n,
        rule: 'Health: realname',
        rule_id: 3,
        task_type: 'realname',
        severity: 'alert',
        cause: LONG,
      },
      ...{ fired_at: night(9 - n), resolved_at: n === 0 ? null : night(30), duration_seconds: 1_320 },
      acknowledged_by: null,
    })),
  },
  changes: {
    total: 823,
    imports: {
      ...{ count: 2, failed: 0, inserted: 0, updated: 19_980, rejected: 3, over_package: 406 },
      ...{ actors: ['op3'], last_at: night(2) },
    },
    groups: many(14, (n) => ({
      ...{ actor: `operator-${n}`, role: 'operator', action: 'concurrency.set', count: n + 1, objects: 1 },
      ...{ first_at: night(n), last_at: night(n), last_id: n, object: 'task_type realname' },
      ...{ before: { max_concurrency: 100 }, after: { max_concurrency: 150 } },
    })),
  },
  stops: {
    ...{ ...NO_STOPS, done: 406, held: 208, resumed: 406, is_cut: false },
    carriers: many(5, (n) => ({ ...NO_STOPS, carrier_id: n === 4 ? null : n, done: 100 - n, held: 50 })),
  },
  open: {
    ...{
      alerts: 1,
      acknowledged: 0,
      stop_mode: 'observe',
      held_stops: 208,
      observed_stops: 7,
      released_stops: 1,
    },
    resumes: [{ id: 'r', by: 'op1', reason: 'wrong readings', total: 406, waiting: 12 }],
    pauses: [],
    ends: [
      {
        ...{ kind: 'pause', what: 'package', by: 'op2', reason: 'maintenance', since: night(0) },
        until: '2026-11-20T22:30:00.000Z',
      },
      {
        ...{ kind: 'silence', what: 'silence 5: rule 3', by: 'op2', reason: '', since: night(0) },
        until: '2026-11-21T14:30:00.000Z',
      },
    ],
  },
};

async function shown(body: ShiftReportBody, argv: readonly string[] = [], options: CliOptions = {}) {
  const { env, requests } = await daemonThatSays(json(body));
  const outcome = await cli(['report', ...argv], {
    tty: true,
    ...options,
    env: { ...env, ...ZONE, ...options.env },
  });
  return { ...outcome, lines: outcome.stdout.trimEnd().split('\n'), asked: requests.map(({ line }) => line) };
}

describe('the time of a report', () => {
  it('is typed as in audit, in the configured zone', async () => {
    const { code, asked } = await shown(QUIET, ['--since', '22:00', '--until', '06:00']);
    expect([code, asked]).toEqual([
      0,
      ['GET /api/admin/report?since=2026-11-20T14%3A00%3A00.000Z&until=2026-11-20T22%3A00%3A00.000Z'],
    ]);
  });

  it('is left to the daemon where none is typed', async () => {
    expect((await shown(QUIET)).asked).toEqual(['GET /api/admin/report']);
  });

  it('is refused where it ends before it begins', async () => {
    const { code, stderr, asked } = await shown(QUIET, ['--since', '02:00', '--until', '01:00']);
    expect([code, asked]).toEqual([64, []]);
    expect(stderr).toContain('the range is empty');
  });
});

describe('the page', () => {
  it('has one line a section after a quiet night', async () => {
    expect((await shown(QUIET)).lines).toEqual([
      '2026-11-20 22:00 to 2026-11-21 06:00 (Asia/Shanghai, 8h)',
      'reasons  none',
      'alerts  none',
      'changes  none',
      'stops  none',
      'polls  realname 1,234,567 (99.8 % succeeded), carddata 1,234,567 (99.8 %',
      '  succeeded), package 1,234,567 (99.8 % succeeded); on time: not known',
      'open now  nothing',
    ]);
  });

  it('has 80 columns and less than 40 lines after the busiest night, and says where the rest is', async () => {
    const { lines } = await shown(BUSY);
    expect(lines.length).toBeLessThan(40);
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(80);
    expect(lines.filter((line) => / and \d+ more: /.test(line))).toEqual([
      '  and 5 more: cardpoll report -o wide --since 22:00',
      '  and 6 more: cardpoll alerts history --since 22:00',
      '  and 6 more: cardpoll audit --since 22:00',
      '  and 3 more: cardpoll stops --since 22:00',
      '  and 2 more: cardpoll report -o wide',
    ]);
  });

  it.each([
    [BUSY.since, BUSY.until, '22:00 --until 06:00'],
    ['2026-11-18T14:00:00.000Z', BUSY.until, '2026-11-18T22:00 --until 06:00'],
    // Both ends do not fit.
    ['2026-11-18T14:00:00.000Z', '2026-11-18T22:00:00.000Z', '2026-11-18T22:00'],
  ])('from %s to %s, which is over, says what to type for the rest', async (since, until, typed) => {
    const { lines } = await shown({ ...BUSY, since, until, generated_at: '2026-11-21T02:00:00.000Z' });
    expect(lines).toContain(`  and 6 more: cardpoll alerts history --since ${typed}`);
    const { env } = await daemonThatSays(json({ items: [], page: 1, page_size: 20, total: 0 }));
    const argv = ['audit', '--since', ...typed.split(' ')];
    expect((await cli(argv, { env: { ...env, ...ZONE } })).code).toBe(0);
  });

  it('has begin, end and cause, who changed what, and what is open, in the zone of the reader', async () => {
    const { stdout } = await shown(BUSY);
    for (const line of [
      'known only from: polls 00:00',
      '  02:00 to 02:10 (10m)  the gateway takes 3.0 s a call, usually 0.05 s',
      'alerts  9 fired, 8 resolved, 1 open',
      '  02:09  open 22m  Health: realname: the gateway takes',
      'changes  825',
      '  02:02  op3         cards.import x2     0 new, 19,980 changed, 3 rows reject',
      '  02:00  operator-0  concurrency.set     task_type realname: max_concurrency',
      'stops  406 done, 208 held, 406 resumed',
      '  carrier 0  100 done, 50 held',
      '  208 stops are held: cardpoll stops list --state held',
      '  mode observe, 7 stops not made: cardpoll stops mode',
      '  1 alert fires, 0 acknowledged: cardpoll alerts',
      '  package is paused until 06:30 by op2: maintenance',
    ])
      expect(stdout).toContain(line);
  });

  it('has another day with its date, and everything uncut with -o wide', async () => {
    const { stdout, lines } = await shown(BUSY, ['-o', 'wide']);
    expect(stdout).toContain('  silence 5: rule 3 until 22:30 by op2');
    expect(stdout).toContain('12 cards wait of 406 to be resumed by op1: wrong readings');
    expect(lines.filter((line) => line.includes(LONG))).toHaveLength(18);
    expect(stdout).not.toContain('more:');
    const { stdout: utc } = await shown(BUSY, [], { env: { CARDPOLL_TIME_ZONE: 'UTC' } });
    expect(utc).toContain('2026-11-20 14:00 to 2026-11-20 22:00 (UTC, 8h)');
    expect((await shown(BUSY, ['-o', 'wide'], { env: { CARDPOLL_TIME_ZONE: 'UTC' } })).stdout).toContain(
      'silence 5: rule 3 until 11-21 14:30 by op2',
    );
  });

  it('says what is not known, and why', async () => {
    const unknown = 'Redis does not answer';
    const body = { ...QUIET, unknown, polls: [], kept_from: { ...QUIET.kept_from, polls: QUIET.until } };
    const { lines } = await shown(body);
    expect(lines[1]).toBe('polls, pauses and the reasons of now are not known: Redis does not answer');
    expect(lines).toContain('polls  not known');
  });

  it('shows a reason without a known start, and counts that are cut', async () => {
    const [first] = BUSY.reasons;
    const reasons = [null, '2026-11-20T18:00:00.000Z'].map((ended_at) => ({
      ...first,
      began_at: null,
      ended_at,
    }));
    const body = { ...QUIET, reasons, stops: { ...BUSY.stops, is_cut: true } } as ShiftReportBody;
    const { lines } = await shown(body);
    expect(lines[2]).toMatch(/^ {2}\? goes on {3}the gateway/);
    expect(lines[3]).toMatch(/^ {2}\? to 02:00 {2}the gateway/);
    expect(lines).toContain('stops  406 done, 208 held, 406 resumed (the latest alone)');
  });
});

describe('for programs', () => {
  it('is the answer of the daemon as JSON and YAML', async () => {
    expect(JSON.parse((await shown(BUSY, ['-o', 'json'])).stdout)).toEqual(BUSY);
    expect((await shown(BUSY, ['-o', 'yaml'])).stdout).toContain('since: 2026-11-20T14:00:00.000Z');
  });

  it('is one event a line with -o tsv', async () => {
    const { lines } = await shown(BUSY, ['-o', 'tsv']);
    expect(lines).toHaveLength(9 + 9 + 1 + 14 + 5 + 3 + 2);
    expect(lines[0]?.split('\t')).toEqual(['reason', night(0), night(10), 'gateway_slow', LONG]);
    expect(lines.find((line) => line.startsWith('import'))?.split('\t')[4]).toContain('19,980 changed');
    expect((await shown(QUIET, ['-o', 'tsv'])).lines).toHaveLength(3);
  });
});
