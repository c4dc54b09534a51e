// GET /metrics of a real daemon, as promtool reads it: without a card, and while every task type polls, some of it in vain.
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { Fleet } from '../support/fleet.ts';
import { breachesOf } from '../support/metric-conventions.ts';
import { waitFor } from '../support/processes.ts';
import { programPath } from '../support/provision.ts';

const PROMTOOL = programPath('promtool', { debianPackage: 'prometheus' });

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start({ simulator: ['--failure-rate', '0.5'] });
  await fleet.startDaemon();
});
afterAll(() => fleet.close());

const scrape = async () => (await fetch(`${fleet.daemons[0]?.url}/metrics`)).text();

function expectNoComplaint(page: string): void {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, ['check', 'metrics'], {
    input: page,
    encoding: 'utf8',
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  expect(breachesOf(page)).toEqual([]);
}

it('promtool finds nothing in the metrics of an empty fleet', async () => {
  const page = await scrape();
  expect(page).toContain('\ncardpoll_cards 0\n');
  expectNoComplaint(page);
});

it('promtool finds nothing in the metrics of a fleet that polls', async () => {
  await fleet.setIntervals(1);
  await fleet.importCards(50);
  await fleet.cli('cleanup', 'run', '--wait', '--yes');
  const series = TASK_TYPES.flatMap((type) => [
    `cardpoll_fleet_poll_duration_seconds{quantile="0.95",task_type="${type}"}`,
    `cardpoll_recent_failures{task_type="${type}",reason=`,
  ]);
  const page = await waitFor(
    async () => {
      const text = await scrape();
      expect(series.filter((start) => !text.includes(`\n${start}`))).toEqual([]);
      expect(namesWithoutSeries(text)).toEqual([]);
      return text;
    },
    { what: 'every metric to have a value' },
  );
  expectNoComplaint(page);
});

/** Without requests of libuv, of which there may be none. */
function namesWithoutSeries(page: string): string[] {
  const names = [...page.matchAll(/^# TYPE (\S+) \S+\n+(?=#|$)/gm)].map(([, name = '']) => name);
  return names.filter((name) => name !== 'cardpoll_nodejs_active_requests');
}
