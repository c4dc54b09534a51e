// Makes the pictures of the README: real frames of the dashboard over a demo fleet, read off a terminal (tmux) and
// written as SVG. `npm run pictures`; takes some minutes, so that the charts have something to show.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ansiToAnimation, ansiToSvg } from './ansi-to-svg.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BINARY = join(ROOT, 'bin/cardpoll.js');
const SIZE = { columns: 120, rows: 40 };
/**
 * Between the first two troubles of the demo's gateway (src/demo.ts: 300 to 345 s, 600 to 645 s), when the limits they
 * reduced are lifted. By then every card was polled for everything.
 */
const WARM_UP_MS = 560_000;
const FRAME_MS = 3_000;
const LOOK_MS = 500;
const MOST_TRIES = 20;

/** Name of the picture -> keys that lead to it from the one before. */
const PICTURES = {
  overview: [],
  task: ['j', 'Enter'],
  explain: ['c', '4', '2', 'Enter'],
};

/**
 * Twenty seconds of the second trouble: calm, the verdict, a command and what it leads to, calm. Each shot is taken as soon as the screen
 * shows what it waits for, after its keys.
 * @type {readonly { keys?: readonly string[], shows: RegExp, afterMs?: number, ms: number }[]}
 */
const STORY = [
  { shows: /● normal {2}\d/, ms: 3_000 },
  { shows: /[▲✖] (warning|alert) {2}/, ms: 2_500 },
  { shows: /[▲✖] (warning|alert) {2}/, afterMs: 9_000, ms: 3_000 },
  { keys: ['P', '6', '0', 's'], shows: /Pause \w+ for how long.*60s/, ms: 1_500 },
  { keys: ['Enter'], shows: /same as: /, ms: 3_500 },
  { keys: ['y'], shows: /■ \w+ \S+ left/, afterMs: 0, ms: 2_500 },
  { shows: /● normal {2}\d/, afterMs: 20_000, ms: 4_000 },
];
const STORY_WITHIN_MS = 240_000;

mkdirSync(join(ROOT, 'docs/pictures'), { recursive: true });
const directory = mkdtempSync(join(tmpdir(), 'cardpoll-pictures-'));
const port = await freePort();
const demo = spawn(process.execPath, [BINARY, 'demo', '--listen', `127.0.0.1:${port}`], { stdio: 'ignore' });
/** @param {string[]} args */
const tmux = (...args) =>
  execFileSync('tmux', ['-u', '-S', join(directory, 's'), ...args], { encoding: 'utf8' });
try {
  await sleep(WARM_UP_MS);
  const command = `${process.execPath} ${BINARY} dashboard --url http://127.0.0.1:${port}`;
  const size = ['-x', String(SIZE.columns), '-y', String(SIZE.rows)];
  tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'screen', ...size, command);
  for (const [name, keys] of Object.entries(PICTURES)) {
    for (const key of keys) tmux('send-keys', '-t', 'screen', key);
    await sleep(FRAME_MS);
    const frame = await liveFrame();
    if (name === 'overview' && !frame.includes('normal'))
      throw new Error(`The fleet is not normal:\n${frame}`);
    const file = join(ROOT, 'docs/pictures', `${name}.svg`);
    writeFileSync(file, ansiToSvg(frame, { ...SIZE, title: `cardpoll dashboard: ${name}` }));
    process.stdout.write(`${file}\n`);
  }
  tmux('send-keys', '-t', 'screen', '1');
  const shots = [];
  for (const { keys = [], shows, afterMs = 0, ms } of STORY) {
    for (const key of keys) tmux('send-keys', '-t', 'screen', key);
    await sleep(afterMs);
    shots.push({ screen: await frameThat(shows), ms });
  }
  const story = join(ROOT, 'docs/pictures/story.svg');
  const title = 'cardpoll dashboard: calm, trouble, its verdict, a command, calm';
  writeFileSync(story, ansiToAnimation(shots, { ...SIZE, title }));
  process.stdout.write(`${story}\n`);
} finally {
  try {
    tmux('kill-server');
  } catch {
    // It never started.
  }
  demo.kill();
  rmSync(directory, { recursive: true, force: true });
}

/** The screen as soon as it has data. @returns {Promise<string>} */
async function liveFrame() {
  for (let tries = 0; ; tries += 1) {
    const frame = tmux('capture-pane', '-p', '-e', '-N', '-t', 'screen');
    if ((frame.includes('live') && !frame.includes('asking')) || tries === MOST_TRIES) return frame;
    await sleep(FRAME_MS);
  }
}

/** The screen as soon as it shows what is waited for. @param {RegExp} shown @returns {Promise<string>} */
async function frameThat(shown) {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    if (shown.test(tmux('capture-pane', '-p', '-t', 'screen')))
      return tmux('capture-pane', '-p', '-e', '-N', '-t', 'screen');
    if (waitedMs > STORY_WITHIN_MS) throw new Error(`The screen never showed ${shown}`);
    await sleep(LOOK_MS);
  }
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port: free } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(free));
    });
  });
}
