import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { infoLine, type Logger, type Logs, openLogs, silentLogger } from '../../../src/platform/logger.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { waitFor } from '../../support/wait-for.ts';

let dir: string;
let logs: Logs;
const problems: string[] = [];
const onProblem = (message: string) => problems.push(message);
const linesOf = (name: string) =>
  readFileSync(join(dir, name), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

beforeEach(() => {
  dir = join(temporaryDirectory('logs'), 'nested', 'logs');
  problems.length = 0;
});
afterEach(async () => {
  await logs?.close();
});

describe('openLogs', () => {
  it('writes one object a line: level as a word, time with offset, fields, msg, nothing else', async () => {
    const now = () => Date.UTC(2026, 10, 21, 1, 30, 15, 7);
    logs = openLogs({ dir, level: 'info', now, onProblem });
    logs.worker.info({ card_id: 7, realStatus: true }, '实名检查完成');
    logs.worker.debug('below the level');
    await logs.close();
    const [line, ...others] = linesOf('worker.log');
    expect(others).toEqual([]);
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^2026-11-2\dT\d\d:\d\d:15\.007[+-]\d\d:\d\d$/),
      card_id: 7,
      realStatus: true,
      msg: '实名检查完成',
    });
    expect(Date.parse(String(line?.time))).toBe(now());
  });

  it('keeps the three logs apart, readable by the group and not by others', async () => {
    logs = openLogs({ dir, level: 'info', onProblem });
    logs.worker.warn('w');
    logs.api.error({ err: new Error('broken') }, 'a');
    logs.access.info('c');
    await logs.close();
    expect(linesOf('worker.log')).toMatchObject([{ level: 'warn', msg: 'w' }]);
    expect(linesOf('api.log')).toMatchObject([{ level: 'error', msg: 'a', err: { message: 'broken' } }]);
    expect(linesOf('access.log')).toMatchObject([{ level: 'info', msg: 'c' }]);
    expect(statSync(dir).mode & 0o777).toBe(0o750);
    expect(statSync(join(dir, 'worker.log')).mode & 0o777).toBe(0o640);
  });

  it('takes another level, in loggers made before too', async () => {
    logs = openLogs({ dir, level: 'info', onProblem });
    const child = logs.worker.child({ interface: 'flow' });
    logs.setLevel('debug');
    child.debug('now');
    logs.worker.debug('now too');
    logs.setLevel('error');
    child.warn('no more');
    logs.worker.child({}).warn('nor later ones');
    await logs.close();
    expect(linesOf('worker.log').map(({ msg }) => msg)).toEqual(['now', 'now too']);
    expect(logs.droppedLines).toBe(0);
  });

  it('keeps lines of the audit trail whatever the level, and however it changes', async () => {
    logs = openLogs({ dir, level: 'error', onProblem });
    logs.api.warn('hidden');
    logs.audit.info({ actor: 'anna' }, 'audit');
    logs.setLevel('error');
    logs.audit.info({ actor: 'ben' }, 'audit');
    await logs.close();
    expect(linesOf('api.log').map(({ msg, actor }) => [msg, actor])).toEqual([
      ['audit', 'anna'],
      ['audit', 'ben'],
    ]);
  });

  it('shows a line soon without a flush, and appends to what is there', async () => {
    logs = openLogs({ dir, level: 'info', onProblem });
    logs.worker.info('first');
    await waitFor(() => linesOf('worker.log').length === 1, {
      timeoutMs: 1_000,
      what: 'the line in the file',
    });
    await logs.close();
    logs = openLogs({ dir, level: 'info', onProblem });
    logs.worker.info('second');
    await logs.close();
    expect(linesOf('worker.log').map((line) => line.msg)).toEqual(['first', 'second']);
  });

  it('neither loses nor repeats a line when the file is renamed and reopened under load', async () => {
    logs = openLogs({ dir, level: 'info', onProblem });
    const rotations = 20;
    const perRotation = 1_000;
    for (let rotation = 0; rotation < rotations; rotation++) {
      for (let index = 0; index < perRotation; index++) {
        logs.worker.info({ n: rotation * perRotation + index, padding: 'x'.repeat(index % 300) }, 'load');
        if (index % 97 === 0) await nextTurn();
        if (index === 500) {
          renameSync(join(dir, 'worker.log'), join(dir, `worker.log.${rotation}`));
          logs.reopen();
        }
      }
    }
    await logs.close();
    const names = [...Array.from({ length: rotations }, (_, index) => `worker.log.${index}`), 'worker.log'];
    const seen = names.flatMap((name) => linesOf(name).map((line) => line.n));
    expect(seen).toEqual(Array.from({ length: rotations * perRotation }, (_, index) => index));
    expect(problems).toEqual([]);
  });

  it('stays with the present file, and says so, when reopening fails', async () => {
    logs = openLogs({ dir, level: 'info', onProblem });
    renameSync(dir, `${dir}-moved`);
    logs.reopen();
    logs.worker.info('kept');
    await logs.close();
    expect(problems).toHaveLength(3);
    expect(problems[0]).toMatch(/worker\.log cannot be reopened, the present file stays in use: ENOENT/);
    renameSync(`${dir}-moved`, dir);
    expect(linesOf('worker.log')).toMatchObject([{ msg: 'kept' }]);
  });

  it('counts what was dropped of all logs, and logs how much when a log can be written again', async () => {
    mkdirSync(dir, { recursive: true });
    for (const name of ['worker.log', 'access.log']) symlinkSync('/dev/full', join(dir, name));
    logs = openLogs({ dir, level: 'info', onProblem });
    expect(logs.trouble).toBeNull();
    logs.access.info('does not get written');
    const inTrouble = (name: string) =>
      waitFor(() => logs.trouble?.includes(`${name}: ENOSPC`), { what: `${name} to be in trouble` });
    await inTrouble('access.log');
    logs.worker.info('nor this');
    await inTrouble('worker.log');
    const mebibyte = 'x'.repeat(1024 * 1024);
    for (let n = 0; n < 5; n += 1) logs.worker.info(mebibyte); // 4 Mi wait
    for (let n = 0; n < 6; n += 1) logs.access.info(mebibyte);
    expect(logs.droppedLines).toBe(2 + 3);
    unlinkSync(join(dir, 'worker.log'));
    logs.reopen();
    await waitFor(() => problems.some((told) => told.includes('written again')), { what: 'the recovery' });
    expect(logs.trouble).toMatch(/access\.log: ENOSPC/);
    await logs.close();
    expect(linesOf('worker.log').at(-1)).toMatchObject({
      ...{ level: 'warn', msg: 'log lines dropped', dropped: 2 },
      reason: expect.stringContaining('ENOSPC'),
    });
  });

  it('reports to standard error, unless a receiver is given', async () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    mkdirSync(dir, { recursive: true });
    symlinkSync('/dev/full', join(dir, 'api.log'));
    logs = openLogs({ dir, level: 'info' });
    logs.api.info('lost');
    await logs.close();
    const said = write.mock.calls.map(([text]) => text);
    write.mockRestore();
    expect(said).toEqual([
      expect.stringMatching(/^cardpoll: .*api\.log: log lines wait and then are dropped: ENOSPC.*\n$/),
      expect.stringMatching(/^cardpoll: .*api\.log: log lines lost at the end: 1\n$/),
    ]);
  });

  it('refuses a directory that cannot be one, naming it', () => {
    const file = join(dir, '..', '..', 'file');
    writeFileSync(file, '');
    chmodSync(file, 0o400);
    expect(() => openLogs({ dir: join(file, 'logs'), level: 'info', onProblem })).toThrow(
      expect.objectContaining({
        kind: 'config',
        code: 'log_dir_unusable',
        message: expect.stringContaining(join(file, 'logs')),
        hint: expect.stringContaining('--log-dir'),
      }),
    );
  });
});

