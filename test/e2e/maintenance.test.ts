// Maintenance windows as an operator plans them: real daemon, real stores, a gateway that counts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';
import { type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 30;
let gateway: ScriptedGateway;
let fleet: Fleet;

beforeAll(async () => {
  gateway = await startScriptedGateway();
  fleet = await Fleet.start({ gatewayUrl: gateway.url });
  await fleet.startDaemon();
  await fleet.setIntervals(1);
  await fleet.importCards(CARDS, undefined, undefined, (cardId) => (cardId % 2 === 0 ? 2 : 1));
  await polled('flow', CARDS);
});

afterAll(async () => {
  fleet.close();
  await gateway.close();
});

/** Waits until so many different cards were asked for through an interface, since gateway.forget(). */
const polled = (name: string, cards: number) =>
  waitFor(() => cardsOf(name) >= cards, { what: `${cards} cards through ${name}` });
const cardsOf = (name: string) =>
  [...gateway.callsOf.keys()].filter((key) => key.startsWith(`${name} `)).length;
const callsOf = (name: string) =>
  [...gateway.callsOf].filter(([key]) => key.startsWith(`${name} `)).reduce((sum, [, n]) => sum + n, 0);
const plan = async (...options: string[]) => {
  const argv = ['maintenance', 'plan', '--reason', 'vendor window', ...options, '-o', 'json'];
  return JSON.parse((await fleet.cli(...argv)).stdout) as { readonly id: number };
};
const actions = async () => {
  const { items } = await fleet.get<{ items: { action: string; actor: string }[] }>('/api/admin/audit');
  return items.map(({ action, actor }) => `${action} ${actor}`);
};

it('a window of a carrier leaves its cards alone, and no others, until it is cancelled', async () => {
  const { id } = await plan('--from', 'now', '--for', '1h', '--carrier', '2', '--task', 'carddata');
  await waitFor(async () => (await actions()).includes('maintenance.begin daemon'));
  // What was claimed before may still be on its way.
  const before = callsOf('flow');
  await waitFor(() => callsOf('flow') >= before + CARDS);
  gateway.forget();
  await waitFor(() => callsOf('flow') >= 3 * CARDS);
  expect(cardsOf('flow'), 'only those of carrier 1').toBe(CARDS / 2);
  await polled('realname', CARDS);
  await fleet.cli('maintenance', 'cancel', String(id));
  await polled('flow', CARDS);
  expect((await actions())[0]).toBe('maintenance.cancel local');
});

it('a window of the fleet begins by itself as a pause, and its cancellation resumes polling', async () => {
  const { id } = await plan('--from', '+2s', '--for', '1h', '--task', 'realname');
  const pauses = async () =>
    (await fleet.get<{ items: { maintenance_id: number }[] }>('/api/admin/polling-pauses')).items;
  await waitFor(async () => (await pauses()).length > 0, { what: 'the window to begin' });
  expect(await pauses()).toMatchObject([{ task_type: 'realname', maintenance_id: id, by: 'local' }]);
  const before = callsOf('flow');
  await waitFor(() => callsOf('flow') >= before + CARDS);
  gateway.forget();
  await waitFor(() => callsOf('flow') >= 3 * CARDS);
  expect(callsOf('realname')).toBe(0);
  await fleet.cli('maintenance', 'cancel', String(id));
  await polled('realname', CARDS);
});
