// `npm run bench:logs`: cardpoll logs against rg -z, ugrep -z and zgrep on the same files, in turn, in one run. Makes its
// corpus (six gz files of 155 MB each, and ten days of 80 MB), installs what is missing with apt-get, checks that all
// count the same, prints a table, and as its last line JSON with the ratios (above 1: cardpoll is faster).
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGzip } from 'node:zlib';
import { printTable } from './table.ts';

const BINARY = join(process.cwd(), 'bin', 'cardpoll.js');
const CARD = '8986001234567890123';
const ROUNDS = 3;
const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-02-01T00:00:00Z');
const WANTED_DAY = '2026-02-05';
const CARD_EVERY = 40_000;

interface Run {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

interface Measured {
  readonly name: string;
  readonly seconds: number;
  /** Of the process and all its children: what counts on a machine that does other things too. */
  readonly cpuSeconds: number;
  readonly hits: number;
  readonly rssMb: number;
}

export async function run(): Promise<void> {
  install();
  const root = mkdtempSync(join(tmpdir(), 'cardpoll-bench-logs-'));
  try {
    const all = await makeLogs(join(root, 'all'), 6, 180e6);
    const days = await makeLogs(join(root, 'days'), 10, 90e6);
    process.stdout.write(
      `${(all.bytes / 1e6).toFixed(0)} MB in 6 files, no date; ${all.hits} lines with the card\n`,
    );
    const whole = await compare(join(root, 'all'), all.files, []);
    check(whole, all.hits);
    process.stdout.write(`\n${(days.bytes / 1e6).toFixed(0)} MB in 10 days, --date ${WANTED_DAY}\n`);
    const dated = await compare(join(root, 'days'), days.files, ['--date', WANTED_DAY, '--tz', 'UTC']);
    check(
      dated.filter(({ name }) => !name.startsWith('cardpoll')),
      days.hits,
    );
    check(
      dated.filter(({ name }) => name.startsWith('cardpoll')),
      days.hitsOf(WANTED_DAY),
    );
    makeIndex(join(root, 'all'), join(root, 'cache'));
    const [indexed] = await measureInTurn([
      cardpoll(
        'cardpoll, indexed',
        join(root, 'all'),
        ['--cache-dir', join(root, 'cache')],
        '8986999999999999999',
      ),
    ]);
    process.stdout.write(
      `\nwith an index, a card that is in none of the 6 files: ${indexed?.seconds.toFixed(2)} s\n`,
    );
    process.stdout.write(`${JSON.stringify(summary(whole, dated, indexed))}\n`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function install(): void {
  const missing = [
    ['rg', 'ripgrep'],
    ['ugrep', 'ugrep'],
  ].filter(([command = '']) => !hasCommand(command));
  if (missing.length === 0) return;
  execFileSync('apt-get', ['install', '-y', ...missing.map(([, name = '']) => name)], { stdio: 'ignore' });
}

function hasCommand(command: string): boolean {
  return (process.env.PATH ?? '').split(':').some((directory) => existsSync(join(directory, command)));
}

/** Lines as the worker writes them, a file a day, named as logrotate's dateext does. */
async function makeLogs(directory: string, files: number, bytesPerFile: number) {
  mkdirSync(directory, { recursive: true });
  const made = { files: [] as string[], bytes: 0, hits: 0, hitsOf: (day: string) => byDay.get(day) ?? 0 };
  const byDay = new Map<string, number>();
  const random = generator(7);
  let count = 0;
  for (let day = 0; day < files; day += 1) {
    const path = join(directory, `worker.log-${digits(START_MS + (day + 1) * DAY_MS)}.gz`);
    const gzip = createGzip();
    const written = once(gzip.pipe(createWriteStream(path)), 'close');
    const lines = Math.floor(bytesPerFile / 305);
    for (let line = 0; line < lines; ) {
      let text = '';
      for (const end = Math.min(lines, line + 2_000); line < end; line += 1) {
        count += 1;
        const hit = count % CARD_EVERY === 0;
        text += logLine(START_MS + day * DAY_MS + DAY_MS * (line / lines), hit, random);
        if (!hit) continue;
        const name = new Date(START_MS + day * DAY_MS).toISOString().slice(0, 10);
        byDay.set(name, (byDay.get(name) ?? 0) + 1);
        made.hits += 1;
      }
      made.bytes += Buffer.byteLength(text);
      if (!gzip.write(text)) await once(gzip, 'drain');
    }
    gzip.end();
    await written;
    const closed = new Date(START_MS + (day + 1) * DAY_MS);
    utimesSync(path, closed, closed);
    made.files.push(path);
  }
  return made;
}

function logLine(ms: number, hit: boolean, random: () => number): string {
  const number = (digitCount: number) =>
    String(Math.floor(random() * 10 ** digitCount)).padStart(digitCount, '0');
  const hex = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const card = hit ? CARD : `89860${number(7)}${number(7)}`;
  return `{"level":"info","time":"${new Date(ms).toISOString()}","request_id":"${hex()}${hex()}","card_id":${number(8)},"iccid":"${card}","path":"/gateway/v1/realname/query","interface":"realname","duration_ms":${number(3)},"status":200,"realStatus":${random() < 0.5 ? 1 : 0},"msg":"实名检查完成"}\n`;
}

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

function digits(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
}

function cardpoll(name: string, root: string, args: readonly string[], card = CARD): Run {
  return {
    name,
    command: process.execPath,
    args: [BINARY, 'logs', '--roots', root, '--iccid', card, '--count-only', ...args],
  };
}

async function compare(root: string, files: readonly string[], args: readonly string[]): Promise<Measured[]> {
  const measured = await measureInTurn([
    cardpoll('cardpoll', root, args),
    cardpoll('cardpoll without zlib-sync', root, [...args, '--inflate', 'node']),
    { name: 'rg -z', command: 'rg', args: ['-z', '-c', '--no-filename', CARD, ...files] },
    { name: 'ugrep -z', command: 'ugrep', args: ['-z', '-c', '-h', CARD, ...files] },
    { name: 'zgrep', command: 'zgrep', args: ['-c', '-h', CARD, ...files] },
  ]);
  const { seconds: own = 0, cpuSeconds: ownCpu = 0 } = measured[0] ?? {};
  printTable(
    ['', 'seconds', 'x cardpoll', 'CPU seconds', 'x cardpoll', 'hits', 'peak MB'],
    measured.map(({ name, seconds, cpuSeconds, hits, rssMb }) => [
      name,
      seconds.toFixed(2),
      (seconds / own).toFixed(2),
      cpuSeconds.toFixed(2),
      (cpuSeconds / ownCpu).toFixed(2),
      String(hits),
      rssMb.toFixed(0),
    ]),
  );
  return measured;
}

/** Each in turn, round after round, so that what else the machine does meets all alike; the median counts. */
async function measureInTurn(runs: readonly Run[]): Promise<Measured[]> {
  const measured = runs.map((): Measured[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, one] of runs.entries()) measured[index]?.push(await measure(one));
  }
  return measured.map((all) => {
    const sorted = [...all].sort((a, b) => a.seconds - b.seconds);
    const median = sorted[Math.floor(ROUNDS / 2)];
    if (median === undefined) throw new Error('nothing was measured');
    return { ...median, rssMb: Math.max(...all.map(({ rssMb }) => rssMb)) };
  });
}

async function measure({ name, command, args }: Run): Promise<Measured> {
  const startedMs = performance.now();
  const timed = ['-c', 'TIMEFORMAT="cpu %U %S"; time "$0" "$@" 2>/dev/null', command, ...args];
  const child = spawn('bash', timed, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let times = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    times += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const peak = watchPeak(child.pid ?? 0);
  await once(child, 'close');
  const seconds = (performance.now() - startedMs) / 1000;
  const hits = output.split('\n').reduce((sum, line) => sum + (Number(line) || 0), 0);
  const [, user = 0, system = 0] = /cpu ([\d.]+) ([\d.]+)/.exec(times) ?? [];
  return { name, seconds, cpuSeconds: Number(user) + Number(system), hits, rssMb: peak() };
}

/** Samples the peak resident memory the kernel keeps; returns a function that ends it and yields megabytes. */
function watchPeak(pid: number): () => number {
  let peakKb = 0;
  const look = () => {
    for (const child of childrenOf(pid)) peakKb = Math.max(peakKb, peakOf(child));
  };
  const timer = setInterval(look, 20);
  return () => {
    clearInterval(timer);
    return peakKb / 1024;
  };
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  } catch {
    return [];
  }
}

function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function makeIndex(root: string, cacheDir: string): void {
  execFileSync(process.execPath, [BINARY, 'logs', 'index', '--roots', root, '--cache-dir', cacheDir], {
    stdio: 'ignore',
  });
}

function check(measured: readonly Measured[], hits: number): void {
  for (const one of measured) {
    if (one.hits !== hits) throw new Error(`${one.name} found ${one.hits} of ${hits} lines`);
  }
}

function summary(whole: readonly Measured[], dated: readonly Measured[], indexed: Measured | undefined) {
  const seconds = (all: readonly Measured[], name: string) =>
    all.find((one) => one.name === name)?.seconds ?? Number.NaN;
  const ratio = (all: readonly Measured[], peer: string, own = 'cardpoll') =>
    Math.round((seconds(all, peer) / seconds(all, own)) * 100) / 100;
  const without = 'cardpoll without zlib-sync';
  const cpu = (all: readonly Measured[], name: string) =>
    all.find((one) => one.name === name)?.cpuSeconds ?? Number.NaN;
  const cpuRatio = (all: readonly Measured[], peer: string) =>
    Math.round((cpu(all, peer) / cpu(all, 'cardpoll')) * 100) / 100;
  return {
    bench: 'logs',
    no_date: { rg: ratio(whole, 'rg -z'), ugrep: ratio(whole, 'ugrep -z'), zgrep: ratio(whole, 'zgrep') },
    no_date_without_zlib_sync: {
      rg: ratio(whole, 'rg -z', without),
      ugrep: ratio(whole, 'ugrep -z', without),
    },
    no_date_cpu: { rg: cpuRatio(whole, 'rg -z'), ugrep: cpuRatio(whole, 'ugrep -z') },
    one_day_of_ten_cpu: { rg: cpuRatio(dated, 'rg -z'), ugrep: cpuRatio(dated, 'ugrep -z') },
    one_day_of_ten: { rg: ratio(dated, 'rg -z'), ugrep: ratio(dated, 'ugrep -z') },
    indexed_seconds: indexed?.seconds,
    hits: whole[0]?.hits,
    peak_rss_mb: Math.round(
      Math.max(
        ...[...whole, ...dated].filter(({ name }) => name.startsWith('cardpoll')).map(({ rssMb }) => rssMb),
      ),
    ),
    targets: { no_date: { rg: 3, ugrep: 1.3 }, one_day_of_ten: { rg: 10 }, peak_rss_mb: 250 },
  };
}
