// The polling configs in the engine: read before any service starts, and regularly after that.
import { beforeEach, expect, it } from 'vitest';
import { INTERFACE_NAMES, type InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import type { PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { ConfigWatch } from '../../../../src/engine/schedule/config-watch.ts';
import type { ConfigRecords } from '../../../../src/store/ports/records/record-store.ts';
import { configOf } from '../../../support/card-table.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const CARD = { cardId: 1, carrierId: 0, realNameVerified: false };

let clock: FakeClock;
/** null: the records are away. */
let stored: PollingConfig[] | null;
let watch: ConfigWatch;

const offered = new Set<InterfaceName>();

beforeEach(() => {
  for (const name of INTERFACE_NAMES) offered.add(name);
  clock = new FakeClock();
  stored = [configOf(1)];
  const list: ConfigRecords['list'] = async () => {
    if (stored === null) throw new Error('away');
    return stored;
  };
  watch = new ConfigWatch({
    records: { configs: { list } as ConfigRecords },
    offers: (name) => offered.has(name),
    clock,
    onError: () => {},
  });
});

const matched = () => watch.matcher.match('realname', CARD)?.id;

it('knows none before it starts, and all once it has started', async () => {
  expect([watch.matcher.configs, matched()]).toEqual([[], undefined]);
  await watch.start();
  expect([watch.matcher.configs, matched()]).toEqual([stored, 1]);
  await watch.stop();
});

it('does not start without them', async () => {
  stored = null;
  await expect(watch.start()).rejects.toThrow('away');
});

it('follows a change within 300 ms, and keeps what it knows while the records are away', async () => {
  await watch.start();
  stored = [configOf(2)];
  await clock.run(300);
  expect(matched()).toBe(2);
  stored = null;
  await clock.run(10_000);
  expect(matched()).toBe(2);
  await watch.stop();
});

it('reports how long it has had no answer, and why, from five seconds on', async () => {
  await watch.start();
  const readAt = clock.monotonic();
  expect([watch.readAt, watch.outage]).toEqual([readAt, null]);
  stored = null;
  await clock.run(4_999);
  expect([watch.readAt, watch.outage]).toEqual([readAt, null]);
  await clock.run(1);
  expect(watch.outage).toEqual({ lastsMs: 5_000, reason: 'away' });
  stored = [configOf(1)];
  await clock.run(1_000);
  expect(watch.outage, 'looks again every second').toBeNull();
  await watch.stop();
});

it('counts an answer from when it was asked for', async () => {
  const asked = clock.monotonic();
  let answer = (_: PollingConfig[]) => {};
  const slow = new ConfigWatch({
    records: { configs: { list: () => new Promise((resolve) => (answer = resolve)) } },
    offers: () => true,
    clock,
    onError: () => {},
  });
  const pass = slow.runOnce();
  clock.advance(5_000);
  expect(slow.outage).toMatchObject({ reason: 'no answer' });
  answer([]);
  await pass;
  expect(slow.readAt).toBe(asked);
});

it('counts a config as disabled when the gateway does not offer what it polls', async () => {
  offered.delete('flow');
  stored = [configOf(1), { ...configOf(2), taskType: 'carddata' }];
  await watch.runOnce();
  expect(watch.matcher.configs.map(({ id, status }) => [id, status])).toEqual([
    [1, 1],
    [2, 0],
  ]);
  expect(watch.matcher.match('carddata', CARD)).toMatchObject({ id: 2, status: 0 });
});
