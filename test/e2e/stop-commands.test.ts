// The commands about stops as an operator types them: built binary, real daemon, real stores, a gateway that counts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cliHere } from '../support/cli-here.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';

const CARDS = 20;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await Fleet.start();
  await fleet.startDaemon({ CARDPOLL_STOPS_MODE: 'observe' });
  await fleet.setIntervals(1);
  await fleet.importCards(CARDS);
});
afterAll(() => fleet.close());

const cardpoll = (...args: string[]) => cliHere(args, { env: { CARDPOLL_URL: fleet.daemons[0]?.url } });

it('a fleet is polled by the profile', async () => {
  const seen = new Set<unknown>();
  await waitFor(
    async () => {
      for await (const { iccid, used } of fleet.logLines()) if (typeof used === 'number') seen.add(iccid);
      return seen.size === CARDS;
    },
    { everyMs: 100, what: 'the usage of every card' },
  );
  for await (const { error } of fleet.logLines()) expect(error).toBeUndefined();
});

it('a daemon that observes stops nothing until an operator enforces', async () => {
  expect((await fleet.cli('stops', 'mode')).stdout).toMatch(/^mode +observe\nsource +setting\n/);
  const refused = await cardpoll('cards', 'stop', '7', '--reason', 'stolen', '--yes');
  expect([refused.code, refused.stderr]).toEqual([
    75,
    expect.stringContaining('cardpoll stops mode enforce'),
  ]);
  expect((await cardpoll('stops', 'mode', 'enforce', '--reason', 'checked')).code, 'asks').toBe(64);
  await fleet.cli('stops', 'mode', 'enforce', '--reason', 'checked', '--yes');

  const stopped = await fleet.cli('cards', 'stop', '7', '--reason', 'stolen', '--yes', '--wait');
  expect(stopped.stdout).toMatch(/^stopped +yes$/m);
  expect(Object.values((await fleet.truth()).stops)).toEqual([1]);
  expect((await fleet.cli('stops', '--state', 'done')).stdout).toMatch(/^ +7 +\d+ +\d+ +\d{4}-\d\d +done /m);
  const again = await fleet.cli('cards', 'stop', '7', '--reason', 'again', '--yes', '--wait');
  expect(again.stdout).toMatch(/^stopped +yes$/m);
  expect(Object.values((await fleet.truth()).stops), 'a card that is stopped gets no call').toEqual([1]);

  await fleet.cli('stops', 'mode', 'observe', '--reason', 'emergency');
  expect((await fleet.cli('stops', 'mode')).stdout).toMatch(/^mode +observe\nsource +operator\n/);
  const actions = (await fleet.cli('audit', '--action', 'stops', '-o', 'jsonl')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).action);
  expect(actions).toEqual(['stops.mode', 'stops.order', 'stops.order', 'stops.mode']);
});
