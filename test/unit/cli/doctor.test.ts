// `cardpoll doctor`: what it prints and how it ends, with prepared findings and a prepared daemon.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Interruption } from '../../../src/cli/command.ts';
import type { Finding } from '../../../src/domain/finding.ts';
import { VERSION } from '../../../src/platform/version.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { OVERVIEW } from './bodies.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const REDIS: Finding = { check: 'redis', status: 'ok', detail: 'answers', hint: null, command: null };
const SKEW: Finding = {
  check: 'redis clock',
  status: 'warning',
  detail: '+2000 ms against this machine',
  hint: 'synchronise with',
  command: 'timedatectl set-ntp true',
};
const GATEWAY_DOWN: Finding = {
  check: 'gateway',
  status: 'failed',
  detail: 'nothing answers',
  hint: null,
  command: null,
};
const HIDDEN: Finding = {
  check: 'redis memory',
  status: 'unknown',
  detail: 'it does not tell',
  hint: null,
  command: null,
};
const argv = ['doctor', '--gateway-url', 'http://gateway:8080'];

const examined = (...findings: Finding[]) => ({ doctor: async () => findings });

const WELL = { ...OVERVIEW, version: VERSION, health: 'normal', health_reasons: [] };

it('ends with 0 when nothing failed; warnings are no failure', async () => {
  const { env } = await daemonThatSays(json(WELL));
  const { code, stdout } = await cli([...argv, '-o', 'tsv'], { env, launchers: examined(REDIS, SKEW) });
  expect(stdout).toBe(
    'configuration\tok\tvalid\t-\t-\nredis\tok\tanswers\t-\t-\n' +
      'redis clock\twarning\t+2000 ms against this machine\tsynchronise with\ttimedatectl set-ntp true\n' +
      `daemon\tok\tanswers; ${OVERVIEW.workers.length} live, health normal\t-\t-\nversion\tok\t${VERSION}\t-\t-\n`,
  );
  expect(code).toBe(0);
});

it('says where only the daemon can be asked that no card is stopped', async () => {
  const stops = { ...OVERVIEW.stops, mode: 'observe', observed: 28 };
  const { env } = await daemonThatSays(json({ ...WELL, stops }));
  const { code, stdout } = await cli(['doctor', '-o', 'tsv'], { env });
  expect(code).toBe(0);
  expect(stdout).toContain(
    'stop mode\twarning\tobserve: 28 cards would have been stopped, none was\t-\tcardpoll stops list --state observed\n',
  );
  const { env: other } = await daemonThatSays(json({ ...WELL, stops }));
  expect((await cli(argv, { env: other, launchers: examined(REDIS) })).stdout).not.toContain('stop mode');
});

it('ends with 1 when the fleet is not well, and says why and what to type', async () => {
  const { env } = await daemonThatSays(json(OVERVIEW));
  const { code, stdout } = await cli([...argv, '-o', 'tsv'], { env, launchers: examined(REDIS) });
  expect(code).toBe(1);
  expect(stdout).toContain(
    'paused\tfailed\tpackage: paused by the gateway for 60 s more: HTTP 429 (since 2026-11-21T09:58Z)\t-\tcardpoll resume package\n',
  );
});

it('ends with 1 when a check failed, and says all of it as JSON', async () => {
  const { env } = await daemonThatSays(json(WELL));
  const { code, stdout } = await cli([...argv, '-o', 'json'], {
    env,
    launchers: examined(REDIS, GATEWAY_DOWN, HIDDEN),
  });
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    status: 'failed',
    items: [
      { check: 'configuration', status: 'ok' },
      REDIS,
      GATEWAY_DOWN,
      HIDDEN,
      { check: 'daemon', status: 'ok' },
      { check: 'version', status: 'ok' },
    ],
  });
});

it('ends with 2 when a check could not run', async () => {
  const { env } = await daemonThatSays(json(WELL));
  const { code, stdout } = await cli([...argv, '-o', 'json'], { env, launchers: examined(REDIS, HIDDEN) });
  expect([code, JSON.parse(stdout).status]).toEqual([2, 'unknown']);
});

it('says for people what was found, what to do and what to type, the command whole', async () => {
  const { env } = await daemonThatSays(json(WELL));
  const long: Finding = {
    check: 'redis',
    status: 'failed',
    detail: `\x1b[2J${'evicts '.repeat(20)}`,
    hint: null,
    command: `redis-cli ${'-x '.repeat(40)}`,
  };
  const launchers = examined(long, SKEW, HIDDEN);
  const { stdout } = await cli(argv, { env: { ...env, NO_COLOR: '1' }, launchers, tty: true });
  const lines = stdout.split('\n');
  expect(stdout).toContain('✖ failed');
  expect(stdout).toContain('? unknown');
  expect(lines).toContain('  timedatectl set-ntp true');
  expect(lines).toContain(`  ${long.command}`);
  expect(lines.filter((line) => line.length > 80)).toEqual([`  ${long.command}`]);
  expect(stdout).not.toContain('\x1b');
  expect(lines.at(-2)).toBe('3 ok, 1 warning, 1 failed, 1 unknown');
});

