// `cardpoll explain` and `cards show -v`: what they print, for people and for programs.
import { expect, it } from 'vitest';
import { perTaskType } from '../../../src/domain/task-type.ts';
import type { ExplanationBody } from '../../../src/resources/explanation.ts';
import { CARD } from './bodies.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const AT = '2026-11-21T09:58:00.000Z';
const HOSTILE = `VIP \x1b[2J\u202eevil ${'long '.repeat(30)}`;

const task = (over: Partial<ExplanationBody['tasks'][number]>): ExplanationBody['tasks'][number] => ({
  task_type: 'realname',
  state: 'scheduled',
  text: 'is due in 58 s',
  command: null,
  config: { id: 1, name: HOSTILE, interval_seconds: 60 },
  other_configs: [{ id: 2, name: '认证', reason: 'is for verified cards, the card is not verified' }],
  ring: { bucket: 12, buckets: 1_024, member: true },
  next_due_at: AT,
  overdue_seconds: null,
  cards_before: null,
  expected_in_seconds: null,
  last_succeeded_at: null,
  last_failure: null,
  ...over,
});

const BODY: ExplanationBody = {
  generated_at: '2026-11-21T10:00:00.000Z',
  card: {
    ...CARD,
    iccid: '89860000000000000042',
    real_name_verified: false,
    allowance_mb: 500,
    used_mb_month: 501.50000000000006,
    last_polled_at: { ...perTaskType(() => null), carddata: AT },
    next_due_at: { ...perTaskType(() => null), carddata: AT },
  },
  tasks: [
    task({
      state: 'due',
      text: 'is overdue 38 s: 10,434 cards are before it, about 2 min',
      command: 'cardpoll concurrency advise',
      last_failure: {
        at: AT,
        reason: 'timeout',
        message: 'no answer\nwithin the deadline',
        duration_ms: 5_000.4,
        attempts: 3,
        next_try_at: null,
      },
    }),
    task({ task_type: 'carddata', last_succeeded_at: AT }),
    task({ task_type: 'package', state: 'unmatched', config: null, ring: null, next_due_at: null }),
  ],
  usage: [{ month: '2026-11', used_mb: 501.50000000000006 }],
  stops: [{ at: AT, action: 'stopped', detail: '501.5 of 500 MB used in 2026-11' }],
  open_triggers: [{ trigger_id: 't-1', kind: 'single', task_type: 'realname', created_at: AT }],
  logs_commands: [],
  allowance: { at: AT, imported_by: ['op3'], audit_id: 12 },
  logs_command: 'cardpoll logs --roots /var/log/cardpoll --iccid 89860000000000000042',
  logs_on: ['app1', 'app2', 'app3', 'app4', 'app5'],
  logs_directory: '/var/log/cardpoll',
};

it.each([[['explain', '42']], [['cards', 'show', '42', '-v']]])(
  '%j prints all details on a terminal',
  async (argv) => {
    const { env, requests } = await daemonThatSays(json(BODY));
    const { code, stdout } = await cli(argv, { env: { ...env, NO_COLOR: '1' }, tty: true });
    expect([code, requests.map(({ line }) => line)]).toEqual([0, ['GET /api/admin/cards/42/explain']]);
    const lines = stdout.split('\n');
    expect(lines[0]).toBe('card 42');
    expect(stdout).toContain('STOPPED');
    expect(lines).toContain('  allowance 500 MB: imported 2m ago by op3 (audit entry 12)');
    expect(lines).toContain('▲ realname is overdue 38 s: 10,434 cards are before it, about 2 min');
    expect(lines).toContain('  cardpoll concurrency advise');
    expect(stdout).toContain('last failure 2m ago, 3 in a row: timeout after 5000 ms');
    expect(stdout).toContain('config 2 (认证) does not apply: it is for verified cards');
    expect(lines).toContain('● carddata is due in 58 s');
    expect(stdout).toMatch(/used\s+501\.5 of 500 MB/);
    expect(lines).toContain('usage: 2026-11 501.5 MB');
    expect(stdout).toMatch(/stopped 2m ago: 501.5 of 500 MB/);
    expect(stdout).toContain('open trigger t-1 (single, realname)');
    expect(lines).toContain('log lines, on app1, app2, app3 and 2 more:');
    expect(lines).toContain('  cardpoll logs --roots /var/log/cardpoll --iccid 89860000000000000042');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).not.toContain('\x1b');
    expect(stdout).not.toContain('\u202e');
  },
);

