// The nights of an operator, one after another, on real stores with the recommended alert rules: when the reports name what is
// wrong, when somebody is told, and when all is normal again after the fault has ended. Two task types are polled often and one
// every other second, because a rare one has few polls to be judged by. Prints the figures as a table.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OverviewBody } from '../../src/resources/stats.ts';
import { answer, type BadGateway, startBadGateway } from '../support/bad-gateway.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { type PostgresServer, query, startPostgres } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';
import { type Script, type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 1_500;
const FAULT_SECONDS = 70;
const FIRST_MINUTE_MS = 60_000;
/** Normal for so long is normal again. */
const CALM_SECONDS = 25;

let gateway: ScriptedGateway;
let receiver: BadGateway;
let postgres: PostgresServer;
let fleet: Fleet;
/** What the gateway multiplies readings with. */
let factor = 1;
/** Megabytes that a card has used, a little more at each reading. */
const readings = new Map<string, number>();
const table: string[] = [];
let locker: pg.Client | null = null;

const healthy: Script = ({ interfaceName, iccid }) => {
  if (interfaceName !== 'flow') return { body: HEALTHY[interfaceName], delayMs: 20 };
  const used = (readings.get(iccid) ?? 20 + (Number(iccid.slice(-4)) % 400)) + 0.01;
  readings.set(iccid, used);
  return { body: { used: used * factor }, delayMs: 20 };
};
/** A fifth of the cards. */
const isOfCarrier2 = (cardId: number) => cardId % 5 === 0;
const cardOf = (iccid: string) => Number(iccid.slice(-8, -1));
const sick = (one: Script) => async () => gateway.follow(one);
const cured = async () => gateway.follow(healthy);

async function sql(text: string): Promise<void> {
  await query(fleet.databaseUrl, text);
}
const readOnly = async (setting: 'on' | 'off') => {
  await sql(`ALTER SYSTEM SET default_transaction_read_only = ${setting}`);
  await sql('SELECT pg_reload_conf()');
};

interface Night {
  readonly night: string;
  /** What names it: the code of a reason or a text in it. */
  readonly named: RegExp;
  /** A fault that hurts no one wakes no one. */
  readonly wakes: boolean;
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
}

const NIGHTS: readonly Night[] = [
  {
    night: 'the gateway takes 3 s',
    named: /gateway_slow/,
    wakes: true,
    begin: sick((call) => ({ ...healthy(call), delayMs: 3_000 })),
    end: cured,
  },
  {
    night: 'one carrier takes 3 s',
    named: /carrier_slow: .*: carrier 2 takes/,
    wakes: false,
    begin: sick((call) => ({ ...healthy(call), delayMs: isOfCarrier2(cardOf(call.iccid)) ? 3_000 : 20 })),
    end: cured,
  },
  {
    night: 'the gateway is dead',
    named: /breaker_open|success_rate/,
    wakes: true,
    begin: () => gateway.close(),
    end: async () => {
      gateway = await startScriptedGateway(healthy, Number(new URL(gateway.url).port));
    },
  },
  {
    night: 'the gateway answers 401',
    named: /breaker_open|success_rate|auth/,
    wakes: true,
    begin: sick(() => ({ status: 401, body: '{"code":401,"msg":"no"}' })),
    end: cured,
  },
  {
    night: 'a twentieth is answered 503',
    named: /./,
    wakes: false,
    begin: sick((call) =>
      Number(call.iccid.slice(-4)) % 20 === 0 ? { status: 503, body: 'busy' } : healthy(call),
    ),
    end: cured,
  },
  {
    night: 'Redis is frozen',
    named: /Redis|live_store/i,
    wakes: true,
    begin: async () => void process.kill(fleet.redisServer.pid, 'SIGSTOP'),
    end: async () => void process.kill(fleet.redisServer.pid, 'SIGCONT'),
  },
  {
    night: 'PostgreSQL takes no writes',
    named: /PostgreSQL|record_store/i,
    wakes: true,
    begin: () => readOnly('on'),
    end: () => readOnly('off'),
  },
  {
    night: 'the table of cards is locked',
    named: /table_locked: PostgreSQL answers, but statements on cards wait/,
    wakes: true,
    begin: async () => {
      locker = new pg.Client({ connectionString: fleet.databaseUrl });
      await locker.connect();
      await locker.query('BEGIN; LOCK TABLE cards IN ACCESS EXCLUSIVE MODE');
    },
    end: async () => locker?.end(),
  },
  {
    night: 'the table of stops is locked',
    named: /table_locked: PostgreSQL answers, but statements on card_stops wait/,
    wakes: true,
    begin: async () => {
      locker = new pg.Client({ connectionString: fleet.databaseUrl });
      await locker.connect();
      await locker.query('BEGIN; LOCK TABLE card_stops IN ACCESS EXCLUSIVE MODE');
    },
    end: async () => locker?.end(),
  },
  {
    night: 'readings are 1,000 times too much',
    named: /stops_|stop_surge|usage_jump|implausible/,
    wakes: true,
    begin: async () => {
      factor = 1_000;
    },
    end: async () => {
      factor = 1;
    },
  },
];

beforeAll(async () => {
  postgres = await startPostgres();
  gateway = await startScriptedGateway(healthy);
  receiver = await startBadGateway(answer(204, ''));
  fleet = await Fleet.start({ postgres, gatewayUrl: gateway.url });
  await fleet.startDaemon({ CARDPOLL_WEBHOOKS_ALLOW_CIDRS: '127.0.0.1/32' });
  await fleet.setIntervals(60);
  await fleet.cli('configs', 'set', '4', '--interval-seconds', '3000');
  await fleet.importCards(
    CARDS,
    () => 500,
    () => '',
    (cardId) => (isOfCarrier2(cardId) ? 2 : 1),
  );
  await fleet.cli('alerts', 'recommended', '--apply', '--webhook-url', receiver.url);
  // In the first minute of a fleet its metrics are no alerts yet.
  await sleep(FIRST_MINUTE_MS);
  // Two nights in five minutes have the same cause, which is told once in that time.
  await sql('UPDATE alert_rules SET cooldown_seconds = 0');
});
afterAll(async () => {
  process.stdout.write(`${['fault | named | told | messages | normal again', ...table].join('\n')}\n`);
  fleet?.close();
  await gateway?.close();
  await postgres?.stop();
  await receiver?.close();
});

/** Everything that the reports say now, in one text; null: normal. */
async function said(): Promise<string | null> {
  const overview = await fleet
    .get<OverviewBody & { error?: unknown }>('/api/admin/polling-stats')
    .catch(String);
  if (typeof overview === 'string' || overview.health_reasons === undefined) return JSON.stringify(overview);
  if (overview.health === 'normal') return null;
  return overview.health_reasons.map(({ severity, code, text }) => `${severity} ${code}: ${text}`).join('; ');
}

const messages = () =>
  receiver.requests.map(({ body }) => JSON.parse(body) as { event: string; text: string });
const messagesOf = (event: string) => messages().filter((one) => one.event === event);

async function normalFor(seconds: number): Promise<number> {
  let since = Date.now();
  let last = '';
  await waitFor(
    async () => {
      const now = await said();
      if (now !== null) since = Date.now();
      if (now !== null && now !== last)
        process.stdout.write(`    ${new Date().toISOString().slice(11, 19)} ${now}\n`);
      last = now ?? '';
      return Date.now() - since >= seconds * 1_000;
    },
    { everyMs: 1_000, timeoutMs: 400_000, what: 'health to be normal' },
  );
  return since;
}

it.each(NIGHTS)('$night: named, reported and over', async ({ night, named, wakes, begin, end }) => {
  await normalFor(CALM_SECONDS);
  // What comes back while its alert is open is the same incident.
  await waitFor(
    async () =>
      (await fleet.get<{ total: number }>('/api/admin/polling-alert-history?state=firing')).total === 0,
    { everyMs: 500, what: 'the alerts of the night before to be resolved' },
  );
  const fired = messagesOf('alert.fired').length;
  const beganAt = Date.now();
  const since = (at: number | null, from: number) =>
    at === null ? '-' : `${Math.round((at - from) / 1_000)} s`;
  await begin();
  let namedAt: number | null = null;
  let toldAt: number | null = null;
  let last = '';
  while (Date.now() - beganAt < FAULT_SECONDS * 1_000) {
    const text = await said();
    if (namedAt === null && text !== null && named.test(text)) namedAt = Date.now();
    const words = (text ?? 'normal').replaceAll(/[\d,.]+/g, 'N');
    if (words !== last) process.stdout.write(`  ${since(Date.now(), beganAt)} ${night}: ${text}\n`);
    last = words;
    if (toldAt === null && messagesOf('alert.fired').length > fired) toldAt = Date.now();
    await sleep(1_000);
  }
  const told = messagesOf('alert.fired').slice(fired);
  for (const { text } of told) process.stdout.write(`  told: ${text}\n`);
  await end();
  const endedAt = Date.now();
  const normalAt = await normalFor(CALM_SECONDS);
  table.push(
    [night, since(namedAt, beganAt), since(toldAt, beganAt), told.length, since(normalAt, endedAt)].join(
      ' | ',
    ),
  );
  process.stdout.write(`${table.at(-1)}\n`);
  expect(namedAt, 'named').not.toBeNull();
  if (!wakes) return;
  expect(toldAt, 'told').not.toBeNull();
});
