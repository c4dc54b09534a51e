// Orders of an operator that the live store loses: a lower limit, a pause that was ended, a pause that was begun. Used by
// test/fault/in-force*.test.ts.
import { expect } from 'vitest';
import { cliHere } from './cli-here.ts';
import type { LimitedFleet } from './limited-fleet.ts';
import { exceeding, type InFlight } from './limited-gateway.ts';
import { waitFor } from './processes.ts';
import type { Finding } from './run-doctor.ts';

const LIMITS: Partial<InFlight> = { carddata: 5, package: 0 };

/** What the live store goes back to. @param copy has it when this resolves. */
export async function orderFirst(
  { fleet, gateway }: LimitedFleet,
  copy: { get(key: string): Promise<string | null>; exists(key: string): Promise<number> },
  keyOf: (type: string) => string = (type) => type,
): Promise<void> {
  await fleet.cli('concurrency', 'set', 'carddata', '40', '--yes');
  await fleet.cli('pause', 'realname', '--for', '1h', '--reason', 'maintenance');
  await waitFor(() => gateway.inFlight.carddata > Number(LIMITS.carddata), {
    what: 'more calls than the later limit',
  });
  await waitFor(
    async () =>
      (await copy.get(`polling:concurrency:config:${keyOf('carddata')}`)) === '40' &&
      (await copy.exists(`polling:pauses:${keyOf('realname')}`)) === 1,
    { what: 'the copy to have the orders' },
  );
}

/** What it loses. From its end on the gateway marks what exceeds it. */
export async function orderThen({ fleet, gateway, calls }: LimitedFleet): Promise<void> {
  await fleet.cli('concurrency', 'set', 'carddata', '5', '--yes');
  await fleet.cli('resume', 'realname');
  await fleet.cli('pause', 'package', '--for', '1h', '--reason', 'migration');
  await calls(1, ['realname']);
  // A poll of a card over its package makes two calls, with a moment between them; its slot is held all the time.
  await waitFor(
    async () => {
      const { items } = await fleet.get<{ items: Array<{ task_type: string; current: number }> }>(
        '/api/admin/polling-concurrency',
      );
      const current = Object.fromEntries(items.map((item) => [item.task_type, item.current]));
      return Number(current.carddata) <= 5 && current.package === 0 && gateway.inFlight.carddata <= 5;
    },
    { everyMs: 50, what: 'the orders to show in the calls in flight' },
  );
  gateway.mark();
}

interface Entry {
  readonly action: string;
  readonly object: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What a live store that went back does not know, is in force, and is told. */
export async function expectOrdersInForce(
  { fleet, gateway, calls }: LimitedFleet,
  ceiling = 30,
): Promise<void> {
  const told = await waitFor(
    async () => {
      const { health_reasons } = await fleet.get<{ health_reasons: Array<{ code: string; text: string }> }>(
        '/api/admin/polling-stats',
      );
      return health_reasons.find(({ code }) => code === 'put_back');
    },
    { everyMs: 50, what: 'the health to tell what was put back' },
  );
  await calls(20, ['realname', 'carddata']);
  expect(exceeding(gateway.most, { ...LIMITS, all: ceiling })).toEqual([]);

  expect.soft(told.text).toContain('the limit of carddata was 40 in Redis and is 5 again');
  expect.soft(await putBack(fleet)).toEqual([
    {
      action: 'limit.put_back',
      object: 'task_type carddata',
      before: { max_concurrency: 40 },
      after: { max_concurrency: 5 },
    },
    {
      action: 'pause.put_back',
      object: 'task_type package',
      before: { paused: false },
      after: { paused: true, reason: 'migration', by: 'local' },
    },
    {
      action: 'pause.put_back',
      object: 'task_type realname',
      before: { paused: true },
      after: { paused: false },
    },
  ]);
  const env = { CARDPOLL_URL: fleet.daemons.at(-1)?.url };
  const doctor = JSON.parse((await cliHere(['doctor', '-o', 'json'], { env })).stdout) as {
    items: Finding[];
  };
  expect.soft(doctor.items.map(({ detail }) => detail).join('\n')).toContain('in Redis and is ');
}

/** The repairs in the audit trail, by action and object. */
export async function putBack(fleet: LimitedFleet['fleet']): Promise<object[]> {
  const { stdout } = await fleet.cli('audit', '--since', '1h', '-o', 'json');
  const { items } = JSON.parse(stdout) as { items: Entry[] };
  return items
    .filter(({ action }) => action.endsWith('.put_back'))
    .map(({ action, object, before, after }) => ({ action, object, before, after }))
    .sort((a, b) => `${a.action} ${a.object}`.localeCompare(`${b.action} ${b.object}`));
}
