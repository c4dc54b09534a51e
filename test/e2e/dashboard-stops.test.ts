// The view of stops on a real terminal over a real daemon that holds stops: an operator lists, releases and dismisses them,
// and sets the mode, each with a reason.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PageBody } from '../../src/resources/schema.ts';
import type { StopBody, StopModeBody } from '../../src/resources/stops.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';
import { quoted } from '../support/terminal.ts';
import { Tmux } from '../support/tmux.ts';

const BINARY = fileURLToPath(new URL('../../bin/cardpoll.js', import.meta.url));
const CARDS = 3;

let fleet: Fleet;
let shell: Tmux | null = null;

beforeAll(async () => {
  fleet = await Fleet.start({ env: { CARDPOLL_STOPS_MAX_PER_HOUR: '0' } });
  await fleet.startDaemon();
  await fleet.setIntervals(1);
  await fleet.importCards(CARDS, () => 0);
});
afterAll(async () => {
  await shell?.close();
  fleet?.close();
});

const stopsIn = (state: string) => fleet.get<PageBody<StopBody>>(`/api/admin/stops?state=${state}`);

it('decides about held stops, and sets the mode', async () => {
  await waitFor(async () => (await stopsIn('held')).total === CARDS, { what: 'the stops to be held' });
  const terminal = await Tmux.start();
  shell = terminal;
  const decide = async (key: string, question: RegExp, reason: string, title: RegExp, result: RegExp) => {
    await terminal.press(key);
    await terminal.waitFor(question);
    await terminal.type(reason);
    await terminal.press('Enter');
    await terminal.waitFor(title);
    await terminal.press('y');
    await terminal.waitFor(result);
  };
  const command = [process.execPath, BINARY, 'dashboard', '--url', fleet.daemons[0]?.url ?? ''];
  await terminal.type(command.map(quoted).join(' '));
  await terminal.press('Enter');
  await terminal.waitFor(/● live/);
  await terminal.press('7');
  await terminal.waitFor(/^the latest 3 of 3 held stops[\s\S]*^▸ +\d .*held .*budget_hour/m);

  await terminal.press('j');
  const [, picked] = (await terminal.waitFor(/^ {2} *\d [^\n]*\n▸ +\d /m)).match(/^▸ +(\d) /m) ?? [];
  await decide(
    'D',
    new RegExp(`Reason to dismiss card ${picked}:`),
    'a test card',
    /Stop of card 2: dismissed/,
    new RegExp(`the stop of card ${picked} is dismissed`),
  );
  expect((await stopsIn('dismissed')).items).toMatchObject([
    { card_id: Number(picked), reason: 'a test card' },
  ]);
  await terminal.waitFor(/^the latest 2 of 2 held stops/m);

  await decide('R', /Reason to release card/, 'checked', /held -> released/, /is released/);
  await waitFor(async () => (await stopsIn('done')).total === 1, { what: 'the released stop to be made' });
  await decide('A', /Reason to release all 1 held/, 'checked', /same as: .*--all/, /held stops released: 1/);
  await waitFor(async () => (await stopsIn('done')).total === 2, { what: 'the other stop to be made' });
  await terminal.waitFor(/^the latest 3 of 3 stops/m);

  await decide(
    'M',
    /Reason to set mode observe:/,
    'too many',
    /enforce -> observe/,
    /mode of stops: enforce -> observe/,
  );
  expect(await fleet.get<StopModeBody>('/api/admin/stops/mode')).toMatchObject({
    mode: 'observe',
    reason: 'too many',
  });
  await terminal.waitFor(/^mode +▲ observe/m);
  await terminal.press('q');
});