it('reports mistakes of the configuration, and checks nothing else', async () => {
  const { env } = await daemonThatSays(json(WELL));
  const { code, stdout } = await cli(['doctor', '--redis-url', 'redis://r', '-o', 'json'], { env });
  expect(code).toBe(1);
  expect(JSON.parse(stdout).items).toMatchObject([
    { check: 'configuration', status: 'failed', detail: expect.stringMatching(/^redis_url.*database_url/) },
    {
      check: 'configuration',
      status: 'failed',
      detail: expect.stringMatching(/^the gateway URL/),
      command: 'cardpoll daemon --help',
    },
    { status: 'skipped' },
    { check: 'daemon', status: 'ok' },
    { check: 'version', status: 'ok' },
  ]);
});

it('does not mind that no daemon runs yet, and says what starts it', async () => {
  const env = { CARDPOLL_URL: 'http://127.0.0.1:1' };
  let daemonAnswers: boolean | null = null;
  const launchers = {
    doctor: async (_: unknown, answers: boolean) => {
      daemonAnswers = answers;
      return [REDIS];
    },
  };
  const { code, stdout } = await cli([...argv, '-o', 'json'], { env, launchers });
  expect([code, daemonAnswers]).toEqual([0, false]);
  expect(JSON.parse(stdout).items.at(-1)).toMatchObject({
    check: 'daemon',
    status: 'warning',
    command: 'cardpoll daemon',
  });
});

describe('a suggested command', () => {
  const MIGRATIONS: Finding = { ...SKEW, check: 'migrations', command: 'cardpoll migrate up' };
  const RULES: Finding = { ...SKEW, check: 'alert rules', command: 'cardpoll alerts rules' };
  const gateway = ['--gateway-url', 'http://gateway:8080', '-o', 'json'];
  const launchers = examined(MIGRATIONS, RULES, SKEW);

  it('names the config file as one word of a shell', async () => {
    const file = join(temporaryDirectory('doctor'), 'card poll.yaml');
    writeFileSync(file, '{}');
    const env = { CARDPOLL_URL: 'http://127.0.0.1:1' };
    const { stdout } = await cli(['doctor', '--config', file, ...gateway], { env, launchers });
    expect(commandsIn(stdout)).toEqual([
      `cardpoll migrate up --config '${file}'`,
      'cardpoll alerts rules',
      SKEW.command,
      `cardpoll daemon --config '${file}'`,
    ]);
  });

  it('reaches the same daemon, which commands without flags would not find', async () => {
    const { env: daemon } = await daemonThatSays(json(OVERVIEW));
    const { CARDPOLL_URL: url = '' } = daemon;
    const file = join(temporaryDirectory('doctor'), 'cardpoll.yaml');
    writeFileSync(file, JSON.stringify({ listen: new URL(url).host }));
    const byFile = await cli(['doctor', '--config', file, ...gateway], { launchers });
    expect(commandsIn(byFile.stdout)).toEqual([
      `cardpoll migrate up --config ${file}`,
      `cardpoll alerts rules --config ${file}`,
      SKEW.command,
      `cardpoll resume package --config ${file}`,
    ]);
    const byUrl = await cli(['doctor', '--url', url, '-o', 'json']);
    expect(commandsIn(byUrl.stdout)).toEqual([`cardpoll resume package --url ${url}`]);
    const byVariable = await cli(['doctor', '-o', 'json'], { env: daemon });
    expect(commandsIn(byVariable.stdout)).toEqual(['cardpoll resume package']);
  });

  function commandsIn(stdout: string): unknown[] {
    const { items } = JSON.parse(stdout) as { items: Finding[] };
    return items.flatMap(({ command }) => command ?? []);
  }
});

