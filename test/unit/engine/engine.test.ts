// An engine whose live store does not answer any more still ends in the time it was given.
import { pino } from 'pino';
import { afterAll, it } from 'vitest';
import { Instruments } from '../../../src/api/instruments.ts';
import { Engine } from '../../../src/engine/engine.ts';
import { openGatewayClient } from '../../../src/gateway/client.ts';
import { GatewayFlow } from '../../../src/gateway/flow-control.ts';
import { gatewayProfile } from '../../../src/gateway/profile.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { Teardown } from '../../../src/platform/service.ts';
import { SsrfGuard } from '../../../src/platform/ssrf-guard.ts';
import { openPostgresRecordStore } from '../../../src/store/postgres/record-store.ts';
import { openRedisLiveStore } from '../../../src/store/redis/live-store.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';

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
  const gateway = openGatewayClient(gatewayProfile({ url: 'http://127.0.0.1:9' }), {
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
      leaseMs: 15_000,
      claimBatch: 200,
      queueCap: 200_000,
      adaptiveConcurrency: true,
      gatewayMaxConcurrency: null,
      writeBuffer: 20_000,
      retryBaseMs: 1_000,
      cardCacheTtlMs: 300_000,
      initBatchCards: 100_000,
      initPauseMs: 1_000,
      drainTimeoutMs: 500,
      cleanupSchedule: 'off',
      cleanupPauseMs: 0,
      alertIntervalMs: 5_000,
      webhookSecrets: [],
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
