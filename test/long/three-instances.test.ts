// Three daemons on one Redis, or one Redis Cluster, and one PostgreSQL: maintenance of one carrier, the reminder of a forgotten
// pause and the share of polls on time are of the fleet, whichever instance leads, polls or is asked.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditBody } from '../../src/resources/audit.ts';
import type { OverviewBody } from '../../src/resources/stats.ts';
import { answer, type BadGateway, startBadGateway } from '../support/bad-gateway.ts';
import { type Daemon, Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { query } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';
import { startRedisCluster } from '../support/redis-topologies.ts';
import { type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 300;
const INTERVAL_S = 5;
const MINUTES = 60_000;
const isOfCarrier2 = (cardId: number) => cardId % 3 === 0;

interface Message {
  readonly event: string;
  readonly text: string;
  readonly command: string;
  readonly severity: string;
  readonly rule: { readonly name: string };
}

describe.each([
  ['Redis', null],
  ['Redis Cluster', startRedisCluster],
])('on %s', (_, topology) => {
  let gateway: ScriptedGateway;
  let receiver: BadGateway;
  let fleet: Fleet;
  let stores: Awaited<ReturnType<typeof startRedisCluster>> | undefined;
  /** When a card of each carrier was called last. */
  const lastCallAt = new Map<number, number>();

  beforeAll(async () => {
    gateway = await startScriptedGateway(({ interfaceName, iccid }) => {
      lastCallAt.set(isOfCarrier2(Number(iccid.slice(-8, -1))) ? 2 : 1, Date.now());
      return { body: interfaceName === 'flow' ? { used: 100 } : HEALTHY[interfaceName], delayMs: 20 };
    });
    receiver = await startBadGateway(answer(204, ''));
    fleet = await Fleet.start({ gatewayUrl: gateway.url });
    stores = await topology?.();
    for (const name of ['node1', 'node2', 'node3']) {
      await fleet.startDaemon({
        CARDPOLL_INSTANCE_NAME: name,
        CARDPOLL_WEBHOOKS_ALLOW_CIDRS: '127.0.0.1/32',
        ...(stores === undefined ? {} : { CARDPOLL_REDIS_URL: stores.url }),
      });
    }
    await fleet.setIntervals(INTERVAL_S);
    await fleet.importCards(
      CARDS,
      () => '',
      () => '',
      (cardId) => (isOfCarrier2(cardId) ? 2 : 1),
    );
    await fleet.cli('alerts', 'recommended', '--apply', '--webhook-url', receiver.url);
    await waitFor(async () => (await asked()).every(({ health }) => health === 'normal'), {
      everyMs: 1_000,
      timeoutMs: 3 * MINUTES,
      what: 'a fleet that is well',
    });
  }, 5 * MINUTES);
  afterAll(async () => {
    fleet?.close();
    await stores?.stop();
    await gateway?.close();
    await receiver?.close();
  });

  /** What each live instance answers. */
  const asked = () =>
    Promise.all(
      fleet.daemons
        .filter(({ process }) => process.running)
        .map(
          async ({ url }) => (await (await fetch(`${url}/api/admin/polling-stats`)).json()) as OverviewBody,
        ),
    );
  const reasons = async () => (await asked()).map((one) => one.health_reasons.map(({ code }) => code));
  const leader = async (): Promise<Daemon> => {
    for (const daemon of fleet.daemons) {
      const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
      if (/^cardpoll_leader\S* 1$/m.test(metrics)) return daemon;
    }
    throw new Error('no instance leads');
  };
  const trail = async (action: string) =>
    (await fleet.get<{ items: AuditBody[] }>(`/api/admin/audit?action=${action}`)).items;
  const messages = (event: string, code: RegExp) =>
    receiver.requests
      .map(({ body }) => JSON.parse(body) as Message)
      .filter((one) => one.event === event && code.test(one.text));

  it('no card of a carrier in maintenance is called by any of them, and the others are', async () => {
    await fleet.cli(
      'maintenance',
      'plan',
      '--from',
      'now',
      '--for',
      '10m',
      '--carrier',
      '2',
      '--reason',
      'swap',
    );
    await waitFor(
      async () => (await asked()).every(({ maintenance }) => maintenance[0]?.state === 'running'),
      {
        what: 'each instance to show the window',
      },
    );
    const silent = () => Date.now() - (lastCallAt.get(2) ?? 0) > 2_000 * INTERVAL_S;
    await waitFor(silent, { what: 'two intervals without a call for carrier 2' });
    expect(Date.now() - (lastCallAt.get(1) ?? 0)).toBeLessThan(1_000 * INTERVAL_S);
    expect(await reasons()).toEqual([[], [], []]);
    const endedAt = Date.now();
    const [window] = (await asked())[0]?.maintenance ?? [];
    await fleet.cli('maintenance', 'cancel', String(window?.id));
    await waitFor(() => (lastCallAt.get(2) ?? 0) > endedAt, { what: 'a call for carrier 2' });
    expect(Date.now() - endedAt).toBeLessThan(1_000 * (INTERVAL_S + 5));
    expect(await trail('maintenance.begin')).toHaveLength(1);
  });

  it('each says the same of the polls on time, and maintenance makes none late', async () => {
    await waitFor(
      async () => {
        const [first, ...others] = (await asked()).map(({ on_time: onTime }) => onTime);
        return first != null && others.every((one) => Math.abs((one?.percent ?? 0) - first.percent) < 1);
      },
      { what: 'one figure of polls on time' },
    );
    const [{ on_time: onTime }] = (await asked()) as [OverviewBody];
    expect(onTime?.polls).toBeGreaterThan(CARDS);
    expect(onTime?.percent).toBeGreaterThan(90);
  });

  it(
    'a pause of an hour is one message, although the leader changes',
    async () => {
      await fleet.cli('pause', '--for', '3h', '--reason', 'vendor window', '--yes');
      await waitFor(async () => (await reasons()).every(([first]) => first === 'paused'), {
        what: 'a pause',
      });
      expect(messages('alert.fired', /paused/)).toEqual([]);
      await query(fleet.databaseUrl, "UPDATE pauses SET since = since - interval '1 hour'");
      const [first] = await waitFor(
        () => (messages('alert.fired', /paused/).length > 0 ? messages('alert.fired', /paused/) : null),
        { timeoutMs: 2 * MINUTES, what: 'the reminder' },
      );
      expect(first).toMatchObject({ command: 'cardpoll resume', severity: 'warning' });
      expect(first?.text).toMatch(
        /^polling is paused by local for 1h .*, and for 2h 5.* more: vendor window, since /,
      );
      const killed = await leader();
      killed.process.signal('SIGKILL');
      fleet.daemons.splice(fleet.daemons.indexOf(killed), 1);
      await waitFor(leader, { what: 'another leader' });
      // A rule of its own shows that the new leader has evaluated the rules for as long as a pause takes to be reported.
      const condition = ['--rule-type', 'health', '--task', 'realname', '--threshold', '0'];
      await fleet.cli(
        'alerts',
        'rules',
        'create',
        '--name',
        'Probe',
        ...condition,
        '--webhook-url',
        receiver.url,
      );
      await waitFor(() => messages('alert.fired', /paused/).some(({ rule }) => rule.name === 'Probe'), {
        timeoutMs: 2 * MINUTES,
        what: 'the rule that was just created',
      });
      await fleet.cli('resume');
      // The new leader has evaluated the rules for a minute before it resolves one.
      await waitFor(() => messages('alert.resolved', /paused/).length > 0, {
        everyMs: 500,
        timeoutMs: 4 * MINUTES,
        what: 'the end of the reminder',
      });
      const reminders = messages('alert.fired', /paused/).filter(({ rule }) => rule.name !== 'Probe');
      expect(reminders).toHaveLength(1);
      expect(messages('alert.changed', /paused/)).toHaveLength(0);
    },
    8 * MINUTES,
  );
});
