// A Redis that loses all data while the gateway holds its answers back: the calls of before are in flight when limits and ceiling are in
// force again, and still count.
import { afterEach, expect, it } from 'vitest';
import type { TaskType } from '../../src/domain/task-type.ts';
import { inForceAgain, startLimitedFleet, triggersWait, turns } from '../support/limited-fleet.ts';
import { exceeding, type InFlight } from '../support/limited-gateway.ts';
import { waitFor } from '../support/processes.ts';

const CEILING = 9;

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it('a Redis that loses all data six times lets no call begin above limits and ceiling', async () => {
  const limits: Partial<InFlight> = { carddata: 2, all: CEILING };
  const limited = await startLimitedFleet({ ceiling: CEILING, limits: { carddata: 2 }, timeoutMs: 30_000 });
  closing.push(() => limited.close());
  const { fleet, gateway } = limited;
  const exceeded: string[] = [];
  for (let loss = 1; loss <= 6; loss += 1) {
    // One of the two has more than an equal share of the ceiling when the data is lost.
    const [narrow, wide]: TaskType[] = loss % 2 === 0 ? ['realname', 'package'] : ['package', 'realname'];
    await fleet.cli('concurrency', 'set', String(narrow), '2', '--yes');
    await waitFor(() => gateway.inFlight[wide as TaskType] >= 5, { what: `5 calls of ${wide} at a time` });
    await triggersWait(fleet.redis);
    gateway.mark();
    gateway.hold();
    await fleet.cli('concurrency', 'set', String(narrow), '100', '--yes');
    const before = gateway.inFlight;
    await fleet.redis.flushall();
    await inForceAgain(fleet.redis);
    await triggersWait(fleet.redis);
    await turns(fleet.redis);
    gateway.letGo();
    await limited.calls(5);
    exceeded.push(
      ...exceeding(gateway.most, limits).map((text) => `${text} after ${JSON.stringify(before)}`),
    );
  }
  expect(exceeded).toEqual([]);
});

it('two leaders for a moment let no call begin above the ceiling, and the newest order is in force', async () => {
  const limited = await startLimitedFleet({ ceiling: CEILING, timeoutMs: 30_000 });
  closing.push(() => limited.close());
  const { fleet, gateway } = limited;
  for (const limit of [2, 3, 4]) {
    await fleet.cli('concurrency', 'set', 'carddata', String(limit), '--yes');
    await limited.calls(5);
    await triggersWait(fleet.redis);
    gateway.mark();
    gateway.hold();
    const lease = await fleet.redis.hgetall('polling:lease:scheduler');
    const other = (await fleet.redis.hkeys('polling:workers')).find((id) => id !== lease.holder);
    const expiresMs = Number(lease.expires_ms);
    // The data is gone and the other one leads; the first one goes on until it asks again.
    await fleet.redis
      .multi()
      .flushall()
      .hset('polling:lease:scheduler', {
        holder: other,
        fence: Number(lease.fence) + 1,
        expires_ms: expiresMs,
      })
      .exec();
    await fleet.cli('concurrency', 'set', 'carddata', '1', '--yes');
    await fleet.cli('concurrency', 'set', 'carddata', String(limit), '--yes');
    await inForceAgain(fleet.redis);
    await triggersWait(fleet.redis);
    await turns(fleet.redis);
    expect(await fleet.redis.get('polling:concurrency:config:carddata')).toBe(String(limit));
    gateway.letGo();
    await limited.calls(5);
    expect(exceeding(gateway.most, { carddata: limit, all: CEILING })).toEqual([]);
  }
});
