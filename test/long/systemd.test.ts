// The shipped unit under a real systemd, where one can be started in namespaces of its own: started, reloaded, killed, frozen,
// stopped under load, and given a configuration that cannot work.
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

describe.runIf(systemd !== null)('cardpoll.service', () => {
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
      'processes: 2',
      `gateway: { url: "${fleet.gatewayUrl}" }`,
    ];
    await sh(`systemd-sysusers /opt/cardpoll/deploy/sysusers.d/cardpoll.conf
      systemd-tmpfiles --create /opt/cardpoll/deploy/tmpfiles.d/cardpoll.conf
      printf '%s\n' ${yaml.map((line) => `'${line}'`).join(' ')} >/etc/cardpoll/cardpoll.yaml
      chgrp cardpoll /etc/cardpoll/cardpoll.yaml; chmod 0640 /etc/cardpoll/cardpoll.yaml
      mkdir /etc/systemd/system/cardpoll.service.d
      printf '[Service]\nWatchdogSec=6\nRestartSec=1\n' >/etc/systemd/system/cardpoll.service.d/test.conf
      systemctl daemon-reload`);
  });
  afterAll(() => fleet?.close());

  const show = (property: string) => sh(`systemctl show --value --property=${property} cardpoll.service`);
  const inLog = (message: string) =>
    sh(`grep -c '"${message}"' /var/log/cardpoll/worker.log || true`).then(Number);

  it('starts, is active when it is ready, and says what it does', async () => {
    await sh('systemctl start cardpoll.service');
    expect(await show('ActiveState')).toBe('active');
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await waitFor(async () => (await show('StatusText')) === '2 of 2 processes work');
    expect(await sh('stat -c "%U %a" /var/log/cardpoll/worker.log')).toBe('cardpoll 640');
  });

  it('reloads', async () => {
    await sh('systemctl reload cardpoll.service');
    await waitFor(async () => (await inLog('configuration reloaded')) === 2, { what: 'both to reload' });
    expect(await show('ActiveState')).toBe('active');
  });

  it('is started again when it is killed, and when it is frozen', async () => {
    for (const [restarts, signal] of [
      ['1', 'KILL'],
      ['2', 'STOP'],
    ] as const) {
      await sh(`systemctl kill --kill-who=main --signal=${signal} cardpoll.service`);
      await waitFor(async () => (await show('NRestarts')) === restarts, { what: signal });
      await waitFor(async () => (await show('ActiveState')) === 'active', {
        what: 'the unit to be active again',
      });
    }
  });

  it('drains on stop', async () => {
    const cli = (...args: string[]) => runCli(args, { env: { CARDPOLL_URL: url } });
    for (const id of ['1', '2', '3', '4'])
      expect(await cli('configs', 'set', id, '--interval-seconds', '2', '--yes')).toMatchObject({ code: 0 });
    const rows = Array.from({ length: 300 }, (_, n) => `${n + 1},${8986000000000000000n + BigInt(n)},1,1`);
    const input = `card_id,iccid,carrier_id,status\n${rows.join('\n')}\n`;
    expect(await runCli(['cards', 'import', '-'], { env: { CARDPOLL_URL: url }, input })).toMatchObject({
      code: 0,
    });
    await waitFor(async () => (await fleet.truth()).in_flight > 5, { what: 'calls in flight' });
    await sh('systemctl stop cardpoll.service');
    expect([await show('ActiveState'), await show('Result')]).toEqual(['inactive', 'success']);
    expect((await fleet.truth()).in_flight).toBe(0);
    expect(await inLog('drain took too long: leases will end by themselves')).toBe(0);
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
    await sh('echo "nonsense: 1" >>/etc/cardpoll/cardpoll.yaml; systemctl start cardpoll.service || true');
    expect([await show('ActiveState'), await show('ExecMainStatus')]).toEqual(['failed', '78']);
  });
});
