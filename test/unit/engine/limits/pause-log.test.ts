import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { AuditChange } from '../../../../src/domain/audit.ts';
import { PauseLog } from '../../../../src/engine/limits/pause-log.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { pauseByOperator, setLimit } from '../../../support/limits.ts';

it('logs once, on the leader, when a type is paused and when it resumes', async () => {
  const clock = new FakeClock('2026-11-01T00:00:00Z');
  const { work, now } = openEmbeddedLiveStore({ clock });
  const lines: Array<Record<string, unknown>> = [];
  const notes: AuditChange[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  let fence: number | null = null;
  const pauseLog = new PauseLog({
    live: { work, now },
    fence: () => fence,
    clock,
    log,
    digest: { note: (change) => notes.push(change) },
    onError: (error) => expect.unreachable(String(error)),
  });
  const pause = (source: 'gateway' | 'operator', ms: number) => {
    const why = { ms, reason: 'HTTP 429', by: 'w1' };
    return source === 'gateway' ? work.pause('realname', why) : pauseByOperator(work, 'realname', why);
  };
  await pause('gateway', 5_000);
  await pauseLog.runOnce();
  expect(lines, 'another instance leads').toEqual([]);
  fence = 1;
  await pauseLog.runOnce();
  await pause('gateway', 30_000);
  await pauseLog.runOnce();
  expect(lines).toMatchObject([
    {
      level: 40,
      msg: 'polling paused',
      task_type: 'realname',
      source: 'gateway',
      reason: 'HTTP 429',
      by: 'w1',
      seconds: 5,
      until: '2026-11-01T00:00:05.000Z',
    },
  ]);
  lines.length = 0;
  clock.advance(30_000);
  await pause('operator', 60_000);
  await pauseLog.runOnce();
  expect(lines).toMatchObject([
    { level: 30, msg: 'polling resumed', task_type: 'realname', source: 'gateway' },
    { msg: 'polling paused', source: 'operator' },
  ]);
  lines.length = 0;
  clock.advance(1_000);
  await pause('operator', 90_000);
  await pauseLog.runOnce();
  expect(lines, 'a pause in place of another').toMatchObject([{ msg: 'polling paused', seconds: 90 }]);
  lines.length = 0;
  await work.resume('realname');
  await pauseLog.runOnce();
  await pauseLog.runOnce();
  expect(lines).toMatchObject([{ msg: 'polling resumed', source: 'operator' }]);
  const object = 'task_type realname';
  expect(notes, 'operators pause through the API, which is recorded there').toMatchObject([
    {
      action: 'pause.begin',
      object,
      before: null,
      after: { source: 'gateway', reason: 'HTTP 429', by: 'w1' },
    },
    { action: 'pause.end', object, before: { source: 'gateway', reason: 'HTTP 429' }, after: null },
  ]);
});

it("notes that an operator's pause has ended by itself, and not one that an operator or a window ends", async () => {
  const clock = new FakeClock('2026-11-01T00:00:00Z');
  const live = openEmbeddedLiveStore({ clock });
  const notes: AuditChange[] = [];
  const pauseLog = new PauseLog({
    live,
    fence: () => 1,
    clock,
    log: pino({ base: null }, { write: () => {} }),
    digest: { note: (change) => notes.push(change) },
    onError: (error) => expect.unreachable(String(error)),
  });
  const pause = { ms: 60_000, reason: 'vendor', by: 'ann' };
  await pauseByOperator(live.work, 'realname', pause);
  await pauseByOperator(live.work, 'carddata', pause);
  await pauseByOperator(live.work, 'package', { ...pause, id: 'maintenance 3' });
  await pauseLog.runOnce();
  await live.work.resume('carddata');
  await pauseLog.runOnce();
  expect(notes).toEqual([]);
  clock.advance(60_000);
  await pauseLog.runOnce();
  await pauseLog.runOnce();
  expect(notes).toEqual([
    {
      ...{ action: 'pause.end', object: 'task_type realname', after: null },
      before: { source: 'operator', reason: 'vendor', by: 'ann' },
    },
  ]);
});

it("says nothing of an operator's pause that the live store has lost: it comes back", async () => {
  const clock = new FakeClock('2026-11-01T00:00:00Z');
  const said: unknown[] = [];
  const live = { ...openEmbeddedLiveStore({ clock }) };
  const pauseLog = new PauseLog({
    live,
    fence: () => 1,
    clock,
    log: pino({ base: null }, { write: (line: string) => said.push(JSON.parse(line).msg) }),
    digest: { note: () => expect.unreachable('operators pause') },
    onError: (error) => expect.unreachable(String(error)),
  });
  const pause = { ms: 60_000, reason: 'maintenance', by: 'ann' };
  await pauseByOperator(live.work, 'realname', pause);
  await pauseLog.runOnce();
  live.work = openEmbeddedLiveStore({ clock }).work;
  await pauseLog.runOnce();
  expect(said).toEqual(['polling paused']);
  await setLimit(live.work, 'realname');
  await pauseLog.runOnce();
  expect(said, 'in force again, and of record no more').toEqual(['polling paused', 'polling resumed']);
});
