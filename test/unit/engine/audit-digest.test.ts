// A restless night in the audit trail: prompt, complete, and bounded.
import { expect, it } from 'vitest';
import type { AuditChange } from '../../../src/domain/audit.ts';
import { AuditDigest } from '../../../src/engine/audit-digest.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const MINUTE_MS = 60_000;

function digest() {
  const clock = new FakeClock('2026-11-01T00:00:00Z');
  const recorded: AuditChange[] = [];
  const store = { away: false };
  const subject = new AuditDigest({
    audit: {
      record: async (_actor, change) => {
        if (store.away) throw new Error('the record store is away');
        recorded.push(change);
      },
    },
    clock,
    onError: () => {},
  });
  const adapt = (from: number, to: number, type = 'realname') =>
    subject.note({
      action: 'limit.adapt',
      object: `task_type ${type}`,
      before: { limit: from },
      after: { limit: to },
    });
  return { subject, clock, recorded, store, adapt };
}

it('records the first change at once and those of the next minutes together', async () => {
  const { subject, clock, recorded, adapt } = digest();
  adapt(100, 90);
  adapt(50, 40, 'package');
  await subject.runOnce();
  expect(recorded.map(({ before, after }) => [before, after])).toEqual([
    [{ limit: 100 }, { limit: 90 }],
    [{ limit: 50 }, { limit: 40 }],
  ]);
  recorded.length = 0;
  for (let limit = 90; limit > 80; limit -= 1) {
    clock.advance(MINUTE_MS / 2);
    adapt(limit, limit - 1);
    await subject.runOnce();
  }
  expect(recorded).toEqual([]);
  clock.advance(5 * MINUTE_MS);
  await subject.runOnce();
  expect(recorded).toMatchObject([
    {
      object: 'task_type realname',
      before: { limit: 90 },
      after: { limit: 80, times: 10, since: new Date('2026-11-01T00:00:30Z') },
    },
  ]);
});

it('does not let the first change wait for the next look', async () => {
  const { subject, clock, recorded, adapt } = digest();
  await subject.start();
  await clock.run(1);
  adapt(100, 90);
  await clock.run(0);
  expect(recorded).toHaveLength(1);
  await subject.stop();
});

it('a limit that moves every second of a night leaves some dozens of entries', async () => {
  const { subject, clock, recorded, adapt } = digest();
  const seconds = 10 * 3_600;
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(1_000);
    adapt(100 + (second % 7), 100 + ((second + 1) % 7));
    await subject.runOnce();
  }
  await subject.stop();
  expect(recorded.length).toBeLessThanOrEqual(62);
  const times = recorded.map(({ after }) => (after as { times?: number }).times ?? 1);
  expect(times.reduce((sum, count) => sum + count, 0)).toBe(seconds);
  const chain = recorded.map(({ before, after }) => [before, after] as { limit: number }[]);
  expect(chain.slice(1).map(([before]) => before?.limit)).toEqual(
    chain.slice(0, -1).map(([, after]) => after?.limit),
  );
});

it('keeps what cannot be recorded, with what comes meanwhile', async () => {
  const { subject, recorded, store, adapt } = digest();
  store.away = true;
  adapt(100, 90);
  await expect(subject.runOnce()).rejects.toThrow('away');
  adapt(90, 70);
  store.away = false;
  await subject.runOnce();
  expect(recorded).toMatchObject([{ before: { limit: 100 }, after: { limit: 70, times: 2 } }]);
});
