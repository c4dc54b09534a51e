// Silences at the operations: what may be silenced and for how long, what ends one, and what the trail keeps of it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SilenceScope } from '../../../../src/domain/alerts/alert-silence.ts';
import type { Actor } from '../../../../src/domain/audit.ts';
import { SilenceOperations } from '../../../../src/operations/alerts/on-call.ts';
import type { Operations } from '../../../../src/operations/operations.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';

const ANNA: Actor = { name: 'anna', role: 'operator', address: null, requestId: null };
const NOTHING: SilenceScope = { ruleId: null, ruleType: null, taskType: null };
const HOUR = { seconds: 3_600, until: null, reason: 'works' };
const PACKAGE = { ...NOTHING, taskType: 'package' } as const;
const MAX_MS = 2_678_400_000;

let stores: OperatedStores;
let silences: Operations['silences'];
let ruleId: number;

beforeAll(async () => {
  stores = await openOperatedStores();
  ({ id: ruleId } = await stores.operations().alerts.create(ANNA, {
    ...{ name: 'Backlog', ruleType: 'queue_backlog', taskType: 'package', comparison: '>', threshold: 10 },
    ...{ isEnabled: true, notifyChannels: [] },
  }));
});
afterAll(() => stores.close());
beforeEach(async () => {
  silences = stores.operations().silences;
  await stores.sql('DELETE FROM alert_silences');
});

const refused = (field: string, message: string) => ({
  kind: 'invalid',
  code: 'invalid_field',
  message: 'the silence is not valid',
  fields: [{ field, message }],
});

it.each([
  ['a rule', () => ({ ...NOTHING, ruleId })],
  ['a rule type', () => ({ ...NOTHING, ruleType: 'success_rate' as const })],
  ['a task type', () => PACKAGE],
  [
    'all three together',
    () => ({ ruleId, ruleType: 'queue_backlog' as const, taskType: 'package' as const }),
  ],
])('silences %s for a time, and the trail says so', async (_what, scopeOf) => {
  const scope = scopeOf();
  const made = await silences.create(ANNA, { ...scope, ...HOUR });
  const { since, until } = made;
  expect(made).toEqual({
    ...scope,
    id: expect.any(Number),
    reason: 'works',
    by: 'anna',
    since: expect.any(Date),
    until: expect.any(Date),
  });
  expect(until.getTime() - since.getTime()).toBe(3_600_000);
  expect(await silences.list()).toEqual([made]);
  expect(await stores.lastTrace()).toMatchObject({
    name: 'anna',
    action: 'silence.begin',
    object: `silence ${made.id}`,
    before: null,
    after: {
      id: made.id,
      rule_id: scope.ruleId,
      rule_type: scope.ruleType,
      task_type: scope.taskType,
      reason: 'works',
      by: 'anna',
      since: since.toISOString(),
      until: until.toISOString(),
    },
  });
});

it('those that last are listed by id', async () => {
  const ids: number[] = [];
  for (const taskType of ['realname', 'carddata', 'package'] as const)
    ids.push((await silences.create(ANNA, { ...NOTHING, taskType, ...HOUR })).id);
  const [over, ...others] = ids;
  await stores.sql(`UPDATE alert_silences SET ends_at = now() WHERE id = ${over}`);
  expect((await silences.list()).map(({ id }) => id)).toEqual(others);
});

describe('an end', () => {
  it.each([10, 2_678_400])('in %i seconds is accepted', async (seconds) => {
    const { since, until } = await silences.create(ANNA, { ...PACKAGE, ...HOUR, seconds });
    expect(until.getTime() - since.getTime()).toBe(seconds * 1000);
  });

  it.each([
    [1, true],
    [MAX_MS, true],
    [0, false],
    [MAX_MS + 1, false],
  ])('at a time %i ms ahead: accepted: %s', async (aheadMs, accepted) => {
    const clock = new FakeClock(Date.now());
    const { audit } = stores.operations();
    const dated = new SilenceOperations({ records: stores.records, clock, audit });
    const until = new Date(clock.now() + aheadMs);
    const made = dated.create(ANNA, { ...PACKAGE, seconds: null, until, reason: 'works' });
    if (accepted) expect(await made).toMatchObject({ taskType: 'package', until });
    else await expect(made).rejects.toMatchObject(refused('until', 'must be a time within the next 31 days'));
  });

  it.each([
    ['missing', null, null],
    ['said twice', 60, new Date(Date.now() + 60_000)],
  ])('is refused when it is %s', async (_what, seconds, until) => {
    await expect(silences.create(ANNA, { ...PACKAGE, seconds, until, reason: 'x' })).rejects.toMatchObject(
      refused('seconds', 'is required, or until instead of it'),
    );
  });
});

it('a silence of everything is refused', async () => {
  await expect(silences.create(ANNA, { ...NOTHING, ...HOUR })).rejects.toMatchObject(
    refused('ruleId', 'is required when neither rule_type nor task_type is given'),
  );
});

it.each([0, 999_999, 2 ** 31, 1.5])('a silence of a rule that is not there is refused: %d', async (id) => {
  await expect(silences.create(ANNA, { ...NOTHING, ruleId: id, ...HOUR })).rejects.toMatchObject(
    refused('ruleId', `there is no alert rule ${id}`),
  );
});

it('ends once, and the trail says what it was', async () => {
  const made = await silences.create(ANNA, { ...PACKAGE, ...HOUR });
  const { after: begun } = await stores.lastTrace();
  expect(await silences.remove(ANNA, made.id)).toEqual(made);
  expect(await silences.list()).toEqual([]);
  const ended = await stores.lastTrace();
  expect(ended).toMatchObject({
    action: 'silence.end',
    object: `silence ${made.id}`,
    before: begun,
    after: null,
  });
  for (const id of [made.id, 0, 2 ** 31, 1.5])
    await expect(silences.remove(ANNA, id)).rejects.toMatchObject({
      kind: 'not_found',
      code: 'silence_not_found',
      message: `there is no silence ${id}, or it has ended`,
      hint: '`cardpoll alerts silences` shows the ids',
    });
  expect(await stores.lastTrace()).toEqual(ended);
});
