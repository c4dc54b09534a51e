// Which cards over their package become due, by the configs. The records' answer is made up, the live store the embedded one.

import { beforeEach, expect, it } from 'vitest';
import type { Card } from '../../../../src/domain/cards/card.ts';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { ConfigMatcher, type PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { makeOverPackageUrgent } from '../../../../src/engine/results/over-package.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';

const CONFIG: PollingConfig = {
  ...{ id: 1, name: 'package', taskType: 'package', cardCondition: 'any', carrierId: null },
  ...{ intervalSeconds: 1_800, priority: 0, status: 1 },
};
const card = (cardId: number, carrierId = 1) => ({ cardId, carrierId, realNameVerified: true });

let live: LiveStore;
let offersStop: boolean;
/** Those the records say are to be stopped. */
let wanted: Array<ReturnType<typeof card>>;

beforeEach(() => {
  live = openLimitedLiveStore({ clock: systemClock });
  wanted = [card(1), card(2, 7)];
  offersStop = true;
});

async function dueAfter(cardIds: readonly number[], ...configs: PollingConfig[]): Promise<number> {
  const deps = {
    live,
    records: {
      stops: {
        wanted: async (asked: readonly number[]) => wanted.filter(({ cardId }) => asked.includes(cardId)),
      } as unknown as RecordStore['stops'],
    },
    offers: (name: InterfaceName) => name !== 'stop' || offersStop,
    matcher: () => new ConfigMatcher(configs),
    queueCap: 10,
  };
  await makeOverPackageUrgent(deps, cardIds);
  return (await live.work.counts('package')).due;
}

it('makes those due that are to be stopped', async () => {
  expect(await dueAfter([1, 3], CONFIG)).toBe(1);
});

it.each<[string, PollingConfig[]]>([
  ['whose config is disabled', [{ ...CONFIG, status: 0 }]],
  ['that no config of the type polls', [{ ...CONFIG, taskType: 'carddata' }]],
  ['that no config selects', [{ ...CONFIG, carrierId: 7 }]],
])('leaves out cards %s', async (_, configs) => {
  expect(await dueAfter([1], ...configs)).toBe(0);
});

it('makes none due when the gateway offers no stop', async () => {
  offersStop = false;
  expect(await dueAfter([1, 3], CONFIG)).toBe(0);
});

it('has them read from the records, and not from a cache filled before', async () => {
  await live.cards.put(
    [1, 2].map((cardId) => ({ ...card(cardId), iccid: String(cardId) }) as Card),
    60_000,
  );
  await dueAfter([1], CONFIG);
  expect([...(await live.cards.get([1, 2])).keys()]).toEqual([2]);
});

it('asks nothing about no card', async () => {
  const broken = { stops: { wanted: () => Promise.reject(new Error('asked')) } };
  const deps = {
    live,
    records: broken as unknown as RecordStore,
    offers: () => true,
    matcher: () => new ConfigMatcher([CONFIG]),
    queueCap: 10,
  };
  await makeOverPackageUrgent(deps, []);
});
