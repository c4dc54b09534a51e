// Reading commands: what they ask, and how answers look for programs and for people.
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Interruption } from '../../../src/cli/command.ts';
import { CARD, CONFIG, INIT_STATE, OVERVIEW, task } from './bodies.ts';
import { cli, daemonThatSays, json, NOW } from './cli-under-test.ts';

const ESC = '\u001b';

describe('json and yaml', () => {
  it('prints exactly the body the API sent', async () => {
    const body = '{ "items": [],\n  "unknown_field": 1e3 }';
    const { env } = await daemonThatSays(json(body));
    for (const argv of [
      ['stats', 'tasks', '-o', 'json'],
      ['--json', 'stats', 'tasks'],
      ['stats', '--output=json', 'queues'],
      ['concurrency', '--json'],
      ['configs', 'list', '-o', 'json'],
    ]) {
      expect(await cli(argv, { env }), argv.join(' ')).toEqual({ code: 0, stdout: `${body}\n`, stderr: '' });
    }
  });

  it('prints the same as YAML', async () => {
    const { env } = await daemonThatSays(json(CARD));
    const { stdout } = await cli(['cards', 'show', '42', '-o', 'yaml'], { env });
    expect(parse(stdout)).toEqual(CARD);
  });
});

const PAUSED_SINCE = OVERVIEW.health_reasons[0]?.since ?? '';
const clock = (time: string) => new Date(time).toLocaleTimeString('en-GB', { timeStyle: 'short' });

