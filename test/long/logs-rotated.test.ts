// deploy/logrotate.d/cardpoll on a daemon that polls, serves and writes all the while: logrotate itself, `cardpoll logs`
// itself. What is found afterwards is compared with a reading of every file by other code, with what the gateway counted
// and with what the client asked for.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { type Simulator, startSimulator } from '../../src/gateway/simulate/simulator.ts';
import { exitCodeOf } from '../../src/log-search/report/report.ts';
import { searchLogs } from '../../src/log-search/search.ts';
import { type Daemon, Fleet } from '../support/fleet.ts';
import { belongsTo, hasCard } from '../support/log-reference.ts';
import { type CliResult, runCli, waitFor } from '../support/processes.ts';
import { holdsRotatedFile, rotateAsShipped } from '../support/shipped-logrotate.ts';

const CARDS = 200;
const ROTATIONS = 4;
/** The rotation at which the daemon stands still until logrotate has ended: it hears of it as late as can be. */
const LATE_ROTATION = 3;
const WATCHED = demoIccid(7);
/** Has used more than its allowance. */
const STOPPED_ID = 8;
const STOPPED = demoIccid(STOPPED_ID);
const ANY_CARD = WATCHED.slice(0, 15);
const POLLED = ['realname', 'flow', 'card_status'] as const;
const ALIASES = ['realname', 'carddata', 'card_status', 'stop', 'resume'];

interface Seen {
  readonly code: number | null;
  readonly hits: number;
  readonly said: string;
}

let fleet: Fleet;
let simulator: Simulator;
let daemon: Daemon;
let logDir: string;
/** What the gateway said the watched card had used before the daemon asked for the first time. */
let usedBefore: number;
/** Ids of the requests for the watched card that were answered, by status. */
const asked: Record<number, string[]> = {};
/** What searches said that ran beside the rotations, one list a row of searches. */
const seenMeanwhile: Seen[][] = [[], []];

beforeAll(async () => {
  simulator = await startSimulator({ host: '127.0.0.1', port: 0, latencyMs: 5, changeRate: 1 });
  usedBefore = await askUsage();
  fleet = await Fleet.start({
    gatewayUrl: simulator.url,
    // A daemon that is stopped while a busy machine rotates its logs must find no call timed out when it goes on.
    env: { CARDPOLL_GATEWAY_TIMEOUT_MS: '60000', CARDPOLL_LEASE_MS: '121000' },
  });
  daemon = await fleet.startDaemon();
  logDir = daemon.logDir;
  await fleet.setIntervals(1);
  // The gateway is in this process, whose searches hold it up: no call is ended as slow while the limit is not used up.
  await fleet.setLimits(2 * CARDS);
  await fleet.importCards(CARDS, (cardId) => (cardId === STOPPED_ID ? 1 : ''));
  await pollRound();
  await failOneRequest();
  const done = new AbortController();
  const asking = askUntil(done.signal);
  try {
    for (let rotation = 1; rotation <= ROTATIONS; rotation += 1) {
      await pollRound();
      await rotateBesideSearches(rotation === LATE_ROTATION);
    }
    await pollRound();
  } finally {
    done.abort();
    await asking;
  }
  expect(await daemon.process.stop()).toMatchObject({ code: 0, stderr: '' });
});

afterAll(async () => {
  fleet.close();
  await simulator.close();
});

/** Every read of a card's usage shows half a MB more than the one before. */
async function askUsage(): Promise<number> {
  const answer = await fetch(`${simulator.url}/card/flow`, {
    method: 'POST',
    body: JSON.stringify({ iccid: WATCHED }),
  });
  return ((await answer.json()) as { data: { used: number } }).data.used;
}

/** Waits until every card can have been polled for everything once more. */
async function pollRound(): Promise<void> {
  const before = simulator.stats().byInterface;
  await waitFor(
    () => {
      const now = simulator.stats().byInterface;
      return POLLED.every((name) => now[name] >= before[name] + CARDS);
    },
    { what: 'a round of polling' },
  );
}

async function ask(): Promise<number> {
  const id = `watch-${Object.values(asked).flat().length}`;
  const answer = await fetch(`${daemon.url}/api/admin/cards/${WATCHED}`, { headers: { 'x-request-id': id } });
  await answer.arrayBuffer();
  asked[answer.status] = [...(asked[answer.status] ?? []), id];
  return answer.status;
}

