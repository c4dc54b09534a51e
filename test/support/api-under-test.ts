// The admin API server on a free port over real stores, and a plain HTTP client for it. Used by the API tests.
import { Agent, type Dispatcher } from 'undici';
import type { TlsPair } from '../../src/api/http-server.ts';
import { Instruments } from '../../src/api/metrics/instruments.ts';
import { type ApiServer, openApiServer, type ServerBounds } from '../../src/api/server.ts';
import { ADMIN_TOKENS } from '../../src/config/admin-tokens.ts';
import type { AdminToken } from '../../src/domain/admin-token.ts';
import type { Offers } from '../../src/domain/gateway-interface.ts';
import type { StopSettings } from '../../src/domain/stops/stop.ts';
import { WebhookTester } from '../../src/engine/alerts/webhook-attempt.ts';
import type { OperationLimits } from '../../src/operations/deps.ts';
import { type Operations, openOperations } from '../../src/operations/operations.ts';
import type { AddressRange } from '../../src/platform/addresses.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { NO_PROXIES } from '../../src/platform/proxy/http-proxy.ts';
import { SsrfGuard } from '../../src/platform/ssrf-guard.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import type { AuditRecord } from '../../src/store/ports/records/audit-records.ts';
import type { RecordStore } from '../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../src/store/postgres/record-store.ts';
import { openRedisLiveStore } from '../../src/store/redis/live-store.ts';
import { fleetHealth } from './fleet-health.ts';
import { setLimits } from './limits.ts';
import { TESTER_MEANS } from './message-deps.ts';
import { lastTraceOf } from './operated-stores.ts';
import { DEFAULT_STOPS } from './stop-rules.ts';

export const USUAL_BOUNDS: ServerBounds = {
  maxConnections: 5_000,
  headerTimeoutMs: 10_000,
  bodyTimeoutMs: 30_000,
  refusalsPerMinute: 0,
  idleTimeoutMs: 72_000,
  trustedProxies: [],
};

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  /** Parsed JSON, or the text of anything else. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of any route
  readonly body: any;
}

export interface Call {
  readonly json?: unknown;
  readonly body?: Dispatcher.DispatchOptions['body'];
  readonly headers?: Record<string, string>;
}

export interface LogLine {
  readonly [field: string]: unknown;
}

export interface ApiUnderTest {
  readonly server: ApiServer;
  readonly live: LiveStore;
  readonly records: RecordStore;
  readonly operations: Operations;
  readonly accessLog: LogLine[];
  readonly apiLog: LogLine[];
  readonly auditLog: LogLine[];
  /** What /readyz finds. */
  problems: string[];
  call(method: string, path: string, call?: Call): Promise<Reply>;
  /** The newest entry of the audit trail. */
  lastTrace(): Promise<AuditRecord>;
  close(): Promise<void>;
}

export interface GivenToken {
  readonly name?: string;
  readonly role: AdminToken['role'];
  /** The token, its hash, with or without a last day: what may stand in an entry. */
  readonly token: string;
}

/** As the daemon reads them from its configuration. */
export function tokensOf(given: readonly GivenToken[]): readonly AdminToken[] {
  if (given.length === 0) return [];
  const entries = given.map(({ name, role, token }) => [...(name ? [name] : []), role, token].join(':'));
  return ADMIN_TOKENS.parse(entries.join(','));
}

export async function startApi(stores: {
  readonly redisUrl: string;
  readonly databaseUrl: string;
  readonly tokens?: readonly GivenToken[];
  /** Where webhooks may go although it is not public. */
  readonly allowCidrs?: readonly AddressRange[];
  /** Default: no limit. */
  readonly rateLimitPerMinute?: number;
  readonly tls?: TlsPair;
  readonly bounds?: Partial<ServerBounds>;
  readonly limits?: OperationLimits;
  readonly stops?: Partial<StopSettings>;
  readonly offers?: Offers;
  /** Default: ten minutes, for what is not about stores that do not answer. */
  readonly answerWithinMs?: number;
}): Promise<ApiUnderTest> {
  const live = await openRedisLiveStore({ url: stores.redisUrl });
  await setLimits(live.work);
  const records = await openPostgresRecordStore({
    url: stores.databaseUrl,
    applicationName: 'cardpoll-test',
  });
  await records.migrations.up();
  const guard = new SsrfGuard(stores.allowCidrs ?? [], NO_PROXIES);
  const auditLog: LogLine[] = [];
  const stops = { ...DEFAULT_STOPS, ...stores.stops };
  const operations = openOperations({
    live,
    records,
    health: fleetHealth({ live, records }, systemClock, stops),
    clock: systemClock,
    timeZone: 'Asia/Shanghai',
    version: '1.2.3',
    stops,
    offers: stores.offers ?? (() => true),
    guard,
    tester: new WebhookTester({ ...TESTER_MEANS, guard, secrets: [], timeZone: 'UTC', clock: systemClock }),
    auditLog: collector(auditLog),
    ...(stores.limits === undefined ? {} : { limits: stores.limits }),
  });
  const accessLog: LogLine[] = [];
  const apiLog: LogLine[] = [];
  const agent = new Agent();
  const server = await openApiServer({
    config: {
      host: '127.0.0.1',
      port: 0,
      adminTokens: tokensOf(stores.tokens ?? []),
      rateLimitPerMinute: stores.rateLimitPerMinute ?? 0,
      tls: stores.tls ?? null,
      bounds: { ...USUAL_BOUNDS, ...stores.bounds },
    },
    operations,
    logs: { api: collector(apiLog), access: collector(accessLog) },
    readiness: async () => ({ problems: api.problems, restraints: [] }),
    instance: () => ({
      leads: true,
      droppedLogLines: 3,
      cardLookups: { hits: 30, misses: 10 },
    }),
    instruments: new Instruments(),
    version: '1.2.3',
    answerWithinMs: stores.answerWithinMs ?? 600_000,
  });
  const api: ApiUnderTest = {
    server,
    live,
    records,
    operations,
    accessLog,
    apiLog,
    auditLog,
    problems: [],
    lastTrace: () => lastTraceOf(records),
    call: (method, path, call) => send(agent, `http://${server.address}`, method, path, call),
    async close() {
      await agent.close();
      await server.close();
      await live.close();
      await records.close();
    },
  };
  return api;
}

async function send(
  agent: Agent,
  origin: string,
  method: string,
  path: string,
  call: Call = {},
): Promise<Reply> {
  const answer = await agent.request({
    origin,
    path,
    method: method as Dispatcher.HttpMethod,
    headers: { ...(call.json === undefined ? {} : { 'content-type': 'application/json' }), ...call.headers },
    body: call.json === undefined ? (call.body ?? null) : JSON.stringify(call.json),
  });
  const text = await answer.body.text();
  const isJson = /json/.test(String(answer.headers['content-type']));
  const body = text === '' ? null : isJson ? JSON.parse(text) : text;
  return { status: answer.statusCode, headers: answer.headers, body };
}

/** As much of a logger as the server asks for. */
function collector(lines: LogLine[]) {
  const log = (fields: object) => {
    lines.push(fields as LogLine);
  };
  return { info: log, error: log };
}
