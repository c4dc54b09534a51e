// `cardpoll trigger`: what it sends, when it asks, what it reads from files, how waiting ends.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Interruption } from '../../../src/cli/command.ts';
import type { TriggerBody } from '../../../src/resources/triggers.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { CARD } from './bodies.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const directory = temporaryDirectory('trigger');

const TRIGGER: TriggerBody = {
  trigger_id: '5f0c2a9be17d4c33',
  kind: 'by_condition',
  task_type: 'carddata',
  status: 'running',
  selection: { carrier_id: 7, status: null },
  total: 1_000,
  total_estimated: true,
  waiting: 700,
  early: 0,
  early_until: null,
  running: 10,
  succeeded: 280,
  failed: 10,
  created_at: '2026-11-21T09:59:00.000Z',
  finished_at: null,
};
const DONE: TriggerBody = {
  ...TRIGGER,
  status: 'completed',
  succeeded: 1_000,
  failed: 0,
  waiting: 0,
  running: 0,
};
const BASE = '/api/admin/polling-manual-trigger';

function fileWith(text: string): string {
  const file = join(directory, 'ids.txt');
  writeFileSync(file, text);
  return file;
}

describe('requests', () => {
  const batch = { ...TRIGGER, kind: 'batch', selection: null, unknown_card_ids: [] };
  it.each([
    [['single', '--card-id', '42', '--task', 'realname'], '/single', { card_id: 42, task_type: 'realname' }],
    [
      ['batch', '--card-ids', '3,1,3', '--task', 'package'],
      '/batch',
      { card_ids: [3, 1], task_type: 'package' },
    ],
    [
      ['by-condition', '--task', 'carddata', '--status', '1', '--yes'],
      '/by-condition',
      { task_type: 'carddata', status: 1 },
    ],
    [['by-condition', '--task', 'carddata', '--yes'], '/by-condition', { task_type: 'carddata' }],
    [['cancel', TRIGGER.trigger_id], '/cancel', { trigger_id: TRIGGER.trigger_id }],
  ])('%j posts to %s %j', async (argv, path, body) => {
    const { env, requests } = await daemonThatSays(json(batch, 202));
    expect(await cli(['trigger', ...argv], { env })).toMatchObject({ code: 0, stderr: '' });
    expect(requests.map((request) => [request.line, JSON.parse(request.body)])).toEqual([
      [`POST ${BASE}${path}`, body],
    ]);
  });

  it('reads card ids from a file, however they are laid out', async () => {
    const { env, requests } = await daemonThatSays(json(batch, 202));
    const file = fileWith('\uFEFF5\r\n7, 9;11\n\n5\t13\n');
    expect((await cli(['trigger', 'batch', '--file', file, '--task', 'package'], { env })).code).toBe(0);
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ card_ids: [5, 7, 9, 11, 13] });
  });
});

it.each([
  [3, '3'],
  [10_000, '10,000 or more'],
])('status says until when %d cards are too early for the gateway', async (early, shown) => {
  const body = { ...TRIGGER, early, early_until: '2026-11-21T10:15:00.000Z' };
  const { env } = await daemonThatSays(json(body));
  const { stdout } = await cli(['trigger', 'status', TRIGGER.trigger_id], { env });
  expect(stdout).toMatch(new RegExp(`too early +${shown}\\nthe last until +2026-11-21T10:15:00.000Z\\n`));
});

it('a batch with a card that does not exist ends with 1', async () => {
  const { env } = await daemonThatSays(json({ ...TRIGGER, unknown_card_ids: [9] }, 202));
  expect(await cli(['trigger', 'batch', '--card-ids', '1,9', '--task', 'package'], { env })).toMatchObject({
    code: 1,
    stderr: 'cardpoll: there is no card 9\n',
  });
});

