// Polling configs at the operations: what is made, changed and removed under which version, what is refused, and what the
// trail keeps. What the rings make of them: config-reports.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '../../../../src/domain/audit.ts';
import type { PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import type { Operations } from '../../../../src/operations/operations.ts';
import { type ConfigPatch, configVersion } from '../../../../src/operations/schedule/configs.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';

const ANNA: Actor = { name: 'anna', role: 'admin', address: null, requestId: null };
const NIGHT = {
  name: 'night',
  taskType: 'realname',
  cardCondition: 'verified',
  carrierId: 7,
  intervalSeconds: 60,
  priority: 3,
  status: 1,
} as const;
const UNREAD = { members: null, achievedIntervalSeconds: null, skippedRevolutions: 0 };

let stores: OperatedStores;
let configs: Operations['configs'];

beforeAll(async () => {
  stores = await openOperatedStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  configs = stores.operations().configs;
  await stores.sql(`DELETE FROM polling_configs;
    INSERT INTO polling_configs (id, name, task_type, card_condition, interval_seconds)
    VALUES (2, 'traffic', 'carddata', 'any', 1800), (1, 'names', 'realname', 'any', 3600)`);
});

const NAMES: PollingConfig = {
  ...{ id: 1, name: 'names', taskType: 'realname', cardCondition: 'any', carrierId: null },
  ...{ intervalSeconds: 3_600, priority: 0, status: 1 },
};
const KEPT = {
  ...{ id: 1, name: 'names', task_type: 'realname', card_condition: 'any', carrier_id: null },
  ...{ interval_seconds: 3_600, priority: 0, status: 1 },
};

it('a config is made, shown by its id and listed in the order of ids', async () => {
  const made = await configs.create(ANNA, NIGHT);
  expect(made).toEqual({ id: expect.any(Number), ...NIGHT, ...UNREAD, problems: [] });
  expect(made.id).toBeGreaterThan(2);
  expect(await stores.lastTrace()).toMatchObject({
    name: 'anna',
    action: 'config.create',
    object: `config ${made.id}`,
    before: null,
    after: { id: made.id, name: 'night', task_type: 'realname', carrier_id: 7, interval_seconds: 60 },
  });
  expect(await configs.show(made.id)).toEqual(made);
  expect((await configs.list()).map(({ id }) => id)).toEqual([1, 2, made.id]);
});

it('a config is changed in what was said, and the trail says what it was', async () => {
  const changed = await configs.update(ANNA, 1, { carrierId: 5, priority: -7 }, null);
  expect(changed).toEqual({ ...NAMES, carrierId: 5, priority: -7, ...UNREAD, problems: [] });
  expect(await stores.lastTrace()).toMatchObject({
    action: 'config.update',
    object: 'config 1',
    before: KEPT,
    after: { ...KEPT, carrier_id: 5, priority: -7 },
  });
  const [first, second] = await configs.list();
  expect(first).toEqual(changed);
  expect(second).toMatchObject({ name: 'traffic', carrierId: null, priority: 0 });
});

it('a config is removed, and told as it was', async () => {
  expect(await configs.remove(ANNA, 1)).toEqual({
    ...NAMES,
    ...UNREAD,
    problems: ['no enabled config polls realname'],
  });
  expect(await stores.lastTrace()).toMatchObject({
    action: 'config.delete',
    object: 'config 1',
    before: KEPT,
    after: null,
  });
  expect((await configs.list()).map(({ id }) => id)).toEqual([2]);
});

it('a change that is refused changes nothing and leaves no trace', async () => {
  await configs.update(ANNA, 2, { name: 'traffic' }, null);
  const known = await stores.lastTrace();
  await expect(configs.update(ANNA, 1, { priority: 1 }, ['another'])).rejects.toMatchObject({
    kind: 'conflict',
    code: 'version_changed',
  });
  expect(await configs.show(1)).toMatchObject(NAMES);
  expect(await stores.lastTrace()).toEqual(known);
});

describe('the version of a config', () => {
  it('that was seen admits one change, and none by a later one', async () => {
    const seen = configVersion(await configs.show(1));
    const changed = await configs.update(ANNA, 1, { intervalSeconds: 90 }, [seen]);
    await expect(configs.update(ANNA, 1, { intervalSeconds: 91 }, [seen])).rejects.toMatchObject({
      kind: 'conflict',
    });
    await configs.update(ANNA, 1, { intervalSeconds: 92 }, [configVersion(changed)]);
    expect(await configs.show(1)).toMatchObject({ intervalSeconds: 92 });
  });

  it.each<ConfigPatch>([
    { name: 'other' },
    { taskType: 'package' },
    { cardCondition: 'verified' },
    { carrierId: 0 },
    { intervalSeconds: 3_601 },
    { priority: 1 },
    { status: 0 },
  ])('is another one with %j', async (patch) => {
    const seen = configVersion(await configs.show(1));
    const changed = await configs.update(ANNA, 1, patch, 'any');
    expect(changed).toMatchObject(patch);
    expect(configVersion(changed)).not.toBe(seen);
  });

  it('is its own, and does not depend on what polling makes of it', async () => {
    const shown = await configs.show(1);
    expect(configVersion({ ...NAMES, id: 2 })).not.toBe(configVersion(NAMES));
    expect(configVersion({ ...shown, members: 9, problems: ['x'] } as typeof shown)).toBe(
      configVersion(NAMES),
    );
  });
});

describe('a new config', () => {
  it.each([
    { name: 'x'.repeat(200) },
    { intervalSeconds: 1 },
    { intervalSeconds: 2_592_000 },
    { priority: -1_000_000 },
    { priority: 1_000_000 },
  ])('may be at its bounds: %j', async (edge) => {
    expect(await configs.create(ANNA, { ...NIGHT, ...edge })).toMatchObject(edge);
  });
});

it.each([99, 0, 2 ** 31])('config %i that nobody made is not found', async (id) => {
  const refusal = {
    kind: 'not_found',
    code: 'config_not_found',
    message: `there is no polling config ${id}`,
    hint: '`cardpoll configs list` shows the ids',
  };
  await expect(configs.show(id)).rejects.toMatchObject(refusal);
  await expect(configs.update(ANNA, id, { priority: 1 }, null)).rejects.toMatchObject(refusal);
  await expect(configs.remove(ANNA, id)).rejects.toMatchObject(refusal);
  expect(await configs.list()).toHaveLength(2);
});
