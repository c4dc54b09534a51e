// A gateway shows another unit or counter from one moment on, and no customer is over the package; or it shows what devices upload
// together. How many are cut off, by what the gateway counts: a few before the readings were compared, and none until they are right again.
import { afterEach, expect, it } from 'vitest';
import type { OverviewBody } from '../../src/resources/stats.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 1_200;
const ALLOWANCE_MB = 500;
const INTERVAL_S = 20;
/** Three readings of every card. */
const LASTS_MS = 60_000;
/** A twentieth of the cards have this carrier. */
const SMALL_CARRIER = 2;
/** Cards that a step may cut off: 20, and those whose calls were under way when it was seen. */
const FEW = 25;

let gateway: ScriptedGateway;
let fleet: Fleet;

/** Customers that were cut off, by what the gateway showed. */
const notes: string[] = [];

afterEach(async () => {
  fleet?.close();
  await gateway?.close();
});

const isSmall = (cardId: number) => cardId % 20 === 0;
const chance = (cardId: number, most: number) => (cardId * 7_919) % most;

it.each<[string, (mb: number, cardId: number) => number]>([
  ['2 times as much', (mb) => 2 * mb],
  ['4 times', (mb) => 4 * mb],
  ['8 times', (mb) => 8 * mb],
  ['10 times', (mb) => 10 * mb],
  ['16 times', (mb) => 16 * mb],
  ['20 times', (mb) => 20 * mb],
  ['900 MB more', (mb) => mb + 900],
  ['4,000 MB more', (mb) => mb + 4_000],
  ["a pool's total", () => 250_000],
  ['8 times, of a small carrier', (mb, cardId) => (isSmall(cardId) ? 8 * mb : mb)],
  ['counters of the whole life', (mb, cardId) => mb + 1_000 + chance(cardId, 40_000)],
])('%s', async (shown, shownMb) => {
  let isWrong = false;
  const used = new Map<string, number>();
  const stopped = new Set<string>();
  gateway = await startScriptedGateway(({ interfaceName, iccid }) => {
    const cardId = Number(iccid.slice(-8, -1));
    if (interfaceName === 'flow') {
      const mb = (used.get(iccid) ?? 260 + (cardId % 40)) + 0.01;
      used.set(iccid, mb);
      return { body: { used: isWrong ? shownMb(mb, cardId) : mb } };
    }
    if (interfaceName === 'card_status')
      return { body: { cardStatus: stopped.has(iccid) ? 'stopped' : 'active' } };
    if (interfaceName === 'stop') stopped.add(iccid);
    return { body: HEALTHY[interfaceName] };
  });
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: { CARDPOLL_STOPS_MAX_PER_HOUR: 'none', CARDPOLL_STOPS_MAX_PER_DAY: 'none' },
  });
  await fleet.startDaemon();
  await fleet.setIntervals(INTERVAL_S);
  await fleet.importCards(
    CARDS,
    () => ALLOWANCE_MB,
    () => '',
    (cardId) => (isSmall(cardId) ? SMALL_CARRIER : 1),
  );
  await waitFor(() => used.size === CARDS, { timeoutMs: 120_000, what: 'a reading of every card' });
  await lasts(INTERVAL_S * 1_000);
  expect(gateway.calls.stop ?? 0).toBe(0);
  isWrong = true;
  await lasts(LASTS_MS);
  const cut = stopped.size;
  notes.push(`${shown}: ${cut}`);
  expect(cut).toBeLessThanOrEqual(FEW);
  isWrong = false;
  await lasts(LASTS_MS);
  expect(stopped.size, 'none of those that waited').toBe(cut);
  const { stops } = await fleet.get<OverviewBody>('/api/admin/polling-stats');
  expect(stops.mode).toBe('enforce');
});

it('is noted', async ({ annotate }) => {
  expect(notes.length).toBeGreaterThan(0);
  await annotate(`customers cut off of ${CARDS}: ${notes.join(', ')}`);
});

async function lasts(ms: number): Promise<void> {
  const since = performance.now();
  await waitFor(() => performance.now() - since > ms, { timeoutMs: 2 * ms, what: 'some readings' });
}
