import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditChange } from '../../../../src/domain/audit.ts';
import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { PauseLog } from '../../../../src/engine/limits/pause-log.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import type { WorkQueue } from '../../../../src/store/ports/live/work-queue.ts';
import type { AuditRecord } from '../../../../src/store/ports/records/audit-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('logs once, on the leader, when a type is paused and when it resumes', async () => {
  const clock = new FakeClock('2026-11-01T00:00:00Z');
  const { work } = openEmbeddedLiveStore({ clock });
  const lines: Array<Record<string, unknown>> = [];
  const notes: AuditChange[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  let fence: number | null = null;
  const pauseLog = new PauseLog({
    work,
    live: { now: async () => clock.now() },
    records: { audit: { list: async () => ({ items: [], total: 0 }) } },
    fence: () => fence,
    clock,
    log,
    digest: { note: (change) => notes.push(change) },
    onError: (error) => expect.unreachable(String(error)),
  });
  const pause = (source: 'gateway' | 'operator', ms: number) =>
    work.pause('realname', { source, ms, reason: 'HTTP 429', by: 'w1' });
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

describe('a live store that lost the pauses', () => {
  const clock = new FakeClock('2026-11-01T00:00:00Z');
  let work: WorkQueue;
  let entries: AuditRecord[];
  let said: unknown[];
  let pauseLog: PauseLog;
  let fence: number;
  let beforeEntriesAreRead: () => Promise<void>;
  let beforePauseIsSet: () => Promise<void>;

  beforeEach(() => {
    fence = 1;
    beforeEntriesAreRead = async () => {};
    beforePauseIsSet = async () => {};
    entries = [];
    said = [];
    lose();
    const log = pino({ base: null }, { write: (line: string) => said.push(JSON.parse(line).msg) });
    pauseLog = new PauseLog({
      live: { now: async () => clock.now() },
      // As after FLUSHALL: the same connection to a store without data.
      work: {
        pauses: () => work.pauses(),
        pause: async (...args) => {
          await beforePauseIsSet();
          await work.pause(...args);
        },
        resume: (...args) => work.resume(...args),
      },
      records: { audit: { list: readEntries } },
      fence: () => fence,
      clock,
      log,
      digest: { note: () => expect.unreachable('operators pause') },
      onError: (error) => expect.unreachable(String(error)),
    });
  });

  async function readEntries(): Promise<{ items: AuditRecord[]; total: number }> {
    await beforeEntriesAreRead();
    return { items: [...entries], total: entries.length };
  }

  function lose(): void {
    ({ work } = openEmbeddedLiveStore({ clock }));
  }

  function entered(action: string, object: string, after: unknown = null, role = 'operator'): void {
    const caller = { name: 'ann', role, address: null, requestId: null };
    entries.unshift({
      ...caller,
      id: entries.length,
      atMs: clock.now(),
      action,
      object,
      before: null,
      after,
    });
  }

  async function pauseAll(seconds: number): Promise<void> {
    entered('pause.begin', 'task_type all', { seconds, reason: 'maintenance' });
    for (const type of TASK_TYPES) {
      await work.pause(type, { source: 'operator', ms: seconds * 1_000, reason: 'maintenance', by: 'ann' });
    }
  }

  it('gets back those of operators, for the time that is left, and nothing resumes', async () => {
    await pauseAll(600);
    await pauseLog.runOnce();
    said.length = 0;
    clock.advance(60_000);
    entered('pause.begin', 'task_type package', { source: 'gateway' }, 'daemon');
    lose();
    await pauseLog.runOnce();
    const put = { source: 'operator', reason: 'maintenance', by: 'ann', untilMs: clock.now() + 540_000 };
    expect(await work.pauses()).toEqual(
      TASK_TYPES.map((taskType) => expect.objectContaining({ ...put, taskType })),
    );
    expect(said).not.toContain('polling resumed');
    expect(said).toContain('a pause that Redis had lost is put back');
  });

  it('lost nothing if the operation that announced a pause has yet to set it', async () => {
    entered('pause.begin', 'task_type realname', { seconds: 600, reason: 'maintenance' });
    await pauseLog.runOnce();
    expect(await work.pauses(), 'it is in force early').toHaveLength(1);
    expect(said).toEqual(['polling paused']);
  });

  it('keeps the pause that was set after the leader had looked for it', async () => {
    const sinceMs = clock.now();
    beforeEntriesAreRead = async () => {
      await pauseAll(600);
      clock.advance(6_000);
    };
    await pauseLog.runOnce();
    expect((await work.pauses()).map((pause) => pause.sinceMs)).toEqual(TASK_TYPES.map(() => sinceMs));
    expect(said).not.toContain('a pause that Redis had lost is put back');
  });

  it('gets them back from a leader that never saw them', async () => {
    entered('pause.begin', 'task_type realname', { seconds: 600, reason: 'maintenance' });
    await pauseLog.runOnce();
    expect(await work.pauses()).toMatchObject([{ taskType: 'realname', by: 'ann' }]);
  });

  it('gets back those that were lost before the leader saw them', async () => {
    await pauseLog.runOnce();
    await pauseAll(600);
    lose();
    fence = 2;
    await pauseLog.runOnce();
    expect(await work.pauses()).toHaveLength(TASK_TYPES.length);
  });

  it('gets back the one that a later change, which failed, left in force', async () => {
    await pauseAll(600);
    await pauseLog.runOnce();
    for (const [action, object] of [
      ['pause.begin', 'task_type carddata'],
      ['pause.end', 'task_type realname'],
    ] as const) {
      entered(action, object, { seconds: 30, reason: 'short' });
      entered(`${action}.failed`, object, { error: 'Redis is away' });
    }
    clock.advance(60_000);
    lose();
    await pauseLog.runOnce();
    expect((await work.pauses()).map(({ taskType }) => taskType).sort()).toEqual([...TASK_TYPES].sort());
  });

  it('gets back none that could not begin', async () => {
    entered('pause.begin', 'task_type all', { seconds: 600, reason: 'maintenance' });
    entered('pause.begin.failed', 'task_type all', { error: 'Redis is away' });
    await pauseLog.runOnce();
    expect(await work.pauses()).toEqual([]);
  });

  it('gets back none that is over or was ended', async () => {
    await pauseAll(600);
    await pauseLog.runOnce();
    entered('pause.end', 'task_type realname');
    entered('pause.end', 'task_type carddata');
    entered('pause.begin', 'task_type package', { seconds: 60, reason: 'short' });
    clock.advance(60_000);
    lose();
    await pauseLog.runOnce();
    expect(await work.pauses()).toEqual([]);
    expect(said).toContain('polling resumed');
  });

  it('gets back none that an operator ends while it is put back', async () => {
    await pauseAll(600);
    lose();
    clock.advance(60_000);
    beforePauseIsSet = async () => {
      beforePauseIsSet = async () => {};
      entered('pause.end', 'task_type all');
      for (const type of TASK_TYPES) await work.resume(type);
    };
    await pauseLog.runOnce();
    expect(await work.pauses()).toEqual([]);
    expect(said).not.toContain('a pause that Redis had lost is put back');
  });

  it('does not prolong one that is over, though the clock of its entry was ahead', async () => {
    await pauseAll(600);
    entries = entries.map((entry) => ({ ...entry, atMs: entry.atMs + 300_000 }));
    await pauseLog.runOnce();
    clock.advance(600_000);
    await pauseLog.runOnce();
    expect(await work.pauses()).toEqual([]);
    expect(said).toContain('polling resumed');
  });
});
