// The end of a silence that is given as a time, to the millisecond.
import { expect, it } from 'vitest';
import { SilenceOperations } from '../../../../src/operations/alerts/on-call.ts';
import type { OperationDeps } from '../../../../src/operations/deps.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const MAX_MS = 2_678_400_000;
const ANNA = { name: 'anna', role: 'operator', address: null, requestId: null } as const;

type Work = (records: unknown) => Promise<unknown>;

it.each([
  [0, false],
  [1, true],
  [MAX_MS, true],
  [MAX_MS + 1, false],
])('%i ms ahead is accepted: %s', async (aheadMs, accepted) => {
  const clock = new FakeClock();
  const until = new Date(clock.now() + aheadMs);
  // The end is judged before anything is stored.
  const create = () => Promise.reject(new Error('stored'));
  const audit = { change: (_: unknown, work: Work) => work({ alerts: { silences: { create } } }) };
  const silences = new SilenceOperations({ clock, audit } as unknown as OperationDeps);
  const fields = { ruleId: null, ruleType: null, taskType: 'package', seconds: null, reason: '' } as const;
  const made = silences.create(ANNA, { ...fields, until });
  await expect(made).rejects.toMatchObject(accepted ? { message: 'stored' } : { code: 'invalid_field' });
});
