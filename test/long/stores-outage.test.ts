// Somebody is woken while the stores are away, by a message that needs neither, and afterwards the outage is in the alert history.
// Two real daemons, real stores and a receiver, whose own count is the measure.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AlertBody } from '../../src/resources/alerts.ts';
import type { PageBody } from '../../src/resources/schema.ts';
import { answer, type BadGateway, startBadGateway } from '../support/bad-gateway.ts';
import { Fleet } from '../support/fleet.ts';
import { type PostgresServer, query, startPostgres } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';

interface Message {
  readonly event: string;
  readonly text: string;
  readonly severity: string;
  readonly dedup_key: string;
  readonly fired_at: string;
  readonly resolved_at?: string;
}

let postgres: PostgresServer;
let receiver: BadGateway;
let fleet: Fleet;

beforeAll(async () => {
  postgres = await startPostgres();
  fleet = await Fleet.start({ postgres });
  receiver = await startBadGateway(answer(204, ''));
  const env = { CARDPOLL_WEBHOOKS_ALLOW_CIDRS: '127.0.0.1/32' };
  await fleet.startDaemon(env);
  await fleet.startDaemon(env);
  await fleet.setIntervals(60);
  await fleet.importCards(20);
  await fleet.cli('alerts', 'recommended', '--apply', '--webhook-url', receiver.url);
});
afterAll(async () => {
  fleet?.close();
  await postgres?.stop();
  await receiver?.close();
});

const messages = (event: string) =>
  receiver.requests.map(({ body }) => JSON.parse(body) as Message).filter((one) => one.event === event);
const outages = async () =>
  (await fleet.get<PageBody<AlertBody>>('/api/admin/polling-alert-history?page_size=100')).items.filter(
    ({ rule_id }) => rule_id === 0,
  );

async function setReadOnly(setting: 'on' | 'off'): Promise<void> {
  await query(postgres.url, `ALTER SYSTEM SET default_transaction_read_only = ${setting}`);
  await query(postgres.url, 'SELECT pg_reload_conf()');
}

const FAULTS: ReadonlyArray<{
  readonly fault: string;
  readonly told: number;
  readonly text: RegExp;
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
}> = [
  {
    fault: 'Redis is stopped',
    told: 1,
    text: /^Redis does not answer /,
    begin: () => fleet.redisServer.kill('SIGKILL'),
    end: () => fleet.redisServer.restart(),
  },
  {
    fault: 'PostgreSQL is stopped',
    told: 1,
    text: /^PostgreSQL cannot be used by any of 2 instances, says .*ECONNREFUSED/,
    begin: () => postgres.kill('SIGKILL'),
    end: () => postgres.restart(),
  },
  {
    fault: 'PostgreSQL takes no writes',
    told: 1,
    text: /^PostgreSQL cannot be used by any of 2 instances, says .*takes no writes/,
    begin: () => setReadOnly('on'),
    end: () => setReadOnly('off'),
  },
  {
    fault: 'both are stopped',
    told: 2,
    text: /^neither Redis nor PostgreSQL answers .*may itself be cut off/,
    begin: async () => {
      await fleet.redisServer.kill('SIGKILL');
      await postgres.kill('SIGKILL');
    },
    end: async () => {
      await postgres.restart();
      await fleet.redisServer.restart();
    },
  },
];

it.each(FAULTS)(
  '$fault: a webhook arrives within a minute, and another at the end',
  async ({ fault, told, text, begin, end }) => {
    const before = (await outages()).length;
    const fired = messages('alert.fired').length;
    const resolved = messages('alert.resolved').length;
    await begin();
    const beganAt = Date.now();
    await waitFor(() => messages('alert.fired').length >= fired + told, {
      everyMs: 100,
      what: `the message that ${fault}`,
    });
    const seconds = (Date.now() - beganAt) / 1_000;
    expect(seconds, 'docs/alerts.md promises a minute').toBeLessThan(60);
    const [message] = messages('alert.fired').slice(fired);
    expect(message?.text).toMatch(text);
    expect(message?.severity).toBe('alert');
    await end();
    const endedAt = Date.now();
    await waitFor(() => messages('alert.resolved').length > resolved, {
      everyMs: 200,
      what: 'the message of the end',
    });
    const [over] = messages('alert.resolved').slice(resolved);
    expect(over?.dedup_key).toBe(message?.dedup_key);
    expect(over?.text).toMatch(/^over: /);

    const [outage, ...others] = (await outages()).slice(0, (await outages()).length - before);
    expect(others, 'one outage').toEqual([]);
    expect(outage?.cause?.text).toMatch(text);
    const times = [outage?.fired_at, outage?.resolved_at].map((at) => Date.parse(at ?? ''));
    expect(Math.abs((times[0] ?? 0) - beganAt), 'its beginning').toBeLessThan(15_000);
    expect(Math.abs((times[1] ?? 0) - endedAt), 'its end').toBeLessThan(15_000);
    const sent = outage?.notifications.filter(
      ({ event, status }) => event === 'alert.fired' && status === 'delivered',
    );
    expect(sent).toHaveLength(told);
    expect(messages('alert.fired'), 'by the receiver').toHaveLength(fired + told);
    expect(messages('alert.resolved'), 'by the receiver').toHaveLength(resolved + 1);
  },
);
