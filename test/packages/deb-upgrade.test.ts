// The Debian package on a running systemd, under load: installed, upgraded, upgraded to one that does not start, healed, removed
// and purged. `npm run test:deb-upgrade`, as root. What a package does without a running systemd: scripts/test-deb.sh.
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { buildDeb, unableDeb } from '../support/deb-package.ts';
import { freePort } from '../support/free-port.ts';
import { emptyDatabase, freshRedis } from '../support/fresh-stores.ts';
import { bootSystemd, type PrivateSystemd } from '../support/private-systemd.ts';
import { runCli } from '../support/processes.ts';
import { type RecordingGateway, startRecordingGateway } from '../support/recording-gateway.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { turnsOf } from '../support/turns.ts';
import { waitFor } from '../support/wait-for.ts';

const CARDS = 2_000;
const INTERVAL_SECONDS = 20;
/** Cards that are over their package, imported when the upgrade begins: each is stopped while it is under way, or after it. */
const OVER = 200;
const TOKEN = 'deb-upgrade-admin-token';
const PRESENT = manifest.version;
const NEXT = `${Number(PRESENT.split('.')[0]) + 1}.0.0`;
const UNABLE = `${Number(PRESENT.split('.')[0]) + 2}.0.0`;
const SAYS = 'cardpoll: gateway.url: this version wants another one';
/**
 * Everything that runs when the upgrade begins; the last two were started and never enabled. Instances are started, enabled and
 * changed under the name that they had in 0.2.
 */
const RUNNING = ['cardpoll.service', 'cardpoll@1.service', 'cardpoll-cleanup.timer'];
const CONFIG = '/etc/cardpoll/cardpoll.yaml';
const SECRETS = ['cardpoll.admin_tokens', 'cardpoll.database_url'];
const ADMINS_LINE = '# As I want it.';

/** Where the machine finds the packages. */
const SHELF = '/srv/packages';
const packages = temporaryDirectory('packages');
const cards = Array.from({ length: CARDS }, (_, i) => demoIccid(i + 1));
let systemd: PrivateSystemd;
let gateway: RecordingGateway;
let url: string;
const debs = { present: '', next: '', unable: '' };

// One by one: each takes minutes on a busy machine.
beforeAll(async () => {
  debs.present = await buildDeb(PRESENT, packages);
});
beforeAll(async () => {
  debs.next = await buildDeb(NEXT, packages);
});
beforeAll(async () => {
  debs.unable = await unableDeb(debs.next, { version: UNABLE, says: SAYS, code: 78 }, packages);
  const booted = await bootSystemd('absent');
  if (booted === null) throw new Error('there is nothing to install the package on');
  systemd = booted;
  // Not in /tmp, which systemd clears when it boots.
  await sh(`cp -r ${packages} ${SHELF}; systemctl start systemd-journald.service`);
  gateway = await startRecordingGateway({ latencyMs: 100 });
});
afterAll(async () => {
  await systemd?.stop();
  await gateway?.close();
});

const sh = (command: string) =>
  systemd.sh(
    `exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -c "$(cat <<'END'\n${command}\nEND\n)"`,
  );
const apt = (words: string) =>
  sh(`DEBIAN_FRONTEND=noninteractive apt-get -q -y ${words} 2>&1 </dev/null; echo "apt-get ended with $?"`);
const install = (deb: string) =>
  apt(`install --reinstall --allow-downgrades --no-install-recommends ${SHELF}/${basename(deb)}`);
const state = (unit: string) => sh(`systemctl is-active ${unit} || true`);
const states = () => Promise.all(RUNNING.map(state));
const UP = RUNNING.map(() => 'active');
const lives = (unit: string) => sh(`cat /var/log/${unit}.lives`);
const inLogs = async (text: string) =>
  Number(
    await sh(
      `cat /var/log/cardpoll/worker.log /var/log/cardpoll/worker-1/worker.log | grep -c '${text}' || true`,
    ),
  );

