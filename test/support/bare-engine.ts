// An engine with default settings over the stores and the gateway of a test, which nothing judges, audits or restarts.

import type { Logger } from 'pino';
import { Instruments } from '../../src/api/metrics/instruments.ts';
import { ALERTS, WEBHOOKS } from '../../src/config/settings/alert-settings.ts';
import { POLLING, USAGE } from '../../src/config/settings/polling-settings.ts';
import { STOPS } from '../../src/config/settings/stop-settings.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { EngineSettings } from '../../src/engine/engine-settings.ts';
import { FlowControlledGateway } from '../../src/gateway/flow/flow-control.ts';
import type { UpstreamGateway } from '../../src/gateway/gateway.ts';
import { Presence } from '../../src/health/presence.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { NO_PROXIES } from '../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../src/platform/ssrf-guard.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import type { RecordStore } from '../../src/store/ports/records/record-store.ts';
import { UNJUDGED } from './fleet-health.ts';
import { defaultsOf } from './gateway-config.ts';
import { MESSAGE_MEANS } from './message-deps.ts';
import { PLAIN_GATEWAY } from './one-card-calls.ts';
import { UNMEASURED } from './unmeasured.ts';

interface BareEngineParts extends Partial<Pick<EngineSettings, 'instanceId' | 'roles'>> {
  readonly live: LiveStore;
  readonly records: RecordStore;
  readonly upstream: UpstreamGateway;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly drainTimeoutMs?: number;
}

export function bareEngine({
  live,
  records,
  upstream,
  log,
  clock = systemClock,
  ...over
}: BareEngineParts): Engine {
  const means = { ...PLAIN_GATEWAY, clock, meter: new Instruments(), random: Math.random };
  const { instanceId = 'w1', roles = ['worker', 'scheduler'], drainTimeoutMs } = over;
  const polling = defaultsOf(POLLING);
  return new Engine(
    {
      ...{ instanceId, hostname: 'h', pid: 1, version: '0', roles },
      timeZone: 'Asia/Shanghai',
      gateway: { maxConcurrency: null },
      polling: { ...polling, drainTimeoutMs: drainTimeoutMs ?? polling.drainTimeoutMs },
      stops: defaultsOf(STOPS),
      alerts: defaultsOf(ALERTS),
      webhooks: { ...defaultsOf(WEBHOOKS), receivers: {} },
      usage: defaultsOf(USAGE),
      cleanup: { schedule: 'off', pauseMs: 0 },
    },
    {
      ...{ live, records, fleet: MESSAGE_MEANS.fleet, log, ...means },
      gateway: new FlowControlledGateway({ ...means, gateway: upstream, onChange: () => {} }),
      probeAddress: () => null,
      reloadFailure: () => null,
      logTrouble: () => null,
      load: () => UNMEASURED,
      health: UNJUDGED,
      presence: new Presence(clock),
      audit: { change: () => Promise.reject(new Error('nothing is scheduled')), log: () => {} },
      digest: { note: () => {} },
      guard: new SsrfGuard([], NO_PROXIES),
    },
  );
}
