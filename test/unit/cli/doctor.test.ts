// `cardpoll doctor`: what it prints and how it ends, with prepared findings and a prepared daemon.
import { expect, it } from 'vitest';
import type { DoctorFinding } from '../../../src/cli/launchers.ts';
import { OVERVIEW } from './bodies.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const REDIS: DoctorFinding = { check: 'redis', status: 'ok', detail: 'answers', hint: null };
const SKEW: DoctorFinding = {
  check: 'redis clock',
  status: 'warning',
  detail: '+2000 ms against this machine',
  hint: 'synchronise',
};
const GATEWAY_DOWN: DoctorFinding = {
  check: 'gateway',
  status: 'failed',
  detail: 'nothing answers',
  hint: null,
};
const argv = ['doctor', '--gateway-url', 'http://gateway:8080'];

const examined = (...findings: DoctorFinding[]) => ({ doctor: async () => findings });

const WELL = { ...OVERVIEW, health: 'normal', health_reasons: [] };

it('ends with 0 when nothing failed; warnings are no failure', async () => {
  const { env } = await daemonThatSays(json(WELL));
  const { code, stdout } = await cli(argv, { env, launchers: examined(REDIS, SKEW) });
  expect(stdout).toBe(
    'configuration\tok\tcan work\nredis\tok\tanswers\n' +
      'redis clock\twarning\t+2000 ms against this machine (hint: synchronise)\n' +
      `daemon\tok\tcardpoll ${OVERVIEW.version} answers; ${OVERVIEW.workers.length} live, health normal\n`,
  );
  expect(code).toBe(0);
});

it('ends with 1 when the fleet is not well, and says why and what to type', async () => {
  const { env } = await daemonThatSays(json(OVERVIEW));
  const { code, stdout } = await cli(argv, { env, launchers: examined(REDIS) });
  expect(code).toBe(1);
  expect(stdout).toContain(
    'paused\tfailed\tpackage: paused for 60 s more by gateway: HTTP 429 (hint: cardpoll resume package)\n',
  );
});

it('ends with 1 when a check failed, and says all of it as JSON', async () => {
  const { env } = await daemonThatSays(json(WELL));
  const { code, stdout } = await cli([...argv, '-o', 'json'], {
    env,
    launchers: examined(REDIS, GATEWAY_DOWN),
  });
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    status: 'failed',
    items: [{ check: 'configuration', status: 'ok' }, REDIS, GATEWAY_DOWN, { check: 'daemon', status: 'ok' }],
  });
});

it('tells what is wrong with the configuration and with the daemon, and looks at nothing else', async () => {
  const env = { CARDPOLL_URL: 'http://127.0.0.1:1' };
  const { code, stdout } = await cli(['doctor', '--redis-url', 'redis://r', '-o', 'json'], { env });
  expect(code).toBe(1);
  expect(JSON.parse(stdout).items).toMatchObject([
    {
      check: 'configuration',
      status: 'failed',
      detail: expect.stringMatching(/database_url.*gateway URL/s),
    },
    { status: 'skipped' },
    { check: 'daemon', status: 'failed', detail: expect.stringContaining('cannot reach') },
  ]);
});
