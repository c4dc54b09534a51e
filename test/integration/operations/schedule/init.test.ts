// Initialisation at the operations: what the leader repaired, and under which name a comparison is asked for.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Actor } from '../../../../src/domain/audit.ts';
import type { Operations } from '../../../../src/operations/operations.ts';
import { INIT_NOT_STARTED, NEVER_RECONCILED } from '../../../../src/store/ports/live/coordination.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';

const ANNA: Actor = { name: 'anna', role: 'admin', address: null, requestId: null };

let database: OperatedStores;
let stores: OperatedStores;
let clock: FakeClock;
let init: Operations['init'];

beforeAll(async () => {
  database = await openOperatedStores();
});
afterAll(() => database.close());
beforeEach(async () => {
  clock = new FakeClock();
  stores = await openOperatedStores({ databaseOf: database, clock });
  init = stores.operations().init;
});
afterEach(() => stores.close());

const requestedAt = async () => (await init.progress()).reconciliation.requestedAt;
/** The leader has answered every request up to this one. */
const answer = (answeredRequestMs: number) =>
  stores.live.coordination.saveReconciliation({ ...NEVER_RECONCILED, answeredRequestMs });

it('the progress shows what was repaired', async () => {
  const { coordination } = stores.live;
  await coordination.saveInitProgress({ ...INIT_NOT_STARTED, status: 'completed', total: 9, loaded: 9 });
  await coordination.saveReconciliation({
    ...NEVER_RECONCILED,
    reason: 'members_lost',
    checked: 7,
    startedAtMs: 1_000,
    sweptAtMs: 2_000,
    healedMissing: 3,
    healedForeign: 4,
    healedDouble: 5,
  });
  expect(await init.progress()).toMatchObject({
    status: 'completed',
    percent: 100,
    loaded: 9,
    reconciliation: {
      reason: 'members_lost',
      checked: 7,
      startedAt: new Date(1_000),
      sweptAt: new Date(2_000),
      healedMissing: 3,
      healedForeign: 4,
      healedDouble: 5,
      requestedAt: null,
    },
  });
});

it('a comparison is requested again after the request before was answered', async () => {
  const { reconciliation } = await init.rebuild(ANNA);
  await answer(reconciliation.requestedAt?.getTime() ?? 0);
  expect(await requestedAt()).toBeNull();
  clock.advance(1_000);
  await init.rebuild(ANNA);
  expect(await requestedAt()).toEqual(new Date(clock.now()));
});

it('a request has a later number than the last answer, whatever this clock says', async () => {
  const ahead = clock.now() + 5_000;
  await answer(ahead);
  await init.rebuild(ANNA);
  expect(await requestedAt()).toEqual(new Date(ahead + 1));
});

it('a request has a whole number', async () => {
  const now = clock.now();
  clock.advance(0.5);
  await init.rebuild(ANNA);
  expect((await stores.live.coordination.reconciliation()).requestedMs).toBe(now + 1);
});
