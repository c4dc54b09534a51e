import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findMovedFiles, follows, parseRotationName } from '../../../../src/log-search/plan/rotation.ts';

/** Oldest first; the last is the live file. */
const SCHEMES: Record<string, string[]> = {
  'logrotate numbers': ['worker.log.3.gz', 'worker.log.2.gz', 'worker.log.1', 'worker.log'],
  'logrotate dateext': ['worker.log-20260201.gz', 'worker.log-20260202', 'worker.log'],
  'logrotate as shipped': [
    'worker.log-20260201-000007.gz',
    'worker.log-20260201-130000.gz',
    'worker.log-20260201-130001',
    'worker.log-20260202-000005',
    'worker.log',
  ],
  'logrotate as shipped, after its default': [
    'worker.log-20260131.gz',
    'worker.log-20260201.gz',
    'worker.log-20260201-130000',
    'worker.log',
  ],
  'logrotate dateext with extension': ['worker-20260201.log.gz', 'worker-20260202.log', 'worker.log'],
  'logrotate seconds': ['worker.log-20260201-1769900000.gz', 'worker.log-20260201-1769910000', 'worker.log'],
  lumberjack: ['worker-2026-02-01T10-00-00.000.log.gz', 'worker-2026-02-01T12-30-00.123.log', 'worker.log'],
  'pino-roll': ['worker.2026-02-01.1.log', 'worker.2026-02-02.1.log'],
  'log4j, logback': ['worker.log.2026-02-01.gz', 'worker.log.2026-02-02', 'worker.log'],
  'dots between': ['worker.log.2026.02.01', 'worker.log.2026.02.02'],
  'winston with sizes': ['worker-2026-02-01.log.1', 'worker-2026-02-02.log', 'worker-2026-02-03.log.2'],
};

describe('rotation names', () => {
  it.each(Object.entries(SCHEMES))('%s', (_, names) => {
    const parsed = names.map(parseRotationName);
    expect(new Set(parsed.map(({ family }) => family)).size).toBe(1);
    parsed.forEach((earlier, index) => {
      parsed.forEach((later, other) => {
        expect(follows(earlier, later), `${names[index]} before ${names[other]}`).toBe(other > index);
      });
    });
  });

  it('have the form that the shipped configuration gives them', () => {
    const shipped = readFileSync(new URL('../../../../deploy/logrotate.d/cardpoll', import.meta.url), 'utf8');
    expect(shipped).toMatch(/^ *dateformat -%Y%m%d-%H%M%S$/m);
    expect(parseRotationName('access.log-20260201-235959.gz')).toEqual({
      family: 'access.log',
      date: '20260201235959',
      day: [2026, 2, 1],
      age: null,
      part: null,
    });
  });

  it('do not order what may be several writers', () => {
    const pairs = [
      ['worker-1.log', 'worker-2.log'],
      ['worker-2026-02-01-1.log', 'worker-2026-02-01-2.log'],
      ['worker-2026-02-01-10.log', 'worker-2026-02-01-11.log'],
      ['worker.log.1', 'api.log'],
      ['worker-1.log.1', 'worker-2.log'],
    ] as const;
    for (const [a, b] of pairs) {
      expect(follows(parseRotationName(a), parseRotationName(b)), `${a} ${b}`).toBe(false);
      expect(follows(parseRotationName(b), parseRotationName(a)), `${b} ${a}`).toBe(false);
    }
  });

  it('give the day', () => {
    expect(parseRotationName('worker.log-20260201.gz').day).toEqual([2026, 2, 1]);
    expect(parseRotationName('worker.log.1').day).toBe(null);
    expect(parseRotationName('worker-20261399.log').day).toBe(null);
  });
});

const file = (path: string, ino: number, bornMs = ino) => ({
  ...{ path: `/logs/${path}`, dev: 1, ino, bornMs, size: 1, mtimeMs: 0 },
});
const task = (number: number, path: string, ino: number) => ({
  ...file(path, ino),
  ...{ number, fallback: { fromMs: 0, toMs: 1 } },
});
const OLD = task(0, 'w.log-20260201-000000', 10);
const LIVE = task(1, 'w.log', 11);

function movedFiles(gone: Array<typeof OLD>, files: Array<ReturnType<typeof file>>, tasks = [OLD, LIVE]) {
  return findMovedFiles(gone, tasks, files).map(({ original, file: found }) => [
    original.path.slice(6),
    found?.path.slice(6) ?? null,
  ]);
}

it('finds a file that was renamed', () => {
  const now = [file('w.log', 12), file('w.log-20260202-000000', 11)];
  expect(movedFiles([LIVE], now)).toEqual([['w.log', 'w.log-20260202-000000']]);
});

it('finds a file that was compressed, by its name before its log', () => {
  const now = [file('w.log', 12), file('w.log-20260201-000000.gz', 20), file('w.log-20260202-000000.gz', 21)];
  expect(movedFiles([LIVE, OLD], now)).toEqual([
    ['w.log-20260201-000000', 'w.log-20260201-000000.gz'],
    ['w.log', 'w.log-20260202-000000.gz'],
  ]);
});

it('finds a compressed file among those that were searched already', () => {
  const gz = task(2, 'w.log-20260201-000000.gz', 20);
  expect(movedFiles([OLD], [gz], [OLD, LIVE, gz])).toEqual([['w.log-20260201-000000', null]]);
  const shifted = { ...gz, path: '/logs/w.log-20260201-000000.2.gz' };
  expect(movedFiles([OLD], [shifted], [OLD, LIVE, gz])).toEqual([['w.log-20260201-000000', null]]);
});

it('takes no file that only has the inode of another', () => {
  const now = [file('w.log-20260202-000000', 10, 99), file('w.log-20260201-000000.gz', 20)];
  expect(movedFiles([OLD], now)).toEqual([['w.log-20260201-000000', 'w.log-20260201-000000.gz']]);
});

it('takes nothing twice: not what is being compressed, not what was searched before it was', () => {
  const later = task(2, 'w.log-20260202-000000', 12);
  const made = file('w.log-20260202-000000.gz', 30);
  expect(movedFiles([OLD], [later, made], [OLD, LIVE, later])).toEqual([]);
  expect(movedFiles([OLD], [made], [OLD, LIVE, later])).toEqual([]);
});

it('takes nothing of another log', () => {
  expect(movedFiles([OLD], [file('api.log-20260201-000000.gz', 20)])).toEqual([]);
});

it('takes no new file for one that was compressed before: that one was deleted', () => {
  const oldest = task(0, 'w.log.4.gz', 10);
  const live = task(1, 'w.log', 11);
  // The live log, searched, comes back as w.log.1.gz in the rotation that deletes the oldest.
  const now = [file('w.log', 20), file('w.log.1.gz', 21)];
  expect(movedFiles([oldest], now, [oldest, live])).toEqual([]);
});

it('takes no new file that may be one that was searched', () => {
  const oldest = task(0, 'w.log.4', 10);
  const live = task(1, 'w.log', 11);
  expect(movedFiles([oldest], [file('w.log', 20), file('w.log.1.gz', 21)], [oldest, live])).toEqual([]);
  // Not compressed, only renamed: then it can only be the missing one.
  const renamed = [file('w.log', 20), file('w.log.1', 11), file('w.log.5.gz', 21)];
  expect(movedFiles([oldest], renamed, [oldest, live])).toEqual([['w.log.4', 'w.log.5.gz']]);
});
