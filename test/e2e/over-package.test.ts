// How soon a card that is over its package is stopped: when the reading is known, and not an interval later. The built
// daemon on real stores.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { query } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';
import {
  type ScriptedCall,
  type ScriptedGateway,
  startScriptedGateway,
} from '../support/scripted-gateway.ts';

const CARDS = 20;
const INTERVAL_SECONDS = 1_200;
/** A twentieth of the interval, also on a machine that is busy. */
const SOON_MS = 60_000;

let gateway: ScriptedGateway;
let fleet: Fleet;
/** The first readings. */
const readAt = new Map<string, number>();
const stoppedAt = new Map<string, number>();

function answer({ interfaceName, iccid }: ScriptedCall) {
  if (interfaceName === 'flow') {
    if (!readAt.has(iccid)) readAt.set(iccid, performance.now());
    return { body: { used: 100 } };
  }
  if (interfaceName === 'stop') stoppedAt.set(iccid, performance.now());
  if (interfaceName === 'card_status') {
    return { body: { cardStatus: stoppedAt.has(iccid) ? 'stopped' : 'active' } };
  }
  return { body: HEALTHY[interfaceName] };
}

beforeAll(async () => {
  gateway = await startScriptedGateway(answer);
  fleet = await Fleet.start({ gatewayUrl: gateway.url });
  // Before the daemon makes its rings, so that they begin in one moment, as those of a new fleet do.
  await query(fleet.databaseUrl, 'UPDATE polling_configs SET interval_seconds = $1', [INTERVAL_SECONDS]);
  await fleet.startDaemon();
});
afterAll(async () => {
  fleet?.close();
  await gateway?.close();
});

/** How long after an instant each of these cards was stopped. */
async function delays(cards: readonly string[], since: (iccid: string) => number): Promise<number[]> {
  await waitFor(() => cards.every((iccid) => stoppedAt.has(iccid)), {
    timeoutMs: 120_000,
    what: 'the stops',
  });
  return cards.map((iccid) => (stoppedAt.get(iccid) as number) - since(iccid));
}

const iccids = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => demoIccid(from + i));

it('by a reading, and by an allowance that is lowered', async () => {
  // The first half is over by what they use, the other will be by what they may use.
  await fleet.importCards(CARDS, (cardId) => (cardId <= CARDS / 2 ? 50 : 1_000));
  const ids = Array.from({ length: CARDS }, (_, i) => i + 1).join(',');
  await fleet.cli('trigger', 'batch', '--card-ids', ids, '--task', 'carddata');
  const byReading = await delays(iccids(1, CARDS / 2), (iccid) => readAt.get(iccid) as number);
  expect(Math.max(...byReading)).toBeLessThan(SOON_MS);

  await waitFor(() => readAt.size === CARDS, { timeoutMs: 60_000, what: 'all readings' });
  expect(stoppedAt.size).toBe(CARDS / 2);
  const loweredAt = performance.now();
  await fleet.importCards(CARDS, () => 50);
  const byAllowance = await delays(iccids(CARDS / 2 + 1, CARDS), () => loweredAt);
  expect(Math.max(...byAllowance)).toBeLessThan(SOON_MS);
});
