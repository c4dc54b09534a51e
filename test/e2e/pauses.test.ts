// Pauses as an operator sees and makes them: real daemon, real stores, a gateway that asks for pauses. Every interface shows
// that polling is held back, why and until when, and polling continues at once after a resume.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { runCli, waitFor } from '../support/processes.ts';
import { healthy, type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 30;
/** A refused card waits as long as well. In a fleet of a few cards the pause begins with the calls after that. */
const CAP_SECONDS = 5;

interface PauseBody {
  readonly task_type: string;
  readonly source: string;
  readonly reason: string;
  readonly by: string;
  readonly since: string;
  readonly until: string;
}
interface Overview {
  readonly health: string;
  readonly health_reasons: ReadonlyArray<{
    code: string;
    text: string;
    command: string;
    since: string | null;
  }>;
  readonly pauses: readonly PauseBody[];
}

let gateway: ScriptedGateway;
let fleet: Fleet;

beforeAll(async () => {
  gateway = await startScriptedGateway();
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: { CARDPOLL_GATEWAY_MAX_RETRY_AFTER_SECONDS: String(CAP_SECONDS) },
  });
  await fleet.startDaemon();
  await fleet.setIntervals(1);
  await fleet.importCards(CARDS);
  await calls('realname', CARDS);
});

afterAll(async () => {
  fleet.close();
  await gateway.close();
});

/** Waits for `count` further calls of an interface. */
async function calls(name: 'realname' | 'flow', count: number): Promise<void> {
  const before = gateway.calls[name];
  await waitFor(() => gateway.calls[name] >= before + count, { what: `${count} further calls of ${name}` });
}

const overview = () => fleet.get<Overview>('/api/admin/polling-stats');
const doctor = () =>
  runCli(['doctor', '--gateway-url', gateway.url], { env: { CARDPOLL_URL: fleet.daemons.at(-1)?.url } });
const metrics = async () => (await fetch(`${fleet.daemons[0]?.url}/metrics`)).text();

describe("an operator's pause", () => {
  it('holds one task type back, is shown everywhere, and ends when asked to', async () => {
    await fleet.cli('pause', 'realname', '--for', '30m', '--reason', 'gateway maintenance');
    const { pauses, health, health_reasons } = await overview();
    expect(pauses).toMatchObject([
      { task_type: 'realname', source: 'operator', reason: 'gateway maintenance', by: 'local' },
    ]);
    expect(Date.parse(pauses[0]?.until ?? '') - Date.parse(pauses[0]?.since ?? '')).toBe(1_800_000);
    expect(health).not.toBe('normal');
    expect(health_reasons).toContainEqual(
      expect.objectContaining({ code: 'paused', command: 'cardpoll resume realname' }),
    );
    await waitFor(
      async () => (await overview()).health_reasons.find(({ code }) => code === 'paused')?.since ?? null,
      { what: 'the health to tell since when' },
    );
    expect(await metrics()).toMatch(/^cardpoll_audit_entries_total\{action="pause\.begin"\} 1$/m);
    expect(await metrics()).toMatch(
      /cardpoll_pause_seconds\{task_type="realname",source="operator"\} 1[67]\d\d/,
    );
    await waitFor(async () => {
      const ready = (await (await fetch(`${fleet.daemons[0]?.url}/readyz`)).json()) as {
        restraints: string[];
      };
      return ready.restraints.some((text) => /^realname: paused for \d.*s more$/.test(text));
    });
    expect((await doctor()).stdout).toMatch(/paused\s+by[\s\S]*gateway\s+maintenance/);

    // What was claimed before may still be on its way; then there is silence on one interface and none on the others.
    await calls('flow', CARDS);
    gateway.forget();
    await calls('flow', 3 * CARDS);
    expect(gateway.calls.realname).toBe(0);

    await fleet.cli('resume', 'realname');
    await calls('realname', CARDS);
    expect((await overview()).pauses).toEqual([]);
  });

  it('holds manual triggers back too, and outlives the daemon', async () => {
    await fleet.cli('pause', '--yes');
    await fleet.daemons.at(-1)?.process.stop();
    await fleet.startDaemon();
    expect((await overview()).pauses.map(({ task_type }) => task_type)).toEqual([
      'realname',
      'carddata',
      'package',
    ]);
    const { stdout } = await fleet.cli('trigger', 'single', '--card-id', '1', '--task', 'package', '--json');
    const { trigger_id } = JSON.parse(stdout) as { trigger_id: string };
    gateway.forget();
    expect(await fleet.get(`/api/admin/polling-manual-trigger/${trigger_id}`)).toMatchObject({
      status: 'queued',
    });
    await fleet.cli('resume');
    await waitFor(async () => {
      const { status } = await fleet.get<{ status: string }>(
        `/api/admin/polling-manual-trigger/${trigger_id}`,
      );
      return status === 'completed';
    });
  });

  it('outlives the data of Redis', async () => {
    await fleet.cli('pause', 'realname', '--for', '1h', '--reason', 'maintenance');
    await fleet.redis.flushall();
    const pauses = await waitFor(async () => {
      const { pauses: shown } = await overview();
      return shown.length > 0 ? shown : null;
    });
    expect(pauses, 'put back').toMatchObject([{ task_type: 'realname', reason: 'maintenance' }]);
    await fleet.cli('resume');
  });
});

describe('a gateway that asks for an hour', () => {
  it('is capped, and every interface shows it', async () => {
    gateway.follow((call) =>
      call.interfaceName === 'realname'
        ? { status: 429, headers: { 'retry-after': '3600' }, body: '{"code":429}' }
        : healthy(call),
    );
    const [pause] = await waitFor(async () => {
      const { pauses } = await overview();
      return pauses.length > 0 ? pauses : null;
    });
    expect(pause).toMatchObject({ task_type: 'realname', source: 'gateway' });
    expect(Date.parse(pause?.until ?? '') - Date.now()).toBeLessThanOrEqual(CAP_SECONDS * 1_000);
    const { health, health_reasons } = await overview();
    expect(health).toBe('alert');
    expect(health_reasons[0]).toMatchObject({ code: 'paused', command: 'cardpoll resume realname' });
    expect((await doctor()).code).toBe(1);
    gateway.follow(healthy);
    await fleet.cli('resume', 'realname');
    await calls('realname', CARDS);
  });
});
