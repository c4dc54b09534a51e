// `cardpoll plan`: what it asks, and how the answer looks.
import { expect, it } from 'vitest';
import type { PlanBody } from '../../../src/resources/plan.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const task = (task_type: PlanBody['tasks'][number]['task_type']): PlanBody['tasks'][number] => ({
  ...{ task_type, enabled_configs: 1, interval_seconds: null, best_per_second: 2_800.4 },
  ...{ demand_per_second: 2_777.78, planned_per_second: 3_888.89, possible_per_second: 2_380.95 },
  ...{ call_ms: 42, call_ms_from: 'last_seconds', max_concurrency: 100, effective_concurrency: 100 },
  ...{ needed_concurrency: 180, command: `cardpoll concurrency set ${task_type} 180` },
});

const PLAN: PlanBody = {
  generated_at: '2026-11-21T10:00:00.000Z',
  verdict: 'needs',
  text: 'needs: concurrency of carddata 180 (now 100); rate limit all/second of 3889 a second (now 3000 a second)',
  needs: [],
  not_known: ['PostgreSQL: the free space of its disk', 'instances: no instance was busy'],
  assumptions: ['the cards keep their mix of carriers and configs'],
  cards: 5_000_000,
  planned_cards: 7_000_000,
  tasks: [
    { ...task('realname'), demand_per_second: 0, planned_per_second: 0, command: null },
    { ...task('carddata'), interval_seconds: 600 },
    {
      ...task('package'),
      call_ms_from: 'last_day',
      needed_concurrency: null,
      best_per_second: null,
      command: null,
    },
  ],
  rate_limits: [{ id: 'all/second', per_second: 3_000, planned_per_second: 3_888.89 }],
  gateway: { max_concurrency: null, needed_concurrency: null },
  redis: { used_bytes: 4e8, limit_bytes: 2e9, bytes_per_card: 98, planned_bytes: 686e6 },
  database: { bytes: 4e9, bytes_per_card: 800, planned_bytes: 5.6e9 },
  instances: { workers: 3, busy: 0, per_second: 925.93, cpu_percent: 40, at_least: null },
};

it('the verdict comes first, then the task types and what each part takes', async () => {
  const { env, requests } = await daemonThatSays(json(PLAN));
  const argv = ['plan', '--cards', '+2000000', '--interval', 'carddata=10m', '--interval', 'package=1h'];
  const { stdout, code } = await cli(argv, { env: { ...env, NO_COLOR: '1' }, tty: true });
  expect(code).toBe(0);
  expect(requests.map(({ line }) => line)).toEqual([
    'GET /api/admin/plan?add=2000000&interval=carddata%3A600%2Cpackage%3A3600',
  ]);
  expect(stdout.split('\n')).toEqual([
    'needs: concurrency of carddata 180 (now 100); rate limit all/second of 3889 a',
    '  second (now 3000 a second)',
    '  cardpoll concurrency set carddata 180',
    '',
    'TASK      NOW/S  PLANNED/S  BEST/S 1H  POSSIBLE/S  CALL MS  LIMIT  NEEDED',
    'realname      0          0      2,800       2,381       42    100     180',
    'carddata  2,778      3,889      2,800       2,381       42    100     180',
    'package   2,778      3,889          -       2,381       42    100       -',
    'NOW, PLANNED: cards of the enabled configs / interval. BEST: successful polls',
    '  of the best minute. POSSIBLE: limit in force / CALL MS, and the rate limits.',
    '  NEEDED: PLANNED x CALL MS, and a tenth to spare.',
    'CALL MS of package is the average of the last day with polls.',
    '',
    'cards       5,000,000 now, 7,000,000 planned',
    'intervals   carddata every 10m',
    'rate limits all/second: 3,889 of 3,000 calls a second',
    'gateway     calls at a time: not known; gateway.max_concurrency: none',
    'redis       up to 686.0 MB: 98 bytes a card (constant, as the doctor); now 400.0',
    '            MB of 2.0 GB used (INFO memory)',
    'postgresql  5.6 GB: 800 bytes a card (database / cards); now 4.0 GB',
    'instances   not known; now 3, 926 polls a second each (last 5 min), 40 % of a',
    '            core',
    'assumed     the cards keep their mix of carriers and configs',
    'not known   PostgreSQL: the free space of its disk',
    '            instances: no instance was busy',
    '',
  ]);
  expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
});

it.each([
  [['--cards', '7000000'], '?cards=7000000'],
  [['--cards=-500'], '?add=-500'],
  [['--cards', '-500'], '?add=-500'],
  [['--interval', 'realname=2h,package=30m'], '?interval=realname%3A7200%2Cpackage%3A1800'],
  [[], ''],
])('asks with %j', async (argv, query) => {
  const { env, requests } = await daemonThatSays(json(PLAN));
  await cli(['plan', ...argv], { env });
  expect(requests[0]?.line).toBe(`GET /api/admin/plan${query}`);
});

it('prints one line for each task type with -o tsv, and the answer with -o json', async () => {
  const { env } = await daemonThatSays(json(PLAN));
  const { stdout } = await cli(['plan', '-o', 'tsv'], { env });
  expect(stdout.split('\n')[1]).toBe('carddata\t2777.78\t3888.89\t2800.4\t2380.95\t42\t100\t180');
  expect(JSON.parse((await cli(['plan', '-o', 'json'], { env })).stdout)).toEqual(PLAN);
});

it.each([
  [['--cards', '1000000000000'], '--cards: 1000000000000 is out of bounds (up to 1000000000 cards)'],
  [['--cards', '+1000000001'], '--cards: +1000000001 is out of bounds (up to 1000000000 cards)'],
  [['--cards', 'many'], '--cards: "many" is not a number of cards, +N or -N'],
  [['--cards', '1e6'], '--cards: "1e6" is not a number of cards, +N or -N'],
  [
    ['--interval', 'carddata'],
    '--interval: "carddata" is not like carddata=10m (realname, carddata, package)',
  ],
  [['--interval', 'flow=10m'], '--interval: "flow=10m" is not like carddata=10m'],
  [['--interval', 'carddata=0s'], '--interval: carddata 0 seconds is out of bounds (1 to 2592000)'],
])('refuses %j', async (argv, said) => {
  const { code, stderr } = await cli(['plan', ...argv]);
  expect([code, stderr]).toEqual([64, expect.stringContaining(said)]);
});