describe('refusals before anything is sent', () => {
  const ids = Array.from({ length: 10_001 }, (_, i) => i + 1).join('\n');
  it.each([
    [['--file', '/does/not/exist'], 66, /no such file: \/does\/not\/exist/],
    [['--file', () => fileWith('1\n2\nx3\n')], 65, /ids\.txt, line 3: "x3" is not/],
    [['--file', () => fileWith('\n \n')], 65, /there are no card ids/],
    [['--file', () => fileWith(ids)], 65, /10001 card ids are more than 10000 \(hint: .*by-condition/],
    [[], 64, /either --card-ids or --file/],
    [['--card-ids', '1', '--file', 'x'], 64, /either --card-ids or --file/],
    [['--card-ids', '0'], 64, /out of bounds/],
  ] as const)('batch %j ends with %d', async (options, code, message) => {
    const argv = options.map((option) => (typeof option === 'string' ? option : option()));
    const outcome = await cli(['trigger', 'batch', '--task', 'package', ...argv]);
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toMatch(message);
  });
});

describe('by-condition', () => {
  const daemon = () =>
    daemonThatSays((request, response) =>
      json(request.line.startsWith('GET') ? { matching: 1_234, estimated: false } : TRIGGER)(
        request,
        response,
      ),
    );
  const argv = ['trigger', 'by-condition', '--task', 'carddata', '--carrier-id', '7'];
  const PLAN = 'Poll carddata of every card with carrier 7 now: 1,234 cards.\n';

  it('shows how many cards it is and asks', async () => {
    const { env, requests } = await daemon();
    const yes = await cli(argv, { env, tty: true, input: 'y\n' });
    expect(yes.stderr).toContain(PLAN);
    expect(yes.code).toBe(0);
    expect(requests.map(({ line }) => line)).toEqual([
      `GET ${BASE}/preview?carrier_id=7`,
      `POST ${BASE}/by-condition`,
    ]);
    const no = await daemon();
    expect((await cli(argv, { env: no.env, tty: true, input: 'n\n' })).code).toBe(1);
    expect(no.requests).toHaveLength(1);
  });

  it('does nothing with --dry-run, and nothing without a terminal to ask on', async () => {
    const { env, requests } = await daemon();
    const dry = await cli([...argv, '--dry-run', '--yes'], { env });
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout.startsWith(PLAN)).toBe(true);
    expect((await cli(argv, { env })).code).toBe(64);
    expect(requests.every(({ line }) => line.startsWith('GET'))).toBe(true);
  });
});

describe('--wait', () => {
  const endings: readonly [TriggerBody, number][] = [
    [DONE, 0],
    [{ ...DONE, succeeded: 999, failed: 1 }, 1],
    [{ ...DONE, status: 'cancelled', succeeded: 5 }, 1],
  ];
  it.each(endings)('follows until it is over: %o', async (end, code) => {
    let reads = 0;
    const { env, requests } = await daemonThatSays((request, response) => {
      if (request.line.startsWith('GET')) reads += 1;
      json(reads < 2 ? TRIGGER : end)(request, response);
    });
    const argv = ['trigger', 'single', '--card-id', '42', '--task', 'carddata', '--wait', '--json'];
    const outcome = await cli(argv, { env });
    expect([outcome.code, JSON.parse(outcome.stdout)]).toEqual([code, end]);
    expect(requests.at(-1)?.line).toBe(`GET ${BASE}/${TRIGGER.trigger_id}`);
  });

  it('draws its progress on a terminal, with the time left at the pace seen', async () => {
    let reads = 0;
    const { env } = await daemonThatSays((request, response) => {
      reads += 1;
      const early = reads === 3 ? { early: 1_200, early_until: '2026-11-21T10:15:00.000Z' } : {};
      json(reads < 4 ? { ...TRIGGER, ...early, succeeded: 240 + 125 * reads } : DONE)(request, response);
    });
    const { stderr, stdout } = await cli(['trigger', 'status', TRIGGER.trigger_id, '--wait'], {
      env,
      tty: true,
    });
    expect(stderr).toMatch(/polling █+░+ 50 %\r?[\s\S]*polling █+░+ 62 % {2}\d+s left/);
    expect(stderr).toMatch(/left {2}1,200 too early until \d\d:15/);
    expect(stdout).toContain('completed');
  });
});

