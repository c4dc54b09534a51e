import { expect, it } from 'vitest';
import { packInstance, unpackInstance } from '../../../../../src/store/redis/instances/coordination.ts';

const FIRST = {
  worker_id: 'a',
  hostname: 'host-a',
  pid: 42,
  version: '0.1.0',
  roles: ['worker'],
  started_at_ms: 1,
  heartbeat_at_ms: 2,
  in_flight: 3,
  cache_hits: 4,
  cache_misses: 5,
};

it('keeps the names that other versions read', () => {
  const packed = {
    ...FIRST,
    probe_address: '127.0.0.1:7481',
    breakers: [{ interface: 'flow', state: 'open', since_ms: 6, reason: 'x', next_probe_at_ms: 7 }],
    database_outage: { since_ms: 8, reason: 'y' },
    reload_failure: { since_ms: 9, reason: 'z' },
    log_trouble: 'worker.log: no space',
    time_zone: 'Asia/Shanghai',
    stop_mode: 'observe',
    clock_ahead_ms: 600_000,
    outside_heartbeat: { sent_at_ms: 10, trouble: 'answered 500' },
  };
  expect(JSON.parse(packInstance(unpackInstance(JSON.stringify(packed))))).toEqual(packed);
});

it('reads an instance of an older version, which says less', () => {
  expect(unpackInstance(JSON.stringify(FIRST))).toEqual({
    instanceId: 'a',
    hostname: 'host-a',
    pid: 42,
    version: '0.1.0',
    roles: ['worker'],
    startedAtMs: 1,
    heartbeatAtMs: 2,
    inFlight: 3,
    cacheHits: 4,
    cacheMisses: 5,
    probeAddress: null,
    breakers: [],
    databaseOutage: null,
    reloadFailure: null,
    logTrouble: null,
    outsideHeartbeat: null,
    timeZone: null,
    stopMode: null,
    clockAheadMs: null,
  });
});