it('a silent logger keeps nothing', () => {
  expect(silentLogger().level).toBe('silent');
});

describe('infoLine', () => {
  const texts = [
    '8986001234567890123',
    '',
    'with "quotes" and \\backslashes\\',
    'tab\tline\nreturn\rnul\u0000bell\u0007escape\u001bdelete\u007f',
    'separators\u2028\u2029, byte order mark\ufeff, 实名检查完成, \u{1f4f6}',
    'lone \ud83d surrogate',
    'lone \udcf6 surrogate with "quotes"',
    'lone \udcf6 surrogate with a tab\t',
    'a'.repeat(100),
    'a'.repeat(101),
    `${'a'.repeat(100)}\ud83d`,
    `${'a'.repeat(100)}"`,
    `{"level":"info"}\n{"level":"error"}`,
    '__proto__',
  ];
  const numbers = [0, -0, 1.5, -1, 0.1 + 0.2, 1e21, 5e-324, 2 ** 53, Number.MAX_VALUE];
  const others = [
    ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 12n, true, false, null, undefined],
    ...[
      { nested: 'text"' },
      ['a', 1],
      new Date(0),
      new Error('broken'),
      () => 1,
      Symbol('s'),
      Object('boxed'),
    ],
  ];

  it('writes what pino writes, byte for byte, whatever the values are', async () => {
    logs = openLogs({ dir, level: 'info', now: () => 1_764_000_000_123, onProblem });
    const log = logs.worker.child({ interface: 'flow', path: '/with "quotes"/{iccid}' });
    const message = '网关调用 "quoted"';
    const line = infoLine(log, message);
    const values = [...texts, ...numbers, ...others];
    const ofValues = values.flatMap((value, i) => [
      { value },
      {
        iccid: '8986',
        err: value,
        card_id: i,
        level: value,
        msg: value,
        last: values[values.length - 1 - i],
      },
    ]);
    const lines = [{}, ...ofValues];
    for (const fields of lines) {
      line(fields);
      log.info(fields, message);
    }
    await logs.close();
    const written = readFileSync(join(dir, 'worker.log'), 'latin1').split(/(?<=\n)/);
    expect(written).toHaveLength(2 * lines.length);
    for (const i of lines.keys()) expect(written[2 * i]).toBe(written[2 * i + 1]);
  });

  it('passes the fields to a logger that is not pino', () => {
    const written: unknown[] = [];
    const log = { info: (...line: unknown[]) => written.push(line) } as unknown as Logger;
    infoLine(log, 'said')({ card_id: 1, iccid: 'with "quotes"' });
    expect(written).toEqual([[{ card_id: 1, iccid: 'with "quotes"' }, 'said']]);
  });

  it('follows the level of its logger', async () => {
    logs = openLogs({ dir, level: 'warn', onProblem });
    const line = infoLine(logs.worker.child({ interface: 'flow' }), 'said');
    line({ card_id: 1 });
    logs.setLevel('info');
    line({ card_id: 2 });
    logs.setLevel('warn');
    line({ card_id: 3 });
    await logs.close();
    expect(linesOf('worker.log').map(({ card_id }) => card_id)).toEqual([2]);
  });
});
