// The engine as one service: started and stopped in every order, and ended in the time it was given by a store that does
// not answer any more. What its parts do when they are started and stopped: service-lifecycle.test.ts.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { GatewayClient } from '../../../src/gateway/call/client.ts';
import type { UpstreamGateway } from '../../../src/gateway/gateway.ts';
import { type Clock, systemClock } from '../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../src/platform/proxy/http-proxy.ts';
import { Teardown } from '../../../src/platform/service.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { bareEngine } from '../../support/bare-engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { Gate } from '../../support/gated-port.ts';
import { gatewayConfig } from '../../support/gateway-config.ts';
import { openLimitedLiveStore } from '../../support/limits.ts';
import { waitFor } from '../../support/wait-for.ts';

const DRAIN_TIMEOUT_MS = 500;
const FAREWELL_MS = 3_000;

const teardown = new Teardown();
const log = pino({ level: 'silent' });
let records: RecordStore;
let upstream: UpstreamGateway;

beforeAll(async () => {
  records = await openPostgresRecordStore({ url: await freshDatabase(), applicationName: 'cardpoll' });
  teardown.add(() => records.close());
  await records.migrations.up();
  const client = new GatewayClient(gatewayConfig({ url: 'http://127.0.0.1:9' }), {
    log,
    clock: systemClock,
    calendar: new MonthCalendar('Asia/Shanghai'),
    proxies: NO_PROXIES,
  });
  teardown.add(() => client.close());
  upstream = client;
});
afterAll(() => teardown.run());

function makeEngine(live: LiveStore, clock: Clock): Engine {
  return bareEngine({ live, records, upstream, log, clock, drainTimeoutMs: DRAIN_TIMEOUT_MS });
}

it('stops within the drain timeout and three seconds while Redis hangs', async () => {
  const redis = await freshRedis();
  const live = await openRedisLiveStore({ url: redis.url });
  teardown.add(() => redis.resume());
  teardown.add(() => live.close());
  const engine = makeEngine(live, systemClock);
  await engine.start();
  redis.pause();
  // Without a bound it would wait for the frozen server, and this test with it.
  await engine.stop();
});

describe('on a clock of its own', () => {
  let clock: FakeClock;
  let gate: Gate;
  let engine: Engine;
  let live: LiveStore;

  beforeEach(() => {
    clock = new FakeClock();
    gate = new Gate();
    live = openLimitedLiveStore({ clock });
    engine = makeEngine(gate.around(live), clock);
  });

  const runs = () => waitFor(async () => (await live.coordination.instances()).length === 1 && engine.leads);

  /** Nothing of it is left, and it signed off. */
  async function isOver(): Promise<void> {
    expect(clock.sleepers, 'rests after the stop').toBe(0);
    expect(engine.leads).toBe(false);
    expect(await live.coordination.instances()).toEqual([]);
    const { calls } = gate;
    clock.advance(3_600_000);
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(gate.calls, 'calls after the stop').toBe(calls);
  }

  it('runs once when it is started twice, and two stops at once end it', async () => {
    await engine.start();
    await engine.start();
    await runs();
    await Promise.all([engine.stop(), engine.stop()]);
    await isOver();
    await engine.stop();
    await isOver();
  });

  it('takes a stop before its start, and starts all the same', async () => {
    await engine.stop();
    await isOver();
    expect(engine.problems()).toEqual(['draining']);
    await engine.start();
    await runs();
    expect(engine.problems()).toEqual([]);
    await engine.stop();
    await isOver();
  });

  it('ends with the drain timeout and the farewell while its store answers nothing, and not before', async () => {
    await engine.start();
    await runs();
    gate.close();
    await waitFor(
      () => {
        clock.advance(100);
        return gate.waiting >= 3;
      },
      { what: 'the workers to wait for the store' },
    );
    let ended = false;
    const stopping = engine.stop().finally(() => {
      ended = true;
    });
    await clock.run(DRAIN_TIMEOUT_MS + FAREWELL_MS - 1);
    expect(ended).toBe(false);
    await clock.run(1);
    await stopping;
    gate.open();
  });
});
