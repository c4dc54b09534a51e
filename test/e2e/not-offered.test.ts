// A gateway that has no real-name call, and can neither stop nor resume a card: the rest is polled, nothing is late, and
// nothing is called that is not there. The built daemon on real stores.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { cliHere } from '../support/cli-here.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const CARDS = 20;
const NOT_OFFERED = ['realname', 'stop', 'start'];

let gateway: ScriptedGateway;
let fleet: Fleet;
const called: string[] = [];

beforeAll(async () => {
  gateway = await startScriptedGateway(({ interfaceName }) => {
    called.push(interfaceName);
    return { body: interfaceName === 'flow' ? { used: 100 } : HEALTHY[interfaceName] };
  });
  const profile = join(temporaryDirectory('profile'), 'cardpoll.yaml');
  const interfaces = NOT_OFFERED.map((name) => `    ${name}: { enabled: off }\n`).join('');
  await writeFile(profile, `gateway:\n  interfaces:\n${interfaces}`);
  fleet = await Fleet.start({ gatewayUrl: gateway.url, env: { CARDPOLL_CONFIG: profile } });
  await fleet.startDaemon();
  await fleet.importCards(CARDS, () => 50);
  await fleet.setIntervals(2);
  await waitFor(() => called.filter((name) => name === 'card_status').length > 3 * CARDS, {
    what: 'three rounds of package polls',
  });
});
afterAll(async () => {
  fleet?.close();
  await gateway?.close();
});

interface Task {
  readonly task_type: string;
  readonly offered: boolean;
  readonly health: string;
  readonly health_reasons: readonly unknown[];
  readonly due: number;
  readonly demand_per_second: number;
  readonly total: number;
}

it('calls only what is offered, and records a card over its package as such', async () => {
  expect(new Set(called)).toEqual(new Set(['flow', 'card_status']));
  expect(await fleet.logged('套餐检查完成')).toContainEqual(
    expect.objectContaining({ over_package: true, stopped: false, used_mb_month: 100 }),
  );
  expect((await fleet.cli('stops', '-o', 'json')).stdout).toMatch(/"items": *\[\]/);
  const failed = await fleet.logged(/失败/);
  expect(failed).toEqual([]);
});

it('shows nothing as late or ill', async () => {
  const { tasks } = await fleet.get<{ tasks: readonly Task[] }>('/api/admin/polling-stats');
  const [realname] = tasks;
  expect(realname).toMatchObject({
    task_type: 'realname',
    offered: false,
    health: 'normal',
    health_reasons: [],
    due: 0,
    demand_per_second: 0,
    total: 0,
  });
  expect(tasks.map(({ offered }) => offered)).toEqual([false, true, true]);
  const stats = await fleet.cli('stats');
  expect(stats.stdout).toMatch(/realname.*not offered/);
  const configs = JSON.parse((await fleet.cli('configs', '-o', 'json')).stdout);
  expect(configs.items).toContainEqual(
    expect.objectContaining({
      task_type: 'realname',
      problems: ['the profile of the gateway does not offer realname'],
    }),
  );
});

it('explains it', async () => {
  const { stdout } = await fleet.cli('explain', demoIccid(1), '-o', 'json');
  expect(JSON.parse(stdout).tasks).toContainEqual(
    expect.objectContaining({
      task_type: 'realname',
      state: 'not_offered',
      text: 'the profile of the gateway does not offer realname',
      next_due_at: null,
    }),
  );
});

it.each([
  ['realname', ['trigger', 'single', '--card-id', '1', '--task', 'realname']],
  ['stop', ['cards', 'stop', demoIccid(1), '--reason', 'test', '--yes']],
  ['stop', ['stops', 'release', '--all', '--reason', 'test', '--yes']],
  ['start', ['cards', 'resume', demoIccid(1), '--reason', 'test']],
])('refuses what needs %s: %j', async (name, args) => {
  const { code, stderr } = await cliHere(args, { env: { CARDPOLL_URL: fleet.daemons.at(-1)?.url } });
  expect([code, stderr]).toEqual([75, expect.stringContaining(`does not offer ${name}`)]);
});
