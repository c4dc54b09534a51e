// The gateway dies under a fleet with the recommended alert rules: what holds polling back is reported within a minute, for
// every task type, in few messages, and is over when the gateway is back. Real processes and stores.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import type { AlertBody } from '../../src/resources/alerts.ts';
import type { PageBody } from '../../src/resources/schema.ts';
import type { OverviewBody } from '../../src/resources/stats.ts';
import { answer, type BadGateway, startBadGateway } from '../support/bad-gateway.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';
import { healthy, type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 400;
const INTERVAL_SECONDS = 10;
const OUTAGE_RULES = ['health'];

let gateway: ScriptedGateway;
let receiver: BadGateway;
let fleet: Fleet;

beforeAll(async () => {
  gateway = await startScriptedGateway();
  fleet = await Fleet.start({ gatewayUrl: gateway.url });
  receiver = await startBadGateway(answer(204, ''));
  await fleet.startDaemon({ CARDPOLL_WEBHOOKS_ALLOW_CIDRS: '127.0.0.1/32' });
  await fleet.setIntervals(INTERVAL_SECONDS);
  await fleet.importCards(CARDS);
});
afterAll(async () => {
  fleet?.close();
  await gateway?.close();
  await receiver?.close();
});

const stats = () => fleet.get<OverviewBody>('/api/admin/polling-stats');
const alertsOfOutage = ({ requests }: BadGateway) =>
  requests
    .flatMap(({ body }) => (JSON.parse(body) as { alerts: Array<{ rule: { rule_type: string } }> }).alerts)
    .filter(({ rule }) => OUTAGE_RULES.includes(rule.rule_type));
const alerts = async () =>
  (await fleet.get<PageBody<AlertBody>>('/api/admin/polling-alert-history?page_size=100')).items;

it('alerts within a minute of the death of the gateway, and resolves them', async () => {
  await waitFor(async () => (await stats()).tasks.every((task) => task.total > CARDS), {
    everyMs: 200,
    what: 'every task type to be polled',
  });
  await fleet.cli('alerts', 'recommended', '--apply', '--webhook-url', receiver.url);
  const { port } = new URL(gateway.url);
  await gateway.close();
  const diedAt = Date.now();

  const arrival = waitFor(() => (alertsOfOutage(receiver).length > 0 ? Date.now() : null), {
    what: 'the first message about the outage',
  });

  const ofOutage = async () => (await alerts()).filter(({ rule_type }) => OUTAGE_RULES.includes(rule_type));
  const fired = await waitFor(
    async () => {
      const items = await ofOutage();
      return items.length === OUTAGE_RULES.length * TASK_TYPES.length ? items : null;
    },
    { everyMs: 200, what: 'every rule that watches an outage to fire' },
  );
  // docs/alerts.md promises the first message within a minute.
  expect(((await arrival) - diedAt) / 1_000, 'seconds until the first message').toBeLessThan(60);
  const { tasks, capacity } = await stats();
  expect(tasks.map((task) => task.polled_percent)).toEqual([0, 0, 0]);
  // The calls that fail at once pretend no capacity.
  expect(capacity).toMatchObject({ capacity_per_second: null, headroom_percent: null, drain_seconds: null });
  expect(capacity.held_by).toBe('the gateway refuses connections');

  const ids = fired.map(({ id }) => id);
  const messages = await waitFor(
    () => {
      const bodies = receiver.requests.map(({ body }) => JSON.parse(body) as { alerts: AlertBody[] });
      const told = bodies.map(({ alerts }) => alerts.map(({ id }) => id));
      return ids.every((id) => told.flat().includes(id)) ? told : null;
    },
    { everyMs: 200, what: 'the receiver to hear of every alert' },
  );
  expect(new Set(messages.flat()).size, 'each alert in one message').toBe(messages.flat().length);
  expect(messages, 'one cause, one message').toHaveLength(1);
  const [message] = receiver.requests.map(({ body }) => JSON.parse(body) as Record<string, string>);
  expect(message).toMatchObject({ severity: 'alert', command: 'cardpoll doctor' });
  expect(message?.text).toMatch(/gateway.*(DOWN|down|open|ECONNREFUSED|refused)/i);

  gateway = await startScriptedGateway(healthy, Number(port));
  const isOver = ({ resolved_at }: AlertBody) => resolved_at !== null;
  await waitFor(async () => (await ofOutage()).every(isOver), {
    everyMs: 200,
    what: 'the alerts of the outage to be resolved',
  });
});
