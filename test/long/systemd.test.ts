// The shipped units under a real systemd, where one can be started in namespaces of its own: started, reloaded, killed, frozen,
// stopped under load, and given a configuration that cannot work. Three instances of the template poll beside cardpoll.service.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { bootSystemd, type PrivateSystemd } from '../support/private-systemd.ts';
import { runCli, waitFor } from '../support/processes.ts';

const systemd: PrivateSystemd | null = await bootSystemd();
afterAll(() => systemd?.stop());

const WORKERS = ['cardpoll@1', 'cardpoll@2', 'cardpoll@3'];
const UNITS = ['cardpoll', ...WORKERS];

describe.runIf(systemd !== null)('cardpoll.service and cardpoll@.service', () => {
  const { sh } = systemd as PrivateSystemd;
  let fleet: Fleet;
  let url: string;

  beforeAll(async () => {
    fleet = await Fleet.start({ simulator: ['--latency-ms', '100'] });
    const listen = `127.0.0.1:${await freePort()}`;
    url = `http://${listen}`;
    const yaml = [
      `listen: ${listen}`,
      `redis_url: ${fleet.redisServer.url}`,
      `database_url: ${fleet.databaseUrl}`,
      `gateway: { url: "${fleet.gatewayUrl}" }`,
    ];
    await sh(`systemd-sysusers /opt/cardpoll/deploy/sysusers.d/cardpoll.conf
      systemd-tmpfiles --create /opt/cardpoll/deploy/tmpfiles.d/cardpoll.conf
      printf '%s\n' ${yaml.map((line) => `'${line}'`).join(' ')} >/etc/cardpoll/cardpoll.yaml
      chgrp cardpoll /etc/cardpoll/cardpoll.yaml; chmod 0640 /etc/cardpoll/cardpoll.yaml
      for unit in cardpoll cardpoll@; do
        mkdir /etc/systemd/system/$unit.service.d
        printf '[Service]\nWatchdogSec=6\nRestartSec=1\n' >/etc/systemd/system/$unit.service.d/test.conf
      done
      systemctl daemon-reload`);
  });
  afterAll(() => fleet?.close());

  const show = (property: string, unit = 'cardpoll') =>
    sh(`systemctl show --value --property=${property} ${unit}.service`);
  const states = () => Promise.all(UNITS.map((unit) => show('ActiveState', unit)));
  const UP = UNITS.map(() => 'active');
  const logOf = (unit: string) => `/var/log/${unit.replace('cardpoll@', 'cardpoll/worker-')}/worker.log`;
  const inLogs = (message: string) =>
    Promise.all(UNITS.map((unit) => sh(`grep -c '"${message}"' ${logOf(unit)} || true`).then(Number)));
  const cli = (...args: string[]) => runCli(args, { env: { CARDPOLL_URL: url } });
  const listed = async () => {
    const answer = await fetch(`${url}/api/admin/polling-stats`);
    const { workers } = (await answer.json()) as { workers?: readonly { worker_id: string }[] };
    if (workers === undefined) throw new Error(`polling-stats: ${answer.status}`);
    return workers.map(({ worker_id }) => worker_id);
  };

  it('starts, is active when it is ready, and says what it does', async () => {
    await sh(`systemctl start ${UNITS.join(' ')}`);
    expect(await states()).toEqual(UP);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await waitFor(async () => (await show('StatusText')) === 'works; leads the fleet');
    for (const unit of WORKERS) expect(await show('StatusText', unit)).toBe('works');
    for (const unit of UNITS) expect(await sh(`stat -c "%U %a" ${logOf(unit)}`)).toBe('cardpoll 640');
  });

  it('lists each instance by its name', async () => {
    const ids = await listed();
    expect(ids).toHaveLength(UNITS.length);
    for (const unit of WORKERS) expect(ids.filter((id) => id.includes(`-${unit}-`))).toHaveLength(1);
  });

  it('reloads', async () => {
    await sh("systemctl reload 'cardpoll*.service'");
    await waitFor(async () => `${await inLogs('configuration reloaded')}` === '1,1,1,1', {
      what: 'all to reload',
    });
    expect(await states()).toEqual(UP);
  });

  it.each(['cardpoll', 'cardpoll@2'])(
    '%s is started again when it is killed, and when it is frozen',
    async (unit) => {
      const others = async () =>
        Promise.all(UNITS.filter((one) => one !== unit).map((one) => show('NRestarts', one)));
      const before = await others();
      for (const [restarts, signal] of [
        ['1', 'KILL'],
        ['2', 'STOP'],
      ] as const) {
        await sh(`systemctl kill --kill-who=main --signal=${signal} ${unit}.service`);
        await waitFor(async () => (await show('NRestarts', unit)) === restarts, { what: signal });
        await waitFor(async () => (await show('ActiveState', unit)) === 'active', {
          what: 'the unit to be active again',
        });
      }
      expect(await others()).toEqual(before);
      expect(await states()).toEqual(UP);
    },
  );

  it('drains on stop, each instance its own calls', async () => {
    for (const id of ['1', '2', '3', '4'])
      expect(await cli('configs', 'set', id, '--interval-seconds', '2', '--yes')).toMatchObject({ code: 0 });
    const rows = Array.from({ length: 300 }, (_, n) => `${n + 1},${8986000000000000000n + BigInt(n)},1,1`);
    const input = `card_id,iccid,carrier_id,status\n${rows.join('\n')}\n`;
    expect(
      await runCli(['cards', 'import', '-', '--yes'], { env: { CARDPOLL_URL: url }, input }),
    ).toMatchObject({
      code: 0,
      stderr: '',
    });
    const stopped = async (unit: string) => {
      await waitFor(async () => (await fleet.truth()).in_flight > 5, { what: 'calls in flight' });
      await sh(`systemctl stop ${unit}.service`);
      expect([await show('ActiveState', unit), await show('Result', unit)]).toEqual(['inactive', 'success']);
    };
    for (const unit of WORKERS) {
      await waitFor(async () => Number(await sh(`grep -c '"path":"/card/' ${logOf(unit)} || true`)) > 0, {
        what: `${unit} to poll`,
      });
      await stopped(unit);
      expect((await listed()).filter((id) => id.includes(unit))).toEqual([]);
    }
    await stopped('cardpoll');
    expect((await fleet.truth()).in_flight).toBe(0);
    expect(await inLogs('drain took too long: leases will end by themselves')).toEqual([0, 0, 0, 0]);
  });

  it('has not failed when a cleanup that is waited for is stopped, as by an upgrade', async () => {
    let asked = false;
    const daemon = createServer(() => {
      asked = true;
    }).listen(await freePort(), '127.0.0.1');
    await once(daemon, 'listening');
    const { port } = daemon.address() as AddressInfo;
    await sh(`echo CARDPOLL_URL=http://127.0.0.1:${port} >/etc/default/cardpoll
      systemctl start --no-block cardpoll-cleanup.service`);
    await waitFor(() => asked, { what: 'the daemon to be asked' });
    await sh('systemctl stop cardpoll-cleanup.service; rm /etc/default/cardpoll');
    daemon.closeAllConnections();
    daemon.close();
    expect(await sh('systemctl show --value --property=Result cardpoll-cleanup.service')).toBe('success');
  });

  it('stays down with a configuration that cannot work', async () => {
    await sh(`echo "processes: 4" >>/etc/cardpoll/cardpoll.yaml; systemctl start ${UNITS.join(' ')} || true`);
    for (const unit of UNITS)
      expect([await show('ActiveState', unit), await show('ExecMainStatus', unit)]).toEqual(['failed', '78']);
  });
});