// Nothing says that a daemon is to run: a launcher that is called fails the test.
describe('on a client', () => {
  it('looks on a client only at the daemon, its version and its health', async () => {
    const { env } = await daemonThatSays(json({ ...OVERVIEW, version: '9.9.9' }));
    const { code, stdout } = await cli(['doctor', '-o', 'json'], { env });
    expect(code).toBe(1);
    expect(JSON.parse(stdout).items).toMatchObject([
      { check: 'daemon', status: 'ok' },
      { check: 'version', status: 'warning', detail: `the daemon is 9.9.9, this command is ${VERSION}` },
      { check: 'paused', status: 'failed', command: 'cardpoll resume package' },
    ]);
  });

  it('asks no daemon where its own settings cannot work, and does not blame the daemon', async () => {
    const { env, requests } = await daemonThatSays(json(WELL));
    const missing = { ...env, CARDPOLL_TOKEN_FILE: '/nowhere/token' };
    const { code, stdout } = await cli(['doctor', '-o', 'json'], { env: missing });
    expect([code, requests]).toEqual([1, []]);
    expect(JSON.parse(stdout).items).toMatchObject([
      {
        check: 'client settings',
        status: 'failed',
        detail: expect.stringMatching(/^CARDPOLL_TOKEN_FILE: .*no such file/),
        hint: expect.stringMatching(/^no daemon was asked/),
      },
    ]);
  });

  it('fails on a client whose daemon is away, or does not take its token', async () => {
    const away = await cli(['doctor', '-o', 'json'], { env: { CARDPOLL_URL: 'http://127.0.0.1:1' } });
    expect(away.code).toBe(1);
    expect(JSON.parse(away.stdout).items).toMatchObject([{ check: 'daemon', status: 'failed' }]);
    const { env } = await daemonThatSays(
      json(
        { title: 'Unauthorized', status: 401, code: 'unauthorized', detail: 'the token is not known' },
        401,
      ),
    );
    const refused = await cli(['doctor', '-o', 'json'], { env });
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout).items).toMatchObject([{ check: 'token', status: 'failed' }]);
  });
});

describe('-q', () => {
  it('prints nothing when all is well', async () => {
    const { env } = await daemonThatSays(json(WELL));
    expect(await cli([...argv, '-q'], { env, launchers: examined(REDIS) })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('prints only what is not ok, without a summary', async () => {
    const { env } = await daemonThatSays(json(WELL));
    const launchers = examined(REDIS, SKEW, GATEWAY_DOWN);
    expect(await cli([...argv, '-q'], { env, launchers })).toMatchObject({
      code: 1,
      stdout:
        '▲ warning  redis clock: +2000 ms against this machine\n  synchronise with\n  timedatectl set-ntp true\n' +
        '✖ failed   gateway: nothing answers\n',
    });
    const body = JSON.parse((await cli([...argv, '-q', '--json'], { env, launchers })).stdout);
    expect(body.items.map(({ check }: Finding) => check)).toEqual(['redis clock', 'gateway']);
  });
});

it.each([
  ['alert', 0],
  ['warning', 1],
])('--fail-on %s ends with %i for a warning', async (failOn, code) => {
  const { env } = await daemonThatSays(json(WELL));
  const launchers = examined(REDIS, SKEW);
  expect(await cli([...argv, '--fail-on', failOn], { env, launchers })).toMatchObject({ code });
});

describe('alerts that pass by themselves are warnings', () => {
  const reason = (code: string) => ({
    ...{
      code,
      severity: 'alert',
      text: 'realname: it is so',
      command: null,
      task_type: 'realname',
      since: null,
    },
  });
  const statusOf = async (code: string, fleet: object) => {
    const { env } = await daemonThatSays(json({ ...WELL, health_reasons: [reason(code)], ...fleet }));
    const outcome = await cli(['doctor', '--json'], { env });
    const { items } = JSON.parse(outcome.stdout) as { items: Finding[] };
    const { status, detail } = items.find(({ check }) => check === code) ?? {};
    return [outcome.code, status, detail];
  };
  const draining = { capacity: { ...OVERVIEW.capacity, drain_seconds: 58.6 } };
  const never = { capacity: { ...OVERVIEW.capacity, drain_seconds: null } };

  it('while a backlog drains', async () => {
    const drains = 'realname: it is so; the whole backlog is gone in about 59s';
    expect(await statusOf('concurrency_usage', draining)).toEqual([0, 'warning', drains]);
    expect(await statusOf('queue_backlog', draining)).toEqual([0, 'warning', drains]);
    expect((await statusOf('queue_backlog', never))[0]).toBe(1);
    expect((await statusOf('interval_missed', draining))[0]).toBe(1);
  });
});

it('Ctrl-C ends it with 130, whatever it is checking', async () => {
  const interrupt = new AbortController();
  const { env } = await daemonThatSays(json(WELL));
  const doctor = () => {
    interrupt.abort(new Interruption(130));
    return new Promise<Finding[]>(() => {});
  };
  const outcome = await cli(argv, { env, launchers: { doctor }, signal: interrupt.signal });
  expect(outcome).toEqual({ code: 130, stdout: '', stderr: '' });
});

it('asks the daemon that listens where the same configuration says', async () => {
  const { url } = await daemonThatSays(json(WELL));
  const env = { CARDPOLL_LISTEN: new URL(url).host };
  const { code, stdout } = await cli(argv, { env, launchers: examined(REDIS) });
  expect([code, stdout]).toEqual([0, expect.stringContaining('daemon: answers')]);
});
