// Where no card over its package can ever be stopped, the doctor says so.
import { expect, it } from 'vitest';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import type { TaskType } from '../../../../src/domain/task-type.ts';
import { stoppableFinding } from '../../../../src/operations/doctor/stoppable.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';

const ENABLED: readonly TaskType[] = ['realname', 'carddata', 'package'];

function found(missing: readonly InterfaceName[], enabled: readonly TaskType[] = ENABLED) {
  const list = async () =>
    ENABLED.map((taskType) => ({ taskType, status: enabled.includes(taskType) ? 1 : 0 }));
  const records = { configs: { list } } as unknown as RecordStore;
  return stoppableFinding(records, { offers: (name) => !missing.includes(name) });
}

it.each<[readonly InterfaceName[], 'ok' | 'warning', RegExp]>([
  [[], 'ok', /the gateway offers stop$/],
  [['realname', 'start'], 'ok', /the gateway offers stop$/],
  [['card_status'], 'warning', /^no card over its package can be stopped: .* does not offer card_status$/],
  [['stop'], 'warning', /does not offer stop$/],
  [['flow', 'stop'], 'warning', /does not offer flow, stop$/],
  [['flow', 'card_status', 'stop'], 'ok', /no interface for usage or stops/],
])('a profile without %j', async (missing, status, detail) => {
  expect(await found(missing)).toMatchObject({ status, detail: expect.stringMatching(detail) });
});

it.each<[readonly TaskType[], string]>([
  [['realname', 'package'], 'carddata'],
  [['carddata'], 'package'],
  [[], 'carddata, package'],
])('only %j polled', async (enabled, missing) => {
  expect(await found([], enabled)).toMatchObject({
    status: 'warning',
    detail: `no card over its package can be stopped: no polling config of ${missing} is enabled`,
    command: 'cardpoll configs',
  });
});
