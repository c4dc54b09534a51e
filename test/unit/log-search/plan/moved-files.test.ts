import { expect, it } from 'vitest';
import { findMovedFiles } from '../../../../src/log-search/plan/moved-files.ts';

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
