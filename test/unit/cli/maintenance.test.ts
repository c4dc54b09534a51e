// `cardpoll maintenance`: what it asks the daemon, what it shows, and what it refuses before it asks.
import { expect, it } from 'vitest';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const WINDOW = {
  ...{ id: 3, task_type: null, carrier_id: 2, state: 'planned', reason: 'vendor window', by: 'op2' },
  ...{ starts_at: '2026-11-21T18:00:00.000Z', ends_at: '2026-11-21T22:00:00.000Z' },
};
const ZONE = { CARDPOLL_TIME_ZONE: 'Asia/Shanghai' };
const PLAN = ['maintenance', 'plan', '--for', '4h', '--reason', 'vendor window'];

it('plans a window at the next such time of the fleet, and says when that is', async () => {
  const { env, requests } = await daemonThatSays(json(WINDOW));
  const argv = [...PLAN, '--from', '02:00', '--carrier', '2', '--task', 'carddata'];
  const { code, stdout, stderr } = await cli(argv, { env: { ...env, ...ZONE } });
  expect(code).toBe(0);
  expect(requests.map(({ line, body }) => [line, JSON.parse(body)])).toEqual([
    [
      'POST /api/admin/maintenance',
      {
        ...{ task_type: 'carddata', carrier_id: 2, from: '2026-11-21T18:00:00.000Z' },
        ...{ seconds: 14_400, reason: 'vendor window' },
      },
    ],
  ]);
  expect(stderr).toBe(
    'maintenance 3 of carddata of carrier 2: 2026-11-22T02:00:00+08:00 to 2026-11-22T06:00:00+08:00 (Asia/Shanghai, 4h)\n',
  );
  expect(stdout).toMatch(/^ID +TASK +CARRIER +STATE +FROM +UNTIL +BY +REASON\n +3 +all +2 +planned +2026/);
});

it('lists windows, and says how to plan one where there is none', async () => {
  const some = await daemonThatSays(json({ items: [WINDOW] }));
  for (const argv of [['maintenance'], ['maintenance', 'list']])
    expect((await cli(argv, { env: some.env })).stdout).toMatch(/\n +3 +all +2 +planned/);
  expect(JSON.parse((await cli(['maintenance', '-o', 'json'], { env: some.env })).stdout)).toEqual({
    items: [WINDOW],
  });
  const none = await daemonThatSays(json({ items: [] }));
  expect((await cli(['maintenance'], { env: none.env })).stdout).toContain('no maintenance is planned');
});

it('cancels a window', async () => {
  const { env, requests } = await daemonThatSays(json(WINDOW));
  expect(await cli(['maintenance', 'cancel', '3'], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('maintenance 3 is cancelled'),
  });
  expect(requests.map(({ line }) => line)).toEqual(['DELETE /api/admin/maintenance/3']);
});

it.each<[string, readonly string[], RegExp]>([
  ['in the past', ['--from', '2026-11-20 02:00'], /a window must not be in the past: it is 2026-11-21T10:00/],
  ['in a wrong year', ['--from', '2028-11-20 02:00'], /at most 366 days ahead/],
  ['for more than seven days', ['--from', '02:00', '--for', '169h'], /\(60 to 604800\)/],
  ['at no time', ['--from', 'tonight'], /"tonight" is not a time: type 02:00/],
  ['of an unknown task type', ['--from', '02:00', '--task', 'sms'], /sms/],
  ['of all task types at once, without --yes and a terminal', ['--from', 'now'], /this is not a terminal/],
])('a window %s is refused with 64, and the daemon is not asked', async (_, options, message) => {
  const { env, requests } = await daemonThatSays(json(WINDOW));
  const { code, stderr } = await cli([...PLAN, ...options], { env: { ...env, ...ZONE } });
  expect([code, requests]).toEqual([64, []]);
  expect(stderr).toMatch(message);
});

it('a window without a start, a length or a reason is refused with 64', async () => {
  const given = { '--from': '02:00', '--for': '4h', '--reason': 'x' };
  for (const left of Object.keys(given)) {
    const options = Object.entries(given).flatMap(([name, value]) => (name === left ? [] : [name, value]));
    const { code, stderr } = await cli(['maintenance', 'plan', ...options]);
    expect([code, stderr.includes(left)]).toEqual([64, true]);
  }
});
