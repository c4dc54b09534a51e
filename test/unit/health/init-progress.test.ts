import { describe, expect, it } from 'vitest';
import { dated } from '../../../src/domain/date-of.ts';
import { InitProgressReader } from '../../../src/health/init-progress.ts';
import { initReport } from '../../../src/resources/schedule.ts';
import type { InitProgress } from '../../../src/store/ports/live/coordination.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const START_MS = Date.UTC(2026, 10, 21);

const running: InitProgress = {
  status: 'running',
  total: 1_000_000,
  loaded: 250_000,
  lastCardId: 250_000,
  batch: 3,
  batches: 10,
  startedAtMs: START_MS,
  updatedAtMs: START_MS + 10_000,
  finishedAtMs: null,
  changeMark: '7',
  reason: 'build',
};

const reportAt = (progress: InitProgress, nowMs: number, pauseMs = 1_000) =>
  dated(new InitProgressReader(new FakeClock(), pauseMs).of(progress, nowMs));

describe('the report of the progress', () => {
  it('reports a running initialisation with percent and time left', () => {
    expect(initReport.parse(reportAt(running, START_MS + 10_000))).toEqual({
      status: 'running',
      reason: 'build',
      total: 1_000_000,
      loaded: 250_000,
      percent: 25,
      batch: 3,
      batches: 10,
      startedAt: new Date(START_MS),
      updatedAt: new Date(START_MS + 10_000),
      finishedAt: null,
      etaSeconds: 30,
    });
  });

  it('calls it stuck only after 35 s without progress and the pause between two batches', () => {
    expect(reportAt(running, START_MS + 345_000, 300_000).status).toBe('running');
    expect(reportAt(running, START_MS + 345_001, 300_000).status).toBe('stuck');
    expect(reportAt(running, START_MS + 46_000).status).toBe('running');
    expect(reportAt(running, START_MS + 46_001)).toMatchObject({
      status: 'stuck',
      etaSeconds: null,
    });
    expect(reportAt({ ...running, updatedAtMs: null }, START_MS + 36_001).status).toBe('stuck');
  });

  it('has nothing to say about time before it starts or before the first card', () => {
    const pending: InitProgress = {
      ...running,
      status: 'pending',
      total: 0,
      loaded: 0,
      startedAtMs: null,
      updatedAtMs: null,
    };
    expect(reportAt(pending, START_MS)).toMatchObject({
      status: 'pending',
      percent: 0,
      etaSeconds: null,
    });
    expect(reportAt({ ...running, loaded: 0 }, START_MS + 1_000).etaSeconds).toBeNull();
  });

  it('is complete at 100 percent, also for an empty fleet', () => {
    const done: InitProgress = {
      ...running,
      status: 'completed',
      total: 0,
      loaded: 0,
      finishedAtMs: START_MS,
    };
    expect(reportAt(done, START_MS + 900_000)).toMatchObject({
      status: 'completed',
      percent: 100,
      etaSeconds: null,
    });
  });

  it('is never at 100 percent while it runs, not even when cards arrive', () => {
    const report = reportAt({ ...running, loaded: 1_000_100 }, START_MS + 10_000);
    expect(report).toMatchObject({ percent: 99.9, etaSeconds: 0 });
  });
});

describe('InitProgressReader', () => {
  it('calls initialisation stuck when it does not begin for 35 s and no leader can record that', () => {
    const clock = new FakeClock();
    const standing = new InitProgressReader(clock, 1_000);
    const pending: InitProgress = { ...running, status: 'pending', startedAtMs: null, updatedAtMs: null };
    clock.advance(35_000);
    expect(standing.of(pending, START_MS).status).toBe('pending');
    clock.advance(1);
    expect(standing.of(pending, START_MS).status).toBe('stuck');
    expect(standing.of({ ...running, status: 'completed' }, START_MS).status).toBe('completed');
    clock.advance(600_000);
    expect(standing.of(pending, START_MS).status).toBe('pending');
    clock.advance(35_001);
    expect(standing.of(pending, START_MS).status).toBe('stuck');
  });
});