describe('tables', () => {
  it('show a trigger, and a list line by line', async () => {
    const { env } = await daemonThatSays((request, response) =>
      json(request.line.includes('?') ? { items: [TRIGGER], page: 1, page_size: 20, total: 1 } : TRIGGER)(
        request,
        response,
      ),
    );
    expect((await cli(['trigger', 'status', TRIGGER.trigger_id, '-o', 'tsv'], { env })).stdout).toBe(
      [
        'trigger\t5f0c2a9be17d4c33',
        'kind\tby_condition',
        'task\tcarddata',
        'cards\tevery card with carrier 7',
        'status\trunning',
        'total\t1000',
        'waiting\t700',
        'running\t10',
        'succeeded\t280',
        'failed\t10',
        'created\t2026-11-21T09:59:00.000Z',
        'finished\t-',
        '',
      ].join('\n'),
    );
    expect((await cli(['trigger', 'list', '-o', 'tsv'], { env })).stdout).toBe(
      '5f0c2a9be17d4c33\tby_condition\tcarddata\trunning\t1000\t700\t280\t10\t2026-11-21T09:59:00.000Z\t-\n',
    );
    const people = await cli(['trigger', 'list', '-o', 'wide', '--page-size', '5'], { env, tty: true });
    expect(people.stdout).toMatch(/TRIGGER[\s\S]*by_condition +carddata +running +~1,000/);
  });
});

it('list --all reads on until a page is short, and shows no trigger twice', async () => {
  const all = Array.from({ length: 150 }, (_, at) => ({ ...TRIGGER, trigger_id: `t${150 - at}` }));
  const { env, requests } = await daemonThatSays((request, response) => {
    // A trigger came between the two requests.
    const items = request.line.includes('page=1&') ? all.slice(0, 100) : all.slice(99);
    json({ items, page: 1, page_size: 100, total: 151 })(request, response);
  });
  const { stdout } = await cli(['trigger', 'list', '--all', '-o', 'tsv'], { env });
  const ids = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t')[0]);
  expect(ids).toEqual(all.map(({ trigger_id }) => trigger_id));
  expect(requests).toHaveLength(2);
});

describe('a single card', () => {
  const ONE: TriggerBody = {
    ...TRIGGER,
    kind: 'single',
    selection: null,
    total: 1,
    total_estimated: false,
    waiting: 0,
  };
  const over = { ...ONE, status: 'completed', running: 0, succeeded: 1, failed: 0 } as const;
  const FAILURE = {
    at: '2026-11-21T10:00:00.000Z',
    reason: 'timeout',
    message: 'no answer within 5000 ms',
    duration_ms: 5_000,
    attempts: 3,
    next_try_at: null,
  };

  function daemon(trigger: TriggerBody) {
    const explanation = { logs_command: '', tasks: [{ task_type: 'carddata', last_failure: FAILURE }] };
    return daemonThatSays((request, response) => {
      const [, path = ''] = request.line.split(' ');
      const body = path.endsWith('/explain') ? explanation : path.includes('/cards/') ? CARD : trigger;
      json(body, request.line.startsWith('POST') ? 202 : 200)(request, response);
    });
  }

  it('may be named by its iccid', async () => {
    const { env, requests } = await daemon(over);
    const outcome = await cli(['trigger', 'single', '--iccid', CARD.iccid, '--task', 'carddata'], { env });
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(requests[0]?.line).toBe(`GET /api/admin/cards/${CARD.iccid}`);
    expect(JSON.parse(requests[1]?.body ?? '')).toEqual({ card_id: CARD.card_id, task_type: 'carddata' });
  });

  it.each([[[]], [['--iccid', CARD.iccid, '--card-id', '42']]])('is named once: %j', async (named) => {
    const outcome = await cli(['trigger', 'single', ...named, '--task', 'carddata']);
    expect(outcome).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('either --card-id or --iccid'),
    });
  });

  it.each([
    ['realname', /^real name verified +yes$/m],
    ['carddata', /^used 2026-11 +12\.5 MB$/m],
    ['package', /^stopped +yes\nused 2026-11 +12\.5 MB\nallowance +unlimited$/m],
  ] as const)('shows after --wait what %s found out', async (task, answer) => {
    const { env } = await daemon({ ...over, task_type: task });
    const outcome = await cli(['trigger', 'single', '--card-id', '42', '--task', task, '--wait'], { env });
    expect(outcome).toMatchObject({ code: 0, stdout: expect.stringMatching(answer) });
  });

  it('shows after --wait why the poll failed', async () => {
    const { env } = await daemon({ ...over, succeeded: 0, failed: 1 });
    const argv = ['trigger', 'single', '--card-id', '42', '--task', 'carddata', '--wait'];
    const { code, stdout } = await cli(argv, { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/\nreason +timeout\nmessage +no answer within 5000 ms\ntook +5,?000 ms\n/);
    expect((await cli([...argv, '-o', 'json'], { env })).stdout).not.toContain('timeout');
  });

  it('prints on Ctrl-C in --wait that it continues, and how to follow or cancel it', async () => {
    const interrupt = new AbortController();
    const { env, requests } = await daemonThatSays((request, response) => {
      if (requests.length === 2) interrupt.abort(new Interruption(130));
      json(ONE, 202)(request, response);
    });
    const argv = ['trigger', 'single', '--card-id', '42', '--task', 'carddata', '--wait'];
    const { code, stderr } = await cli(argv, { env, signal: interrupt.signal });
    expect(code).toBe(130);
    expect(stderr).toContain(`trigger ${ONE.trigger_id} continues`);
    expect(stderr).toContain(`cardpoll trigger status ${ONE.trigger_id} --wait`);
    expect(stderr).toContain(`cardpoll trigger cancel ${ONE.trigger_id}`);
  });
});

