// A daemon under load that reads a broken configuration, and is then stopped: it continues with what it had, every call it
// made is accounted for, and nothing stays claimed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { type Daemon, Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';

let fleet: Fleet;
let daemon: Daemon;
let configFile: string;

beforeAll(async () => {
  fleet = await Fleet.start({ simulator: ['--latency-ms', '200'] });
  configFile = join(fleet.dir, 'cardpoll.yaml');
  writeFileSync(configFile, 'log_level: info\n');
  daemon = await fleet.startDaemon({ CARDPOLL_CONFIG: configFile });
  await fleet.setLimits(50);
  await fleet.setIntervals(2);
  await fleet.importCards(500);
  await waitFor(async () => (await fleet.truth()).in_flight > 20, { what: 'load' });
});
afterAll(() => fleet.close());

it('goes on as before when the new configuration is broken, and says what is wrong', async () => {
  writeFileSync(configFile, 'polling: [\n');
  daemon.process.signal('SIGHUP');
  await waitFor(async () => (await fleet.logged(/^configuration not reloaded/)).length > 0);
  const { requests } = await fleet.truth();
  await waitFor(async () => (await fleet.truth()).requests > requests + 100, { what: 'polling to go on' });
});

it('SIGTERM loses nothing and ends with 0 within the time to drain', async () => {
  await waitFor(async () => (await fleet.truth()).in_flight > 20, { what: 'calls in flight' });
  expect(await daemon.process.stop()).toMatchObject({ code: 0, signal: null, stderr: '' });
  const stats = await Promise.all(TASK_TYPES.map((type) => fleet.redis.hgetall(`polling:stats:${type}`)));
  const { requests, in_flight } = await fleet.truth();
  expect(in_flight).toBe(0);
  expect(stats.reduce((sum, { total }) => sum + Number(total ?? 0), 0)).toBe(requests);
  for (const type of TASK_TYPES) {
    expect(await fleet.redis.get(`polling:concurrency:current:${type}`), type).toBe('0');
  }
  expect(await fleet.logged(/^(drain took too long|late results dropped)/)).toEqual([]);
});