async function cli(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args, { env: { CARDPOLL_URL: url, CARDPOLL_TOKEN: TOKEN } });
  if (code !== 0) throw new Error(`cardpoll ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}
const answer = async (...args: string[]) => JSON.parse(await cli(...args, '--json'));

async function importCards(first: number, count: number, allowanceMb: number | ''): Promise<void> {
  const rows = Array.from(
    { length: count },
    (_, i) => `${first + i},${demoIccid(first + i)},1,1,${allowanceMb}`,
  );
  const file = join(packages, 'cards.csv');
  writeFileSync(file, ['card_id,iccid,carrier_id,status,allowance_mb', ...rows, ''].join('\n'));
  await cli('cards', 'import', file, '--yes');
}

/** Waits until each of the first cards got `turns` more turns with `flow` and `card_status`. */
async function furtherTurns(turns: number): Promise<void> {
  const { flow, card_status } = gateway.calls;
  const before = [flow, card_status].map((calls) => [calls, calls.length] as const);
  await waitFor(
    () =>
      before.every(([calls, length]) => {
        const counts = new Map<string, number>();
        for (const iccid of calls.slice(length)) counts.set(iccid, (counts.get(iccid) ?? 0) + 1);
        return cards.every((iccid) => (counts.get(iccid) ?? 0) >= turns);
      }),
    { what: `${turns} more turns of every card`, everyMs: 250 },
  );
}

describe('the Debian package', () => {
  it('installs, and starts nothing', async () => {
    expect(await install(debs.present)).toContain('apt-get ended with 0');
    expect(await sh('systemctl is-enabled cardpoll.service')).toBe('enabled');
    expect(await state('cardpoll.service')).toBe('inactive');
  });

  it('polls when it is configured', async () => {
    const [redis, databaseUrl, port] = await Promise.all([freshRedis(), emptyDatabase(), freePort()]);
    url = `http://127.0.0.1:${port}`;
    await sh(`printf '%s\n' 'listen: 127.0.0.1:${port}' 'redis_url: ${redis.url}' 'gateway: { url: "${gateway.url}" }' \
        'stops: { max_per_hour: ${2 * OVER}, max_per_day: ${2 * OVER} }' \
        '${ADMINS_LINE}' >>${CONFIG}
      printf '%s' '${databaseUrl}' >/etc/credstore/cardpoll.database_url
      printf '%s' 'ann:admin:${TOKEN}' >/etc/credstore/cardpoll.admin_tokens
      chmod 600 /etc/credstore/cardpoll.*
      for unit in cardpoll cardpoll-worker@; do
        mkdir /etc/systemd/system/$unit.service.d
        printf '%s\n' '[Service]' 'ExecStartPre=+/bin/sh -c "echo started >>/var/log/%N.lives"' \
          'ExecStopPost=+/bin/sh -c "echo $$SERVICE_RESULT $$EXIT_CODE $$EXIT_STATUS >>/var/log/%N.lives"' \
          >/etc/systemd/system/$unit.service.d/lives.conf
      done
      systemctl daemon-reload
      systemctl enable cardpoll-worker@2.service
      systemctl start ${RUNNING.join(' ').replace('cardpoll@', 'cardpoll-worker@')}`);
    expect(await sh('systemctl show --value --property=Names cardpoll@2.service')).toContain(
      'cardpoll-worker@2',
    );
    expect(await states()).toEqual(UP);
    for (const id of ['1', '2', '3', '4'])
      await cli('configs', 'set', id, '--interval-seconds', `${INTERVAL_SECONDS}`, '--yes');
    await importCards(1, CARDS, '');
    await furtherTurns(1);
  });

  it('upgrades under load: everything that ran drains and runs again, once', async () => {
    const [flow, status] = [gateway.calls.flow.length, gateway.calls.card_status.length];
    await cli('concurrency', 'set', 'realname', '25', '--yes');
    await importCards(CARDS + 1, OVER, 0);
    const { trigger_id } = await answer('trigger', 'by-condition', '--task', 'realname', '--yes');
    await waitFor(async () => (await answer('trigger', 'status', trigger_id)).succeeded > 0);

    expect(await install(debs.next)).toContain('apt-get ended with 0');

    expect(await states()).toEqual(UP);
    expect(await state('cardpoll@2.service')).toBe('inactive');
    for (const unit of ['cardpoll', 'cardpoll@1']) {
      expect(await lives(unit), unit).toBe('started\nsuccess exited 0\nstarted');
    }
    expect(await (await fetch(`${url}/version`)).json()).toMatchObject({ version: NEXT });
    const { workers } = await answer('stats');
    expect(workers.map(({ version }: { version: string }) => version)).toEqual([NEXT, NEXT]);
    expect(await sh(`grep -c '${ADMINS_LINE}' ${CONFIG}; stat -c %U:%G:%a ${CONFIG}`)).toBe(
      '1\nroot:cardpoll:640',
    );

    const trigger = await waitFor(async () => {
      const now = await answer('trigger', 'status', trigger_id);
      return now.finished_at === null ? null : now;
    });
    expect(trigger).toMatchObject({
      status: 'completed',
      succeeded: trigger.total,
      failed: 0,
      total: CARDS + OVER,
    });
    await furtherTurns(2);
    const mine = (calls: readonly string[]) => calls.filter((iccid) => cards.includes(iccid));
    const none = { missed: [], doubled: [] };
    expect(turnsOf(cards, mine(gateway.calls.flow.slice(flow)))).toEqual(none);
    expect(turnsOf(cards, mine(gateway.calls.card_status.slice(status)))).toEqual(none);
  });

  it('stopped each card that is over its package once, and no other', async () => {
    const over = Array.from({ length: OVER }, (_, i) => demoIccid(CARDS + 1 + i)).sort();
    const { stops } = gateway.stats();
    expect(Object.keys(stops).sort()).toEqual(over);
    expect(new Set(Object.values(stops))).toEqual(new Set([1]));
  });

  it('counted and logged every call, over the upgrade', async () => {
    await cli('pause', '--yes', '--for', '10m', '--reason', 'counting');
    const totals = async () => {
      const { tasks } = await answer('stats');
      return tasks
        .filter(({ task_type }: { task_type: string }) => task_type !== 'package')
        .map(({ total }: { total: number }) => total);
    };
    const called = () => [gateway.calls.realname.length, gateway.calls.flow.length];
    await waitFor(async () => gateway.stats().inFlight === 0 && `${await totals()}` === `${called()}`, {
      what: 'all polls to be counted',
    });
    await waitFor(async () => (await inLogs('"path":"/card/')) === gateway.stats().requests);
    expect(await inLogs('drain took too long\\|late results dropped')).toBe(0);
    const { items } = await answer('stats', 'queues');
    expect(items.map(({ scheduled_cards }: { scheduled_cards: number }) => scheduled_cards)).toEqual(
      Array(3).fill(CARDS + OVER),
    );
    await cli('resume');
  });

  it('says so when the new version does not start, and the one before heals it', async () => {
    const said = await install(debs.unable);
    expect(said).toContain('apt-get ended with 0');
    expect(said).toContain('See "systemctl status cardpoll.service"');
    expect(said).toContain('cardpoll: some units that ran before the upgrade do not start');
    expect(await states()).toEqual(['failed', 'failed', 'active']);
    expect(await sh('systemctl status --no-pager cardpoll.service || true')).toContain(SAYS);
    expect(await install(debs.next)).toContain('apt-get ended with 0');
    expect(await states()).toEqual(UP);
    await furtherTurns(1);
  });

  it('says so when the configuration cannot work, and starts again once it is corrected', async () => {
    await sh(`echo 'nonsense: 1' >>${CONFIG}`);
    expect(await install(debs.next)).toContain(
      'cardpoll: some units that ran before the upgrade do not start',
    );
    expect(await states()).toEqual(['failed', 'failed', 'active']);
    expect(await sh('systemctl status --no-pager cardpoll.service || true')).toContain('nonsense');
    await sh(`sed -i '/^nonsense/d' ${CONFIG}; systemctl start cardpoll.service cardpoll@1.service`);
    expect(await states()).toEqual(UP);
  });

  it('stops everything when it is removed, and keeps what is configured', async () => {
    expect(await apt('remove cardpoll')).toContain('apt-get ended with 0');
    expect(await sh("systemctl list-units --plain --no-legend 'cardpoll*'")).toBe('');
    expect(await sh('pgrep --uid cardpoll --list-full || true')).toBe('');
    for (const unit of ['cardpoll', 'cardpoll@1']) {
      expect(await sh(`tail -n 1 /var/log/${unit}.lives`), unit).toBe('success exited 0');
    }
    expect(
      await sh(`grep -c '${ADMINS_LINE}' ${CONFIG}; ls /etc/credstore /var/log/cardpoll/worker.log`),
    ).toBe(['1', '/var/log/cardpoll/worker.log', '', '/etc/credstore:', ...SECRETS].join('\n'));
  });

  it('leaves nothing of its own when it is purged', async () => {
    expect(await apt('purge cardpoll')).toContain('apt-get ended with 0');
    // The administrator's own files.
    expect(
      (await sh("find /etc /run /usr /var -name '*cardpoll*' -not -path '/var/lib/dpkg/*'"))
        .split('\n')
        .sort(),
    ).toEqual([
      '/etc/systemd/system/cardpoll-worker@.service.d',
      '/etc/systemd/system/cardpoll.service.d',
      '/var/log/cardpoll.lives',
      '/var/log/cardpoll@1.lives',
    ]);
  });
});