it.each([
  [
    { logs_commands: [{ command: "journalctl --unit 'cardpoll*' --grep 8986", hosts: ['app1'] }] },
    'log lines, on standard output of the daemon on app1; under systemd:',
  ],
  [
    { allowance: { at: AT, imported_by: ['op3', 'op4'], audit_id: null } },
    `  allowance 500 MB: imported ${AT} by op3 or op4`,
  ],
  [
    { allowance: { at: AT, imported_by: [], audit_id: null } },
    `  allowance 500 MB: set ${AT}, by whom is not known`,
  ],
  [{ logs_on: undefined, logs_directory: undefined }, 'log lines:'],
])('says of %j: %s', async (logs, said) => {
  const { env } = await daemonThatSays(json({ ...BODY, ...logs }));
  expect((await cli(['explain', '42'], { env })).stdout.split('\n')).toContain(said);
});

it('counts no failures in a row after a success', async () => {
  const [first] = BODY.tasks as [ExplanationBody['tasks'][number]];
  const last_failure = first.last_failure && { ...first.last_failure, attempts: 0 };
  const { env } = await daemonThatSays(json({ ...BODY, tasks: [{ ...first, last_failure }] }));
  expect((await cli(['explain', '42'], { env, tty: true })).stdout).toContain('last failure 2m ago: timeout');
});

it.each([
  [['cards', 'show', '42'], /real name verified +not offered/, /real name verified +no$/m],
  [['explain', '42'], /real name not offered/, /not verified,/],
])('%j does not say that a card is unverified which no poll can verify', async (argv, offered, said) => {
  const [first, ...others] = BODY.tasks as [ExplanationBody['tasks'][number]];
  const body = { ...BODY, tasks: [{ ...first, state: 'not_offered' as const }, ...others] };
  const { env } = await daemonThatSays(json(body));
  expect((await cli(argv, { env })).stdout).toMatch(offered);
  const known = await daemonThatSays(json(BODY));
  expect((await cli(argv, { env: known.env })).stdout).toMatch(said);
});

it('cards show says when and why the card was stopped last, or resumed', async () => {
  const stops = [
    {
      at: AT,
      action: 'stopped and resumed',
      detail: `501.5 of 500 MB used in 2026-11; by order of ann: ${HOSTILE}`,
    },
    { at: '2026-10-21T09:58:00.000Z', action: 'stopped', detail: '700 of 500 MB used in 2026-10' },
  ];
  const { env } = await daemonThatSays(json({ ...BODY, stops }));
  const { stdout } = await cli(['cards', 'show', '42'], { env: { ...env, NO_COLOR: '1' }, tty: true });
  expect(stdout).toMatch(
    /^last stop +stopped and resumed 2m ago: 501\.5 of 500 MB used in 2026-11; by order of ann: VIP/m,
  );
  expect(stdout).toMatch(/^used 2026-11 +501\.5 MB$/m);
  expect(stdout).not.toContain('2026-10');
  expect(stdout).not.toContain('\x1b');
  expect(stdout).not.toContain('\u202e');
  const never = await daemonThatSays(json({ ...BODY, stops: [] }));
  expect((await cli(['cards', 'show', '42'], { env: never.env })).stdout).not.toContain('last stop');
});

it('has one record for each task type, and the whole answer as JSON', async () => {
  const { env } = await daemonThatSays(json(BODY));
  const { stdout } = await cli(['explain', '42', '-o', 'tsv'], { env });
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  expect(rows.map(([taskType, state]) => [taskType, state])).toEqual([
    ['realname', 'due'],
    ['carddata', 'scheduled'],
    ['package', 'unmatched'],
  ]);
  expect(rows.every((row) => row.length === 6)).toBe(true);
  expect(JSON.parse((await cli(['explain', '42', '-o', 'json'], { env })).stdout)).toEqual(BODY);
});

it('ends with 1 for a card there is not', async () => {
  const problem = { title: 'Not Found', status: 404, code: 'card_not_found', detail: 'there is no card 7' };
  const { env } = await daemonThatSays(json(problem, 404));
  const { code, stdout, stderr } = await cli(['explain', '7'], { env });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/there is no card 7/);
});

it('says once why a breaker holds all task types back', async () => {
  const text = 'the gateway is held back for 3 min: ECONNREFUSED, next probe in 12 s';
  const held = (task_type: 'realname' | 'carddata' | 'package') =>
    task({ task_type, state: 'held', text, command: 'cardpoll doctor' });
  const tasks = [held('realname'), held('carddata'), held('package')];
  const { env } = await daemonThatSays(json({ ...BODY, tasks }));
  const { stdout } = await cli(['explain', '42'], { env });
  expect(stdout.match(/ECONNREFUSED/g)).toHaveLength(1);
  expect(stdout.match(/cardpoll doctor/g)).toHaveLength(1);
  expect(stdout).toContain('✖ carddata is held back for the same reason as realname\n');
  expect(stdout).toContain('✖ package is held back for the same reason as realname\n');
  const records = (await cli(['explain', '42', '-o', 'tsv'], { env })).stdout;
  expect(records.match(/ECONNREFUSED/g), 'each record is complete').toHaveLength(3);
});