it('cancelling a trigger that has ended is exit code 1', async () => {
  const problem = {
    title: 'Conflict',
    detail: 'manual trigger x has already ended',
    code: 'trigger_finished',
  };
  const { env } = await daemonThatSays(json(problem, 409));
  expect(await cli(['trigger', 'cancel', 'x'], { env })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'cardpoll: manual trigger x has already ended\n',
  });
});

describe('cancel --all', () => {
  const daemon = () => daemonThatSays(json({ triggers: 1_000, cards: 420_000 }));
  const PLAN =
    'Cancel all open triggers of carddata: 1,000, with 420,000 cards to poll.\nCards that are being polled are finished.\n';
  const argv = ['trigger', 'cancel', '--all', '--task', 'carddata'];

  it('shows how many are open, asks, and says what was cancelled', async () => {
    const { env, requests } = await daemon();
    const yes = await cli(argv, { env, tty: true, input: 'y\n' });
    expect(yes).toMatchObject({ code: 0, stderr: expect.stringContaining(PLAN) });
    expect(yes.stdout).toMatch(/cancelled triggers +1,000\ncards not polled +420,000/);
    expect(requests.map(({ line, body }) => [line, JSON.parse(body)])).toEqual([
      [`POST ${BASE}/cancel-all`, { task_type: 'carddata', dry_run: true }],
      [`POST ${BASE}/cancel-all`, { task_type: 'carddata', dry_run: false }],
    ]);
  });

  it('changes nothing with --dry-run, and nothing without a terminal to ask on', async () => {
    const { env, requests } = await daemon();
    expect(await cli([...argv, '--dry-run', '--yes'], { env })).toMatchObject({ code: 0, stdout: PLAN });
    expect((await cli(argv, { env })).code).toBe(64);
    expect(requests.every(({ body }) => JSON.parse(body).dry_run)).toBe(true);
  });

  it.each([
    [['cancel']],
    [['cancel', 'x', '--all']],
    [['cancel', 'x', '--task', 'package']],
    [['cancel', 'x', '--dry-run']],
  ])('refuses %j', async (words) => {
    const { env, requests } = await daemon();
    expect((await cli(['trigger', ...words], { env })).code).toBe(64);
    expect(requests).toEqual([]);
  });
});
