// `npm run bench:logs [-- --megabytes 156]`: cardpoll logs against rg -z, ugrep -z and zgrep on the same files, in turn,
// in one run. Makes its corpus (six gz files, and ten days, of so many inflated megabytes each), installs what is missing
// with apt-get, checks that all count right, prints tables, and as its last line JSON with the ratios (above 1: cardpoll
// is faster). rg and ugrep search the directory: that is when they use all processors.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { COMMON_CARD, dayOf, type LogCorpus, makeLogs } from './log-corpus.ts';
import { printTable } from './table.ts';

const BINARY = join(process.cwd(), 'bin', 'cardpoll.js');
const ROUNDS = 5;
const WANTED_FILE = 4;
/** With the ten days more than 10 GB in all. */
const DEFAULT_MEGABYTES = 650;
const TARGETS = {
  no_date: { rg: 3, ugrep: 1.3 },
  one_day_of_ten: { rg: 10 },
  peak_rss_mb: 250,
  help_ms: 150,
};

interface Run {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly hits: number;
}

interface Measured {
  readonly name: string;
  readonly seconds: number;
  /** Of the process and all its children: what counts on a machine that does other things too. */
  readonly cpuSeconds: number;
  readonly rssMb: number;
}

export async function run(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...argv], options: { megabytes: { type: 'string' } } });
  const bytesAFile = Number(values.megabytes ?? DEFAULT_MEGABYTES) * 1e6;
  install();
  const root = temporaryDirectory('bench-logs');
  try {
    const all = await makeLogs(join(root, 'all'), { files: 6, bytesAFile, seed: 100 });
    const days = await makeLogs(join(root, 'days'), {
      files: 10,
      bytesAFile,
      seed: 200,
    });
    const noDate = await compareWithoutDate(all);
    const oneDay = await compareOneDay(days);
    const [help] = await measureInTurn([
      { name: '--help', command: process.execPath, args: [BINARY, '--help'], hits: 0 },
    ]);
    const helpMs = Math.round((help?.seconds ?? Number.NaN) * 1000);
    process.stdout.write(`\ncardpoll --help: ${helpMs} ms\n`);
    const cardpolls = [...noDate, ...oneDay].filter(({ name }) => name.startsWith('cardpoll'));
    const result = {
      bench: 'logs',
      bytes: { no_date: all.bytes, one_day_of_ten: days.bytes },
      no_date: ratios(noDate, 'cardpoll'),
      one_day_of_ten: ratios(oneDay, 'cardpoll'),
      peak_rss_mb: Math.round(Math.max(...cardpolls.map(({ rssMb }) => rssMb))),
      help_ms: helpMs,
      targets: TARGETS,
    };
    process.stdout.write(`${JSON.stringify(result)}\n`);
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

function compareWithoutDate(corpus: LogCorpus): Promise<Measured[]> {
  const hits = sum(corpus.hits);
  process.stdout.write(`${gigabytes(corpus)} GB in ${corpus.files.length} files, no date: ${hits} hits\n`);
  return compare([cardpoll('cardpoll', [corpus.root], COMMON_CARD, hits), ...peers(corpus)]);
}

function compareOneDay(corpus: LogCorpus): Promise<Measured[]> {
  const day = dayOf(WANTED_FILE);
  const hits = corpus.hits[WANTED_FILE] ?? 0;
  process.stdout.write(
    `\n${gigabytes(corpus)} GB in ${corpus.files.length} days, --date ${day}: ${hits} hits\n`,
  );
  const dated = ['--date', day, '--tz', 'UTC'];
  return compare([cardpoll('cardpoll', [corpus.root], COMMON_CARD, hits, ...dated), ...peers(corpus)]);
}

function cardpoll(
  name: string,
  roots: readonly string[],
  card: string,
  hits: number,
  ...args: readonly string[]
): Run {
  const search = ['logs', '--roots', roots.join(':'), '--iccid', card, '--count-only'];
  return { name, command: process.execPath, args: [BINARY, ...search, ...args], hits };
}

function peers({ root, files, hits }: LogCorpus): Run[] {
  const all = { hits: sum(hits) };
  return [
    { name: 'rg -z', command: 'rg', args: ['-z', '-c', '--no-filename', COMMON_CARD, root], ...all },
    { name: 'ugrep -z', command: 'ugrep', args: ['-z', '-r', '-c', '-h', COMMON_CARD, root], ...all },
    { name: 'zgrep', command: 'zgrep', args: ['-c', '-h', COMMON_CARD, ...files], ...all },
  ];
}

async function compare(runs: readonly Run[]): Promise<Measured[]> {
  const measured = await measureInTurn(runs);
  const { seconds: own = 0, cpuSeconds: ownCpu = 0 } = measured[0] ?? {};
  printTable(
    ['', 'seconds', 'x cardpoll', 'CPU seconds', 'x cardpoll', 'peak MB'],
    measured.map(({ name, seconds, cpuSeconds, rssMb }) => [
      name,
      seconds.toFixed(2),
      (seconds / own).toFixed(2),
      cpuSeconds.toFixed(2),
      (cpuSeconds / ownCpu).toFixed(2),
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

async function measure({ name, command, args, hits }: Run): Promise<Measured> {
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
  const found = sum(output.split('\n').map((line) => Number(line) || 0));
  if (found !== hits) throw new Error(`${name} found ${found} of ${hits} lines`);
  const [, user = 0, system = 0] = /cpu ([\d.]+) ([\d.]+)/.exec(times) ?? [];
  return { name, seconds, cpuSeconds: Number(user) + Number(system), rssMb: peak() };
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

/** How many times as long as ours the others took. */
function ratios(measured: readonly Measured[], own: string) {
  const seconds = (name: string) => measured.find((one) => one.name === name)?.seconds ?? Number.NaN;
  const to = (peer: string) => round(seconds(peer) / seconds(own));
  return { rg: to('rg -z'), ugrep: to('ugrep -z'), zgrep: to('zgrep') };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function gigabytes({ bytes }: LogCorpus): number {
  return Math.round(bytes / 1e8) / 10;
}