async function askUntil(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await ask();
    await sleep(10);
  }
}

/** Only failures are logged to api.log. */
async function failOneRequest(): Promise<void> {
  fleet.redisServer.pause();
  try {
    expect(await ask()).toBe(503);
  } finally {
    fleet.redisServer.resume();
  }
}

async function rotateBesideSearches(late: boolean): Promise<void> {
  const before = await countOf(WATCHED);
  let rotated = false;
  const searches = [
    async () => asSeen(await search(WATCHED, '--count-only')),
    // Without a process to start, searches are so short that some hit the very steps of logrotate.
    async () => {
      await nextTurn();
      const report = await searchLogs({ roots: [logDir], iccid: WATCHED, threads: 1 });
      report.close();
      const said = report.notices.map(({ path, code }) => `${code} ${path}`).join();
      return { code: exitCodeOf(report), hits: report.hits, said };
    },
  ];
  const rows = searches.map(async (one, row) => {
    seenMeanwhile[row]?.push({ code: 0, hits: before, said: '' });
    // On a busy machine a rotation may take no longer than one search.
    for (let searched = 0; searched < 2 || !rotated; searched += 1) seenMeanwhile[row]?.push(await one());
  });
  if (late) daemon.process.signal('SIGSTOP');
  try {
    await rotateAsShipped({ logDir, pid: daemon.process.pid, workDir: fleet.dir });
  } finally {
    if (late) daemon.process.signal('SIGCONT');
    rotated = true;
  }
  // Real rotations lie hours apart; here the next one must not come before the daemon has let go of the files.
  await waitFor(() => !holdsRotatedFile(daemon.process.pid), { what: 'the daemon to reopen its logs' });
  await Promise.all(rows);
  expect(await countOf(WATCHED)).toBeGreaterThan(before);
}

function asSeen({ code, stdout, stderr }: CliResult): Seen {
  return { code, hits: Number(stdout), said: stderr };
}

const search = (card: string, ...args: string[]) =>
  runCli(['logs', '--roots', logDir, '--iccid', card, ...args]);

async function countOf(card: string, ...args: string[]): Promise<number> {
  const { code, stdout, stderr } = await search(card, '--count-only', ...args);
  expect([code, stderr]).toEqual([stdout === '0\n' ? 1 : 0, '']);
  return Number(stdout);
}

/** Every line of every file of this log, read without the product. */
function linesOf(name: string): Buffer[] {
  return readdirSync(logDir)
    .filter((file) => file.startsWith(name))
    .flatMap((file) => {
      const bytes = readFileSync(join(logDir, file));
      const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1');
      expect(text === '' || text.endsWith('\n'), `${file} ends with a whole line`).toBe(true);
      return text.split('\n').slice(0, -1);
    })
    .map((line) => Buffer.from(line, 'latin1'));
}

const linesAbout = (card: string, name = '') => linesOf(name).filter((line) => hasCard(line, card));

it.each([
  [WATCHED, ALIASES],
  [STOPPED, ['stop']],
  [ANY_CARD, ['realname']],
])('finds every line of %s once, and of interfaces', async (card, aliases) => {
  const lines = linesAbout(card);
  expect(lines.length).toBeGreaterThan(ROTATIONS * 6);
  expect(await countOf(card)).toBe(lines.length);
  for (const alias of aliases) {
    const expected = lines.filter((line) => belongsTo(line, alias, false)).length;
    expect(await countOf(card, '--interface', alias), alias).toBe(expected);
  }
});

it('prints each of these lines once', async () => {
  const { stdout } = await search(WATCHED, '--all', '-o', 'jsonl');
  const hits = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; line: string });
  const found = hits.filter(({ type }) => type === 'hit').map(({ line }) => line);
  expect(found.sort()).toEqual(
    linesAbout(WATCHED)
      .map((line) => line.toString())
      .sort(),
  );
});

