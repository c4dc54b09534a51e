// Which stops of cards over their package are ordered, by the configs and the gateway, and what is logged. The records' answer is made up.
import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { ConfigMatcher, type PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { orderWantedStops } from '../../../../src/engine/orders/wanted-stops.ts';
import type { WantedStop } from '../../../../src/store/ports/records/order-records.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { UNLIMITED } from '../../../support/stop-rules.ts';

const CONFIG: PollingConfig = {
  ...{ id: 1, name: 'package', taskType: 'package', cardCondition: 'any', carrierId: null },
  ...{ intervalSeconds: 1_800, priority: 0, status: 1 },
};
const card = (cardId: number, carrierId = 1) => ({ cardId, carrierId, realNameVerified: true });
const CARDS = [card(1), card(2, 7)];
const ordered = (cardId: number): WantedStop => ({ cardId, iccid: `${cardId}`, state: 'ordered' });

let offersStop: boolean;
let months: string[];
let logged: object[];

beforeEach(() => {
  [offersStop, months, logged] = [true, [], []];
});

/** @param wanted what becomes of a card that is polled */
function order(
  cardIds: readonly number[],
  configs: readonly PollingConfig[],
  wanted: (cardId: number) => WantedStop = ordered,
): Promise<number> {
  const want: RecordStore['orders']['want'] = async (asked, month, _, isPolled) => {
    months.push(month);
    return CARDS.filter((one) => asked.includes(one.cardId) && isPolled(one)).map(({ cardId }) =>
      wanted(cardId),
    );
  };
  const deps = {
    records: { orders: { want } as RecordStore['orders'] },
    offers: (name: InterfaceName) => name !== 'stop' || offersStop,
    calendar: new MonthCalendar('Asia/Shanghai'),
    matcher: () => new ConfigMatcher(configs),
    stopRules: () => UNLIMITED,
    fleetNow: () => Date.parse('2026-11-30T16:00:00Z'),
    log: pino(
      { base: null, timestamp: false },
      { write: (line: string) => void logged.push(JSON.parse(line)) },
    ),
  };
  return orderWantedStops(deps, cardIds);
}

it('orders the stops of cards that an enabled config polls, in the month of the fleet', async () => {
  expect(await order([1, 2, 3], [CONFIG])).toBe(2);
  expect(await order([1, 2], [{ ...CONFIG, carrierId: 7 }])).toBe(1);
  expect(await order([1, 2], [])).toBe(0);
  expect(await order([1, 2], [{ ...CONFIG, status: 0 }])).toBe(0);
  expect(new Set(months)).toEqual(new Set(['2026-12']));
});

it('asks for nothing without cards, or where the gateway offers no stop', async () => {
  expect(await order([], [CONFIG])).toBe(0);
  offersStop = false;
  expect(await order([1, 2], [CONFIG])).toBe(0);
  expect(months).toEqual([]);
});

it('logs once that a stop is held or observed', async () => {
  const held = (isNew: boolean) => (cardId: number) =>
    ({ cardId, iccid: 'x', state: 'held', heldBy: 'budget_hour', isNew }) as const;
  const observed = (cardId: number) => ({ cardId, iccid: 'x', state: 'observed', isNew: true }) as const;
  expect(await order([1], [CONFIG], held(true))).toBe(0);
  await order([1], [CONFIG], held(false));
  await order([1], [CONFIG], observed);
  expect(logged).toEqual([
    { level: 40, card_id: 1, iccid: 'x', held_by: 'budget_hour', msg: 'stop held' },
    { level: 30, card_id: 1, iccid: 'x', msg: 'stop observed' },
  ]);
});
