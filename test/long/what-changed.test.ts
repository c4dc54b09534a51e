// What an operator reads who is woken by a change of another one: a real daemon and real stores, an interval that is set from an hour
// to seconds by the command line, and the backlog that follows.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

interface Overview {
  readonly health_reasons: ReadonlyArray<{
    code: string;
    task_type: string;
    text: string;
    caused_by: string | null;
  }>;
}

let gateway: ScriptedGateway;
let fleet: Fleet;
beforeAll(async () => {
  // Fifty polls a second and task type.
  gateway = await startScriptedGateway(({ interfaceName }) => ({
    body: HEALTHY[interfaceName],
    delayMs: 100,
  }));
  fleet = await Fleet.start({ gatewayUrl: gateway.url });
  await fleet.startDaemon();
  await fleet.setIntervals(200);
  await fleet.setLimits(5);
  await fleet.importCards(2_000);
});
afterAll(async () => {
  fleet.close();
  await gateway.close();
});

const reasons = async () => (await fleet.get<Overview>('/api/admin/polling-stats')).health_reasons;

it('is named in every place, and taken back by the command that it names', async () => {
  await waitFor(() => gateway.calls.flow >= 50, { what: 'polls' });
  expect((await reasons()).filter(({ text }) => text.includes('changed:'))).toEqual([]);
  await fleet.cli('configs', 'set', '3', '--interval-seconds', '10', '--yes');
  const named =
    /; changed: config 3, 3m 20s -> 10s, \d+ s before, by local, the last of \d; back: (cardpoll audit undo \d+)$/;
  // The import and the lowered limits were before it, too.
  const reason = await waitFor(
    async () =>
      (await reasons()).find(({ text, task_type }) => task_type === 'carddata' && named.test(text)) ?? null,
    { what: 'a reason that names the change' },
  );
  expect(reason.caused_by).toBeNull();
  const [, command = ''] = named.exec(reason.text) ?? [];
  for (const view of [['stats'], ['dashboard', '--once'], ['stats', 'tasks', '-o', 'json']]) {
    expect((await fleet.cli(...view)).stdout.replace(/\s+/g, ' '), view.join(' ')).toContain(command);
  }
  for (const other of await reasons()) {
    if (other.task_type !== 'carddata') expect(other.text).not.toContain('changed:');
  }
  await fleet.cli(...command.split(' ').slice(1), '--yes');
  expect(
    (await fleet.get<{ interval_seconds: number }>('/api/admin/polling-configs/3')).interval_seconds,
  ).toBe(200);
  await waitFor(async () => !(await reasons()).some(({ text }) => text.includes(command)), {
    what: 'the command to be gone',
  });
});