it('finds every call the gateway counted', async () => {
  const { byInterface, stops } = simulator.stats();
  const strictly = (card: string, alias: string) => countOf(card, '--interface', alias, '--strict');
  expect(await strictly(ANY_CARD, 'realname')).toBe(byInterface.realname);
  expect(await strictly(ANY_CARD, 'flow')).toBe(byInterface.flow - 1); // the test's own call
  expect(await strictly(ANY_CARD, 'card_status')).toBe(byInterface.card_status);
  expect(stops).toEqual({ [STOPPED]: 1 });
  expect(await strictly(STOPPED, 'stop')).toBe(1);
  const failed = linesOf('worker.log').filter((line) => line.includes('"error":'));
  expect(failed.map(String)).toEqual([]);
  const usages = calls('flow').map(({ used }) => Number(used));
  const reads = ((await askUsage()) - usedBefore) / 0.5 - 1;
  expect(usages.sort((a, b) => a - b)).toEqual(
    Array.from({ length: reads }, (_, read) => usedBefore + (read + 1) / 2),
  );
  expect(await strictly(WATCHED, 'carddata')).toBe(reads);
});

it('finds every request its client sent', async () => {
  const ids = (name: string) => linesAbout(WATCHED, name).map((line) => JSON.parse(`${line}`).request_id);
  expect(Object.keys(asked)).toEqual(['200', '503']);
  expect(ids('access.log').sort()).toEqual(Object.values(asked).flat().sort());
  expect(ids('api.log')).toEqual(asked[503]);
  const { stdout } = await search(WATCHED, '-o', 'json');
  const { matching_files } = JSON.parse(stdout) as { matching_files: Array<{ path: string; hits: number }> };
  const hitsIn = (name: string) =>
    matching_files
      .filter(({ path }) => path.startsWith(join(logDir, name)))
      .reduce((sum, { hits }) => sum + hits, 0);
  expect(hitsIn('access.log')).toBe(ids('access.log').length);
  expect(hitsIn('api.log')).toBe(ids('api.log').length);
  expect(hitsIn('worker.log')).toBe(linesAbout(WATCHED, 'worker.log').length);
});

it('logs of a gateway call what the contract names', () => {
  const named = ['path', 'iccid', 'card_id', 'interface', 'duration_ms', 'status'];
  for (const [name, field] of [
    ['realname', 'realStatus'],
    ['flow', 'used'],
    ['card_status', 'cardStatus'],
  ] as const) {
    for (const call of calls(name)) {
      expect(Object.keys(call).sort()).toEqual(['level', 'time', 'msg', ...named, field].sort());
      expect(call).toMatchObject({ iccid: WATCHED, card_id: 7, status: 200 });
      expect(call.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/);
    }
  }
});

function calls(name: string): Array<Record<string, unknown>> {
  return linesAbout(WATCHED, 'worker.log')
    .map((line) => JSON.parse(`${line}`) as Record<string, unknown>)
    .filter((line) => line.interface === name);
}

it('misses nothing while logrotate renames and compresses', () => {
  for (const row of seenMeanwhile) {
    expect(row.length).toBeGreaterThan(2 * ROTATIONS);
    expect(row.filter(({ code }) => code !== 0)).toEqual([]);
    const hits = row.map((result) => result.hits);
    expect(hits).toEqual([...hits].sort((a, b) => a - b));
  }
});

it('keeps each rotation under a name of its own, all but the last compressed and indexed', async () => {
  const rotations = (name: string) => readdirSync(logDir).filter((file) => file.startsWith(`${name}-`));
  for (const name of ['worker.log', 'access.log']) {
    const names = rotations(name);
    expect(names).toHaveLength(ROTATIONS);
    for (const file of names.slice(0, -1)) expect(file).toMatch(/^\w+\.log-20\d{6}-\d{6}\.gz$/);
    expect(names.at(-1)).toMatch(/^\w+\.log-20\d{6}-\d{6}$/);
  }
  // Never when it was empty: not once a time, unless a busy machine gave it more to say.
  const failures = rotations('api.log');
  expect(failures.length).toBeGreaterThanOrEqual(1);
  // Compressed, nothing takes less than 50 bytes and a line more than 100.
  for (const file of failures) expect(statSync(join(logDir, file)).size).toBeGreaterThan(100);
});

it('rotates without a daemon too', async () => {
  const before = await countOf(WATCHED);
  await rotateAsShipped({ logDir, pid: 0, workDir: fleet.dir });
  expect(readdirSync(logDir).filter((file) => file.startsWith('worker.log-'))).toHaveLength(ROTATIONS + 1);
  expect(linesOf('worker.log')).not.toEqual([]);
  expect(readFileSync(join(logDir, 'worker.log'), 'utf8')).toBe('');
  expect(await countOf(WATCHED)).toBe(before);
});