describe('tables', () => {
  it('are one record a line with -o tsv, with tabs between the values and no header', async () => {
    const { env } = await daemonThatSays(json(OVERVIEW));
    const { stdout } = await cli(['stats', '-o', 'tsv'], { env });
    expect(stdout.split('\n')).toEqual([
      'realname\tnormal\t12345\t60\t100\t55.25\t99\t120.5\t990\t10\t90\t50\t5\t7\t110\t250.5\t99\t120.5\t110\t250.5\t118',
      'carddata\twarning\t12345\t60\t100\t55.25\t99\t50\t990\t10\t90\t50\t5\t7\t110\t250.5\t99\t120.5\t110\t250.5\t118',
      'package\talert\t12345\t60\t100\t55.25\t-\t-\t990\t10\t90\t50\t5\t7\t110\t250.5\t-\t120.5\t110\t250.5\t118',
      '',
    ]);
  });

  it('name the carriers that fail between the reasons and the cards, and for programs the cards alone', async () => {
    const at = new Date(NOW - 60_000).toISOString();
    const failing = { card_id: 42, at, reason: 'http', message: 'HTTP 500', duration_ms: 12, attempts: 3 };
    const none = { task_type: 'package', reasons: [], carriers: [], failing_cards: 0, cards: [] };
    const carddata = {
      task_type: 'carddata',
      reasons: [{ reason: 'http', count: 1_200 }],
      carriers: [{ carrier_id: 460_011, polls: 1_250, failed: 1_200, failed_percent: 96 }],
      failing_cards: 1,
      cards: [failing],
    };
    const { env } = await daemonThatSays(json({ items: [carddata, none] }));
    const { stdout } = await cli(['stats', 'failures'], { env: { ...env, NO_COLOR: '1' }, tty: true });
    expect(stdout.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['TASK', 'FAILURES 5MIN', 'REASON'],
      ['carddata', '1,200', 'http'],
      [''],
      ['TASK', 'CARRIER', 'POLLS 5MIN', 'FAILED', 'FAILED %'],
      ['carddata', '460011', '1,250', '1,200', '96.0'],
      [''],
      ['1 failing card'],
      [''],
      ['TASK', 'CARD', 'FAILED', 'REASON', 'IN A ROW', 'MS', 'MESSAGE'],
      ['carddata', '42', '1m ago', 'http', '3', '12', 'HTTP 500'],
      [''],
    ]);
    const piped = await cli(['stats', 'failures', '-o', 'tsv'], { env });
    expect(piped.stdout).toBe(`carddata\t42\t${at}\thttp\t3\t12\tHTTP 500\n`);
  });

  it('are aligned under a header on a terminal, health by symbol, word and colour', async () => {
    const { env } = await daemonThatSays(json(OVERVIEW));
    const { stdout } = await cli(['stats'], { env: { ...env, TERM: 'xterm' }, tty: true });
    expect(stdout).toContain(`${ESC}[31m✖ alert${ESC}[39m: package: paused`);
    expect(stdout).toContain(`${ESC}[33m▲ warning${ESC}[39m`);
    expect(stdout).toContain(`${ESC}[32m● normal${ESC}[39m`);
    expect(stripVTControlCharacters(stdout).split('\n')).toEqual([
      `✖ alert: package: paused by the gateway for 60 s more: HTTP 429 (since ${clock(PAUSED_SINCE)})`,
      '  cardpoll resume package',
      '',
      'TASK      HEALTH      QUEUE  MANUAL  BACKOFF  RUNNING  /S 10S  /S 5MIN  OK %',
      'realname  ● normal   12,345       5        7   60/100    50.0     55.3  99.0',
      'carddata  ▲ warning  12,345       5        7   60/100    50.0     55.3  99.0',
      'package   ✖ alert    12,345       5        7   60/100    50.0     55.3     -',
      '-o wide also shows P50/P95 MS, AVG MS, LAG, SUCCEEDED, FAILED',
      '',
      'capacity   realname 278/s of 833/s (66 % free), carddata 278/s of 833/s (66 %',
      '           free), package 278/s of 833/s (66 % free), backlog grows at this',
      '           rate: raise the limit of realname to 180',
      'init       running  25 %, 250,000 of 1,000,000 cards, 1h 5m left',
      'instances  ✖ none is alive',
      'gateway    ● up, 24 ms, 100 % ok',
      'stops      enforce, 12 of 100 in 1 h, 340 of 500 in 24 h',
      'on time    99.8 % of the polls of the last hour were on time; worst carrier 2:',
      '           97 %',
      '',
    ]);
  });

  it('show an hour that comes twice with its offset, and no time before the one asked for', async () => {
    const item = { task_type: 'carddata', polls: 100, failed: 25, carrier_id: 2, failed_percent: 25 };
    const [first, second] = ['2026-10-25T00:00:00.000Z', '2026-10-25T01:00:00.000Z'];
    const body = {
      ...{ since: '2026-10-25T00:20:00.000Z', until: '2026-10-25T03:00:00.000Z', kept_from: null },
      items: [first, second, '2026-10-25T02:00:00.000Z'].map((at) => ({ ...item, at })),
    };
    const { env } = await daemonThatSays(json(body));
    const argv = ['stats', 'failures', '--since', '2026-10-25T00:20:00Z', '--until', '2026-10-25T03:00:00Z'];
    const { stdout } = await cli(argv, { env: { ...env, CARDPOLL_TIME_ZONE: 'Europe/Berlin' } });
    expect(stdout.match(/^2026-10-25 .*(?= carddata)/gm)?.map((hour) => hour.trim())).toEqual([
      '2026-10-25 02:20 +02:00',
      '2026-10-25 02:00 +01:00',
      '2026-10-25 03:00',
    ]);
  });

  it('show maintenance of the next hour, and carriers that are in maintenance now', async () => {
    const window = { task_type: null, carrier_id: null, by: 'op2', reason: 'vendor window' };
    const maintenance = [
      { ...window, id: 3, carrier_id: 2, state: 'running', starts_at: '2026-11-21T09:00:00.000Z' },
      { ...window, id: 4, task_type: 'package', state: 'planned', starts_at: '2026-11-21T10:42:00.000Z' },
      // A pause says it.
      { ...window, id: 5, state: 'running', starts_at: '2026-11-21T09:00:00.000Z' },
    ].map((one) => ({ ...one, ends_at: '2026-11-21T13:12:00.000Z' }));
    const { env } = await daemonThatSays(json({ ...OVERVIEW, maintenance }));
    const { stdout } = await cli(['stats'], { env: { ...env, NO_COLOR: '1' }, tty: true });
    expect(stdout.split('\n').filter((line) => /^window/.test(line))).toEqual([
      'window     ■ all task types of carrier 2 3h 12m left  maintenance 3 by op2:',
      'window     ■ package in 42m for 2h 30m  maintenance 4 by op2: vendor window',
    ]);
  });

  it('show the failures of a time by hour and carrier', async () => {
    const item = { at: '2026-11-21T01:00:00.000Z', task_type: 'carddata', polls: 100, failed: 25 };
    const body = {
      ...{ since: '2026-11-21T01:00:00.000Z', until: '2026-11-21T02:00:00.000Z', kept_from: null },
      items: [
        { ...item, carrier_id: 2, failed_percent: 25 },
        { ...item, carrier_id: null, failed_percent: 25 },
      ],
    };
    const { env, requests } = await daemonThatSays(json(body));
    const argv = ['stats', 'failures', '--since', '01:00', '--until', '02:00'];
    const zoned = { ...env, CARDPOLL_TIME_ZONE: 'UTC' };
    const rows = async (over: object, ...more: string[]) =>
      (await cli([...argv, ...more], { env: { ...zoned, ...over } })).stdout
        .split('\n')
        .map((line) => line.trim().split(/ {2,}|\t/));
    expect(await rows({})).toEqual([
      ['since 2026-11-21T01:00:00+00:00 until 2026-11-21T02:00:00+00:00 (UTC)'],
      ['HOUR', 'TASK', 'CARRIER', 'POLLS', 'FAILED', 'FAILED %'],
      ['2026-11-21 01:00', 'carddata', '2', '100', '25', '25.0'],
      ['2026-11-21 01:00', 'carddata', 'others', '100', '25', '25.0'],
      [''],
    ]);
    // In the zone in which the times were typed; for programs in UTC.
    expect((await rows({ CARDPOLL_TIME_ZONE: 'Asia/Kolkata' }))[2]?.[0]).toBe('2026-11-21 06:30');
    expect((await rows({ CARDPOLL_TIME_ZONE: 'Asia/Kolkata' }, '-o', 'tsv'))[0]?.[0]).toBe(
      '2026-11-21T01:00:00.000Z',
    );
    expect(decodeURIComponent(requests[0]?.line ?? '')).toBe(
      'GET /api/admin/polling-stats/failures/hours?since=2026-11-21T01:00:00.000Z&until=2026-11-21T02:00:00.000Z',
    );
    for (const wrong of [
      ['stats', '--since', '2h'],
      ['stats', 'failures', '--until', '1h'],
    ])
      expect((await cli(wrong, { env: zoned })).code, wrong.join(' ')).toBe(64);
  });

  it('show the end of a month, and so does the list of stops', async () => {
    const month_end = { time_zone: 'UTC', stopped: 406, resumes_at_start: false };
    const overview = { ...OVERVIEW, month_end: { ...month_end, turns_at: '2026-11-23T14:00:00.000Z' } };
    const stops = { items: [], page: 1, page_size: 20, total: 0 };
    const { env } = await daemonThatSays((request, response) =>
      json(request.line.includes('/stops') ? stops : overview)(request, response),
    );
    const { stdout } = await cli(['stats'], { env: { ...env, NO_COLOR: '1' }, tty: true });
    expect(stdout).toMatch(/^month ends in 2d 4h by UTC; then 406 cards stay stopped:/m);
    const nowMs = Date.parse('2026-11-28T10:00:00Z');
    const zoned = { ...env, CARDPOLL_TIME_ZONE: 'UTC' };
    expect((await cli(['stops'], { env: zoned, nowMs })).stderr).toMatch(
      /^the month ends in 2d 4h by UTC; then/,
    );
    expect((await cli(['stops'], { env: zoned })).stderr, 'on the 21st').not.toContain('the month ends');
    expect((await cli(['stops', '-o', 'json'], { env: zoned, nowMs })).stderr).toBe('');
  });

  it('do not show the rates of a small fleet as 0', async () => {
    const tasks = OVERVIEW.tasks.map((one) => ({
      ...one,
      rate_per_second: 0.03,
      capacity: { ...one.capacity, demand_per_second: 0.4 },
    }));
    const { env } = await daemonThatSays(json({ ...OVERVIEW, tasks }));
    const { stdout } = await cli(['stats'], { env: { ...env, NO_COLOR: '1' }, tty: true });
    expect(stdout).toContain('realname 0.4/s of 833/s');
    expect(stdout).toMatch(/^realname .* 0\.03 {2}99\.0$/m);
  });

  it.each([
    [99.96, /^realname .* 99\.9$/m],
    [0.04, /^realname .* 0\.04$/m],
  ])('never show a share of %f as all or none', async (percent, row) => {
    const tasks = OVERVIEW.tasks.map((one) => ({ ...one, success_rate: percent, success_rate_10s: percent }));
    const { env } = await daemonThatSays(json({ ...OVERVIEW, tasks }));
    const { stdout } = await cli(['stats'], { env: { ...env, NO_COLOR: '1' }, tty: true });
    expect(stdout).toMatch(row);
  });

  it('show a demand of one poll an hour as more than none', async () => {
    const tasks = OVERVIEW.tasks.map((one) => ({
      ...one,
      capacity: { ...one.capacity, demand_per_second: 0.000_28 },
    }));
    const { env } = await daemonThatSays(json({ ...OVERVIEW, tasks }));
    const { stdout } = await cli(['stats'], { env: { ...env, NO_COLOR: '1' }, tty: true });
    expect(stdout).toContain('realname 0.0003/s of 833/s');
  });

  it.each<[string, Partial<typeof OVERVIEW.stops>, string, boolean]>([
    ['held', { held: 28 }, 'enforce, 12 of 100 in 1 h, 340 of 500 in 24 h, 28 held', true],
    [
      'only observed',
      { mode: 'observe', observed: 1_200 },
      'observe, 1,200 cards would have been stopped, none was',
      true,
    ],
    [
      'too many to count',
      { held: 100_000 },
      'enforce, 12 of 100 in 1 h, 340 of 500 in 24 h, 100,000+ held',
      true,
    ],
    ['without a limit', { budget_hour: null, budget_day: null }, 'enforce, 12 in 1 h, 340 in 24 h', false],
    ['not known', { mode: null, held: null }, 'not known', false],
  ])('show stops that are %s, in yellow if an operator should look', async (_, stops, line, isYellow) => {
    const body = { ...OVERVIEW, stops: { ...OVERVIEW.stops, ...stops } };
    const { env } = await daemonThatSays(json(body));
    const { stdout } = await cli(['stats'], { env: { ...env, TERM: 'xterm' }, tty: true });
    const name = `\n${ESC}[2mstops      ${ESC}[22m`;
    expect(stdout).toContain(`${name}${isYellow ? `${ESC}[33m${line}${ESC}[39m` : line}\n`);
  });

  it('begin with the first reason of the daemon: since when and why the gateway is down', async () => {
    const breaker = {
      interface: 'gateway',
      breaker: 'open',
      since: '2026-11-21T09:56:00.000Z',
      reason: 'connect ECONNREFUSED',
      next_probe_at: '2026-11-21T10:00:53.000Z',
      instances: 1,
    } as const;
    const reason = {
      severity: 'alert',
      text: 'the gateway refuses connections: ECONNREFUSED',
      command: 'cardpoll doctor',
      task_type: 'realname',
      caused_by: null,
      since: breaker.since,
    } as const;
    const down = {
      ...OVERVIEW,
      gateway: { interfaces: [breaker] },
      health_reasons: [{ ...reason, code: 'breaker_open' }, ...OVERVIEW.health_reasons],
    };
    const { env } = await daemonThatSays(json(down));
    const { stdout } = await cli(['stats'], { env: { ...env, NO_COLOR: '1' }, tty: true });
    expect(stdout.split('\n').slice(0, 5)).toEqual([
      `✖ alert: the gateway refuses connections: ECONNREFUSED (since ${clock(breaker.since)})`,
      '  cardpoll doctor',
      `✖ package: paused by the gateway for 60 s more: HTTP 429 (since ${clock(PAUSED_SINCE)})`,
      '  cardpoll resume package',
      '',
    ]);
    // It is a cause already.
    expect(stdout).not.toMatch(/^gateway /m);
  });

  it.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('have no colours with %o', async (extra) => {
    const { env } = await daemonThatSays(json(OVERVIEW));
    const { stdout } = await cli(['stats'], { env: { ...env, ...extra }, tty: true });
    expect(stdout).toContain('✖ alert');
    expect(stdout).not.toContain(ESC);
  });

  it.each([
    [{ LC_ALL: 'C' }, 'x alert: '],
    [{ LC_ALL: '', LANG: 'POSIX' }, 'x alert: '],
    [{ LC_ALL: 'C.UTF-8' }, '✖ alert: '],
    [{ LANG: 'de_DE.UTF-8' }, '✖ alert: '],
    [{}, '✖ alert: '],
  ])('have symbols that the locale %o can show', async (locale, beginning) => {
    const { env } = await daemonThatSays(json(OVERVIEW));
    const { stdout } = await cli(['stats'], { env: { ...env, ...locale } });
    expect(stdout.startsWith(beginning)).toBe(true);
    expect(/[^ -~\n]/.test(stdout)).toBe(beginning.startsWith('✖'));
  });

  it('show times relative to now on a terminal and as they are elsewhere', async () => {
    const { env } = await daemonThatSays(
      json({ card: CARD, tasks: [], stops: [], logs_command: 'cardpoll logs' }),
    );
    const terminal = await cli(['cards', 'show', '42'], { env: { ...env, NO_COLOR: '1' }, tty: true });
    expect(terminal.stdout).toMatch(/^realname polled +2m ago$/m);
    expect(terminal.stdout).toMatch(/^realname next +in 1h$/m);
    expect(terminal.stdout).toMatch(/^carddata polled +-$/m);
    const pipe = await cli(['cards', 'show', '42'], { env });
    expect(pipe.stdout).toContain('realname polled     2026-11-21T09:58:00.000Z\n');
  });

  it('count wide characters twice and let no name steer the terminal', async () => {
    const { env } = await daemonThatSays(json({ items: [CONFIG] }));
    const { stdout } = await cli(['configs'], { env: { ...env, NO_COLOR: '1' }, tty: true, columns: 120 });
    expect(stdout.split('\n')).toEqual([
      'ID  NAME           TASK      CARDS  CARRIER  INTERVAL  ACHIEVED    MEMBERS  PRIORITY  STATUS',
      ' 3  流量检查 [31m  carddata  any        all       30m       30m  1,000,000         0  enabled',
      '',
    ]);
  });
});

describe('requests', () => {
  it.each([
    [['stats'], 'GET /api/admin/polling-stats', OVERVIEW],
    [['stats', 'queues'], 'GET /api/admin/polling-stats/queues', { items: [task('package')] }],
    [['stats', 'init'], 'GET /api/admin/polling-stats/init-progress', INIT_STATE],
    [['init'], 'GET /api/admin/polling-stats/init-progress', INIT_STATE],
    [['concurrency', 'list'], 'GET /api/admin/polling-concurrency', { items: [] }],
    [['cards', 'show', '../x', '-o', 'json'], 'GET /api/admin/cards/..%2Fx', CARD],
  ])('%j asks %s', async (argv, line, body) => {
    const { env, requests } = await daemonThatSays(json(body));
    expect(await cli(argv, { env })).toMatchObject({ code: 0, stderr: '' });
    expect(requests.map((request) => request.line)).toEqual([line]);
  });

  it('carry the token', async () => {
    const { env, requests } = await daemonThatSays(json(OVERVIEW));
    await cli(['stats'], { env: { ...env, CARDPOLL_TOKEN: 'viewer-token-0001' } });
    expect(requests[0]?.headers.authorization).toBe('Bearer viewer-token-0001');
  });
});

it('stats --watch shows the numbers again until it is interrupted', async () => {
  const interrupt = new AbortController();
  const { env, requests } = await daemonThatSays((request, response) => {
    if (requests.length === 2) interrupt.abort(new Interruption(130));
    json(OVERVIEW)(request, response);
  });
  const { code, stdout, stderr } = await cli(['stats', '--watch'], { env, signal: interrupt.signal });
  expect(code).toBe(130);
  expect(stderr).toBe('');
  expect(stdout.match(/^realname +[●▲✖]/gm)).toHaveLength(1);
  expect(requests).toHaveLength(2);
});

describe('stats --watch over a daemon that is away for a while', () => {
  /** Answers, then not, then again; interrupts with the answer after that. */
  async function watched(tty: boolean) {
    const interrupt = new AbortController();
    const { env, requests } = await daemonThatSays((request, response) => {
      if (requests.length === 4) interrupt.abort(new Interruption(130));
      const away = requests.length === 2;
      json(away ? { title: 'store away' } : OVERVIEW, away ? 503 : 200)(request, response);
    });
    const argv = ['stats', '--watch=1'];
    return cli(argv, { env: { ...env, NO_COLOR: '1' }, tty, signal: interrupt.signal });
  }

  it('keeps the last answer on a terminal, marked as stale, and draws in place', async () => {
    const { code, stdout } = await watched(true);
    expect(code).toBe(130);
    const [first = '', stale = '', again = ''] = stdout.split(new RegExp(`${ESC}\\[\\d+A\\r`));
    expect(first).toMatch(/^✖ alert: /);
    expect(stripVTControlCharacters(stale)).toMatch(
      /^✖ STALE: no answer for .* since \d\d:\d\d: store away[\s\S]*TASK/,
    );
    expect(again).toMatch(/^✖ alert: /);
    expect(stdout).not.toContain(`${ESC}[3J`);
    expect(stdout).not.toContain(`${ESC}[2J`);
  });

  it('says behind a pipe once that it waits, and when it is over', async () => {
    const { stdout, stderr } = await watched(false);
    expect(stderr).toBe('cardpoll: store away; waiting for the daemon\ncardpoll: the daemon answers again\n');
    expect(stdout.match(/^realname +[●▲✖]/gm)?.length).toBe(2);
  });

  it('does not begin without an answer', async () => {
    const { env } = await daemonThatSays(json({ title: 'store away' }, 503));
    expect(await cli(['stats', '--watch'], { env })).toMatchObject({ code: 69, stdout: '' });
  });
});

const LEVEL = { avg_duration_ms: 50, backpressure_percent: 0, at: '2026-11-21T10:00:00.000Z' };
const KNEE = { ...LEVEL, concurrency: 60, rate_per_second: 1_180 };
const LIMITS = {
  items: [
    {
      task_type: 'realname',
      max_concurrency: 50,
      current: 0,
      effective_concurrency: 50,
      reason: null,
      curve: [],
      knee: null,
    },
    {
      task_type: 'carddata',
      max_concurrency: 100,
      current: 60,
      effective_concurrency: 84,
      reason: '12 % of 340 calls were refused (429 or 503)',
      curve: [
        { ...LEVEL, concurrency: 30, rate_per_second: 590.4 },
        KNEE,
        {
          ...LEVEL,
          concurrency: 96,
          rate_per_second: 1_190,
          avg_duration_ms: 81.2,
          backpressure_percent: 0.44,
        },
      ],
      knee: KNEE,
    },
    {
      task_type: 'package',
      max_concurrency: 51,
      current: 0,
      effective_concurrency: 51,
      reason: null,
      curve: [KNEE],
      knee: null,
    },
  ],
};

it('concurrency advise shows the advice of the daemon, and why', async () => {
  const advice = { remedy: null, recommended: { min: 100, max: 200 } } as const;
  const raise = {
    ...advice,
    verdict: 'raise',
    max_concurrency: 187,
    why: '224 polls a second need 187',
  } as const;
  const unknown = {
    ...advice,
    verdict: 'unknown',
    max_concurrency: 51,
    recommended: null,
    why: 'paused',
  } as const;
  const tasks = [
    task('realname', { avg_duration_ms_10s: 99, advice: raise }),
    task('package', { avg_duration_ms_10s: null, advice: unknown }),
  ];
  const { env } = await daemonThatSays(json({ ...OVERVIEW, tasks }));
  const { stdout } = await cli(['concurrency', 'advise', '-o', 'tsv'], { env });
  expect(stdout.trimEnd().split('\n')).toEqual([
    'realname\t99\t100\t100-200\traise\t224 polls a second need 187\t187',
    'package\t-\t100\t-\tunknown\tpaused\t51',
  ]);
  const people = await cli(['concurrency', 'advise'], { env: { ...env, NO_COLOR: '1' }, tty: true });
  expect(people.stdout).toMatch(/^realname +99 +100 +100-200 +raise +187$/m);
  expect(people.stdout).toContain('\nrealname: 224 polls a second need 187\n');
});

it.each([
  [{ success_rate: 96.1, success_rate_10s: 40 }, /40\.0 \(5 min 96\.1\)/],
  [{ avg_duration_ms: 886, avg_duration_ms_10s: 3_010 }, /3,010 \(5 min 886\)/],
])('stats shows what is so now, and the figure of five minutes where it differs: %j', async (over, cell) => {
  const { env } = await daemonThatSays(json({ ...OVERVIEW, tasks: [task('realname', over)] }));
  const shown = await cli(['stats', '-o', 'wide'], {
    env: { ...env, NO_COLOR: '1' },
    tty: true,
    columns: 200,
  });
  expect(shown.stdout).toMatch(cell);
});

it('concurrency list shows the effective limit next to the configured one, and why', async () => {
  const { env } = await daemonThatSays(json(LIMITS));
  const { stdout } = await cli(['concurrency'], { env: { ...env, NO_COLOR: '1' }, tty: true });
  expect(stdout).toMatch(/TASK +LIMIT +RUNNING +EFFECTIVE +REASON/);
  expect(stdout).toMatch(/^carddata +100 +60 +84 +12 % of 340 calls were refused \(429 or 503\)$/m);
});

it.each([
  [[], /^there is no card yet: cardpoll cards import FILE\n$/, '/api/admin/cards?after_id=0&limit=20'],
  [
    ['--stopped', 'no', '--vendor-id', 'v-1'],
    /^no card matches\n$/,
    '/api/admin/cards?stopped=false&vendor_id=v-1&after_id=0&limit=20',
  ],
])(
  'cards list %j says whether the fleet is empty or the filter leaves no card',
  async (filter, said, asked) => {
    const { env, requests } = await daemonThatSays(json({ items: [], next_after_id: null }));
    const { stdout } = await cli(['cards', 'list', ...filter], { env, tty: true });
    expect(stdout).toMatch(said);
    expect(requests.map(({ line }) => line)).toEqual([`GET ${asked}`]);
  },
);
