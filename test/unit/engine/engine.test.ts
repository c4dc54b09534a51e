// An engine whose live store does not answer any more still ends in the time it was given.
import { pino } from 'pino';
import { afterAll, it } from 'vitest';
import { Instruments } from '../../../src/api/instruments.ts';
import { ALERTS, WEBHOOKS } from '../../../src/config/alert-settings.ts';
import { POLLING } from '../../../src/config/polling-settings.ts';
import { Engine } from '../../../src/engine/engine.ts';
import { openGatewayClient } from '../../../src/gateway/client.ts';
import { GatewayFlow } from '../../../src/gateway/flow-control.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { Teardown } from '../../../src/platform/service.ts';
import { SsrfGuard } from '../../../src/platform/ssrf-guard.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { defaultsOf, gatewayConfig } from '../../support/gateway-config.ts';

const teardown = new Teardown();
afterAll(() => teardown.run());

it('stops within the drain timeout and three seconds while Redis hangs', async () => {
  const log = pino({ level: 'silent' });
  const redis = await freshRedis();
  const records = await openPostgresRecordStore({ url: await freshDatabase(), applicationName: 'cardpoll' });
  teardown.add(() => records.close());
  await records.migrations.up();
  const live = await openRedisLiveStore({ url: redis.url });
  teardown.add(() => redis.resume());
  teardown.add(() => live.close());
  const gateway = openGatewayClient(gatewayConfig({ url: 'http://127.0.0.1:9' }), {
    log,
    clock: systemClock,
  });
  teardown.add(() => gateway.close());
  const flow = new GatewayFlow({ clock: systemClock, random: Math.random, onChange: () => {} });
  const engine = new Engine(
    {
      workerId: 'w1',
      hostname: 'h',
      pid: 1,
      version: '0',
      roles: ['worker', 'scheduler'],
      timeZone: 'Asia/Shanghai',
      gateway: { maxConcurrency: null },
      polling: { ...defaultsOf(POLLING), drainTimeoutMs: 500 },
      alerts: defaultsOf(ALERTS),
      webhooks: defaultsOf(WEBHOOKS),
      cleanup: { schedule: 'off', pauseMs: 0 },
    },
    {
      ...{ live, records, gateway, flow, log },
      meter: new Instruments(),
      probeAddress: () => null,
      audit: { change: () => Promise.reject(new Error('nothing is scheduled')), tell: () => {} },
      digest: { note: () => {} },
      guard: new SsrfGuard([]),
      clock: systemClock,
      random: Math.random,
    },
  );
  await engine.start();
  redis.pause();
  // Without a bound it would wait for the frozen server, and this test with it.
  await engine.stop();
});
