import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hashOf } from '../../../src/config/admin-tokens.ts';
import { writeContexts } from '../../../src/config/contexts.ts';
import {
  loadClientConfig,
  loadDaemonConfig,
  loadLogsConfig,
  loadMigrateConfig,
} from '../../../src/config/load-config.ts';
import { ALL_SETTINGS } from '../../../src/config/settings/settings.ts';
import { CardpollError } from '../../../src/platform/errors.ts';
import { NO_PROXIES } from '../../../src/platform/proxy/http-proxy.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory('config');

function file(name: string, content: string, mode = 0o600): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

const GATEWAY = { '--gateway-url': 'http://gateway:8080' };
const REDIS = 'redis://:redis-secret@redis:6379';
const DATABASE = 'postgres://cardpoll:pg-secret@db/cardpoll';

const CARD = { iccid: '{iccid}' };
const interfaceOf = (path: string, reading: object | null = null) => ({
  method: 'POST',
  path,
  query: {},
  headers: {},
  body: CARD,
  bodyText: null,
  form: null,
  timeoutMs: null,
  reading,
  batch: null,
  find: null,
  iccidValue: null,
  pending: null,
});
const SAID_NO_MORE = { unit: null, unitValue: null, unitWords: {}, missing: null };
const INTERFACES = {
  realname: interfaceOf('/card/realname', {
    kind: 'verified',
    value: 'data.realStatus',
    trueValues: [true],
    missing: null,
  }),
  flow: interfaceOf('/card/flow', { kind: 'megabytes', value: 'data.used', ...SAID_NO_MORE, unit: 'MB' }),
  card_status: interfaceOf('/card/status', { kind: 'status', value: 'data.cardStatus', missing: null }),
  stop: interfaceOf('/card/stop'),
  start: interfaceOf('/card/start'),
};

type Sources = { flags?: Record<string, string>; env?: Record<string, string>; yaml?: string };

function inputs({ flags = {}, env = {}, yaml }: Sources) {
  const config = yaml === undefined ? {} : { '--config': file('config.yaml', yaml) };
  return { flags: { ...config, ...flags }, env: { HOME: '/home/sre', ...env } };
}
const daemon = (sources: Sources) =>
  loadDaemonConfig(inputs({ ...sources, flags: { ...GATEWAY, ...sources.flags } }));

async function refusal(attempt: Promise<unknown>): Promise<CardpollError> {
  const error = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof CardpollError)) throw new Error(`expected a CardpollError, got ${String(error)}`);
  expect(error.kind).toBe('config');
  return error;
}

describe('precedence', () => {
  it('takes flag before environment before file before default', async () => {
    const yaml = 'log_level: warn\n';
    const env = { CARDPOLL_LOG_LEVEL: 'error' };
    expect((await daemon({})).logLevel).toBe('info');
    expect((await daemon({ yaml })).logLevel).toBe('warn');
    expect((await daemon({ yaml, env })).logLevel).toBe('error');
    expect((await daemon({ yaml, env, flags: { '--log-level': 'debug' } })).logLevel).toBe('debug');
  });

  it('finds the file through CARDPOLL_CONFIG', async () => {
    const CARDPOLL_CONFIG = file('by-variable.yaml', 'time_zone: UTC');
    expect((await daemon({ env: { CARDPOLL_CONFIG } })).timeZone).toBe('UTC');
  });

  it('treats an empty variable and an empty key as not set', async () => {
    const config = await daemon({ env: { CARDPOLL_REDIS_URL: '' }, yaml: 'log_dir:\npolling:\n' });
    expect(config.stores.kind).toBe('embedded');
    expect(config.logDir).toBeNull();
  });
});

describe('daemon configuration', () => {
  it('has the documented defaults', async () => {
    expect(await daemon({})).toEqual({
      listen: { host: '127.0.0.1', port: 7480 },
      probeListen: null,
      roles: ['worker', 'api', 'scheduler'],
      instanceName: null,
      stores: { kind: 'embedded', dataDir: '/home/sre/.local/state/cardpoll' },
      timeZone: 'Asia/Shanghai',
      logDir: null,
      logLevel: 'info',
      adminTokens: [],
      rateLimitPerMinute: 12_000,
      tls: null,
      proxies: NO_PROXIES,
      api: {
        trustedProxies: [],
        maxConnections: 5_000,
        headerTimeoutMs: 10_000,
        idleTimeoutMs: 72_000,
        drainDelayMs: 0,
        maxOpenTriggers: 10_000,
        maxAlertRules: 1_000,
      },
      gateway: {
        profile: 'default',
        url: 'http://gateway:8080',
        timeoutMs: 5_000,
        maxConcurrency: null,
        module: null,
        maxResponseBytes: 65_536,
        maxRetryAfterSeconds: 60,
        maxConnections: 4_096,
        stoppedStatuses: ['stopped', 'suspended', '停机'],
        token: null,
        hmacKey: null,
        username: null,
        password: null,
        clientId: null,
        clientSecret: null,
        tls: { ca: null, pair: null },
        auth: {
          kind: null,
          name: null,
          scheme: null,
          tokenUrl: null,
          scope: null,
          clientAuth: 'basic',
          request: null,
          token: null,
          expiresIn: null,
          goodFor: null,
          send: null,
          tokenRequest: 'form',
        },
        success: { path: 'code', values: [200] },
        errors: { path: 'code', message: 'msg', throttled: [], unknownCard: [], auth: [] },
        interfaces: INTERFACES,
        rateLimits: [],
      },
      polling: {
        leaseMs: 15_000,
        claimBatch: 200,
        queueCap: 200_000,
        adaptiveConcurrency: true,
        writeBuffer: 20_000,
        retryBaseMs: 1_000,
        cardCacheTtlSeconds: 300,
        initBatch: 100_000,
        initPauseMs: 1_000,
        drainTimeoutMs: 30_000,
      },
      usage: { maxMbitPerSecond: 150, jumpFactor: 20 },
      alerts: {
        ...{ intervalMs: 5_000, runbookUrl: 'docs/runbook.md' },
        ...{ heartbeatUrl: null, heartbeatIntervalMs: 60_000 },
      },
      webhooks: {
        allowCidrs: [],
        secrets: [],
        receivers: expect.objectContaining({ pagerduty: expect.anything() }),
      },
      stops: {
        mode: 'enforce',
        maxPerHour: null,
        maxPerDay: null,
        resumeAtMonthStart: false,
        resumeWithin: false,
      },
      cleanup: { schedule: '30 3 * * *', pauseMs: 50 },
    });
  });

  it('reads every section of the file', async () => {
    const config = await daemon({
      flags: { '--listen': '[::1]:0' },
      env: { XDG_STATE_HOME: '/state', CARDPOLL_GATEWAY_TOKEN: 'token-for-gateway' },
      yaml: `
roles: [worker, api]
gateway:
  timeout_ms: 2s
  max_response_bytes: 4096
  stopped_statuses: [stopped, 停机]
  interfaces:
    flow: { method: GET, path: /v2/usage, query: { iccid: "{iccid}" }, value: data.mb }
    stop: { path: /v2/stop, body: { iccid: "{iccid}" } }
polling: { lease_ms: 5000, card_cache_ttl_seconds: 10m }
`,
    });
    expect(config.listen).toEqual({ host: '::1', port: 0 });
    expect(config.roles).toEqual(['worker', 'api']);
    expect(config.stores).toEqual({ kind: 'embedded', dataDir: '/state/cardpoll' });
    expect(config.gateway).toMatchObject({
      url: 'http://gateway:8080',
      timeoutMs: 2_000,
      maxResponseBytes: 4_096,
      stoppedStatuses: ['stopped', '停机'],
      token: 'token-for-gateway',
      interfaces: {
        ...INTERFACES,
        flow: {
          ...INTERFACES.flow,
          method: 'GET',
          path: '/v2/usage',
          query: CARD,
          body: null,
          reading: { kind: 'megabytes', value: 'data.mb', ...SAID_NO_MORE },
        },
        stop: interfaceOf('/v2/stop'),
      },
    });
    expect(config.polling).toMatchObject({ leaseMs: 5_000, cardCacheTtlSeconds: 600 });
  });

  it('is frozen all the way down', async () => {
    const config = await daemon({});
    expect(Object.isFrozen(config) && Object.isFrozen(config.polling) && Object.isFrozen(config.roles)).toBe(
      true,
    );
  });

  it('keeps an in-memory data directory as it is', async () => {
    const config = await daemon({ flags: { '--data-dir': ':memory:' } });
    expect(config.stores).toEqual({ kind: 'embedded', dataDir: ':memory:' });
  });
});

describe('rules', () => {
  it('names the other store when only one is set', async () => {
    const noDatabase = await refusal(daemon({ env: { CARDPOLL_REDIS_URL: REDIS } }));
    expect(noDatabase.message).toMatch(/redis_url is set but database_url is not.*CARDPOLL_DATABASE_URL/);
    const noRedis = await refusal(daemon({ flags: { '--database-url': DATABASE } }));
    expect(noRedis.message).toMatch(/database_url is set but redis_url is not.*--redis-url/);
  });

  it('says what to use instead of a setting that is gone', async () => {
    for (const old of [{ yaml: 'processes: 4\n' }, { env: { CARDPOLL_PROCESSES: 'auto' } }]) {
      const { kind, message } = await refusal(daemon(old));
      expect(kind).toBe('config');
      expect(message).toMatch(/(:1: processes|CARDPOLL_PROCESSES) is gone: .*cardpoll@1/);
    }
  });

  it.each(['refusal_limit_per_minute', 'body_timeout_ms', 'max_open_condition_triggers'])(
    'says to delete api.%s, in the file and in the environment',
    async (name) => {
      const inFile = await refusal(daemon({ yaml: `api:\n  ${name}: 5\n` }));
      expect(inFile.message).toMatch(new RegExp(`:2: api\\.${name} is gone: delete it: .*\\d`));
      const variable = `CARDPOLL_API_${name.toUpperCase()}`;
      const inEnvironment = await refusal(daemon({ env: { [variable]: '5' } }));
      expect(inEnvironment.message).toMatch(new RegExp(`${variable} is gone: delete it: .*\\d`));
    },
  );

  it('names an instance with a few plain characters', async () => {
    expect(await daemon({})).toMatchObject({ instanceName: null });
    expect(await daemon({ flags: { '--instance-name': 'cardpoll@3' } })).toMatchObject({
      instanceName: 'cardpoll@3',
    });
    for (const wrong of ['a b', '../x', 'x'.repeat(65), 'é'])
      expect((await refusal(daemon({ flags: { '--instance-name': wrong } }))).message).toContain(
        'is not a name',
      );
  });

  it('bounds connections', async () => {
    const stores = { CARDPOLL_REDIS_URL: REDIS, CARDPOLL_DATABASE_URL: DATABASE };
    expect(await daemon({ env: stores })).toMatchObject({
      stores: { databaseMaxConnections: 8 },
      gateway: { maxConnections: 4_096 },
    });
    const most = { CARDPOLL_DATABASE_MAX_CONNECTIONS: '1000', CARDPOLL_GATEWAY_MAX_CONNECTIONS: '1' };
    expect(await daemon({ env: { ...stores, ...most } })).toMatchObject({
      stores: { databaseMaxConnections: 1_000 },
      gateway: { maxConnections: 1 },
    });
    const yaml = 'database_max_connections: 1\ngateway:\n  max_connections: 65536\n';
    const { fields } = await refusal(daemon({ yaml }));
    expect(fields.map(({ field }) => field).sort()).toEqual([
      'database_max_connections',
      'gateway.max_connections',
    ]);
  });

  it('refuses an open probe address without tokens where no API is served', async () => {
    const flags = { '--probe-listen': '0.0.0.0:7481' };
    expect((await daemon({ flags })).probeListen).toEqual({ host: '0.0.0.0', port: 7_481 });
    const worker = { ...flags, '--roles': 'worker' };
    expect((await refusal(daemon({ flags: worker }))).message).toContain('CARDPOLL_ADMIN_TOKENS');
    const env = { CARDPOLL_ADMIN_TOKENS: 'viewer:0123456789abcdef' };
    expect((await daemon({ flags: worker, env })).probeListen?.port).toBe(7_481);
    expect((await daemon({ flags: { '--roles': 'worker' } })).probeListen).toBeNull();
  });

  it('takes both stores', async () => {
    const config = await daemon({ env: { CARDPOLL_REDIS_URL: REDIS, CARDPOLL_DATABASE_URL: DATABASE } });
    expect(config.stores).toMatchObject({ kind: 'external', redisUrl: REDIS, databaseUrl: DATABASE });
  });

  it.each([
    ['gateway: { url: ftp://host }', 'gateway.url'],
    ['gateway: { url: "host:80" }', 'gateway.url'],
    ['gateway: { url: "http://user:secret@host" }', 'gateway.url'],
    ['gateway: { url: "http://host/?a=1" }', 'gateway.url'],
    ['gateway: { timeout_ms: 0 }', 'gateway.timeout_ms'],
    [
      'gateway: { interfaces: { flow: { path: "card/{iccid}", value: used } } }',
      'gateway.interfaces.flow.path',
    ],
    [
      'gateway: { interfaces: { flow: { path: "/card {iccid}", value: used } } }',
      'gateway.interfaces.flow.path',
    ],
    ['gateway: { interfaces: { flow: { method: TRACE } } }', 'gateway.interfaces.flow.method'],
    ['gateway: { interfaces: { stop: { field: x } } }', 'gateway.interfaces.stop.field'],
    ['gateway: { interfaces: { trafic: { path: /x } } }', 'gateway.interfaces.trafic'],
  ])('refuses %s, and names %s', async (yaml, field) => {
    const url = yaml.includes('url:') ? {} : { CARDPOLL_GATEWAY_URL: 'http://gateway' };
    const error = await refusal(loadDaemonConfig(inputs({ yaml, env: url })));
    expect(error.fields.map((problem) => problem.field)).toEqual([field]);
    expect(error.message).not.toContain('secret');
  });

  it.each(['two words', 'a\r\nx: y'])('refuses the gateway credential %j', async (secret) => {
    const env = { CARDPOLL_GATEWAY_TOKEN: secret, CARDPOLL_GATEWAY_HMAC_KEY: secret };
    expect((await refusal(daemon({ env }))).fields).toHaveLength(2);
  });

  it('refuses a daemon without a gateway', async () => {
    const error = await refusal(loadDaemonConfig(inputs({})));
    expect(error.fields.map(({ field }) => field)).toEqual(['gateway.url']);
    expect(error.message).toContain('CARDPOLL_GATEWAY_URL');
  });

  it.each(['0.0.0.0:7480', '[::]:7480', '10.0.0.5:7480', 'example.com:7480'])(
    'refuses to listen on %s without tokens',
    async (listen) => {
      const flags = { '--listen': listen };
      expect((await refusal(daemon({ flags }))).message).toContain('CARDPOLL_ADMIN_TOKENS');
      const env = { CARDPOLL_ADMIN_TOKENS: 'operator:0123456789abcdef' };
      expect((await daemon({ flags, env })).adminTokens).toHaveLength(1);
    },
  );

  it.each(['127.0.0.1:1', '127.3.2.1:1', 'localhost:1', '[::1]:1'])('lets %s be open', async (listen) => {
    expect((await daemon({ flags: { '--listen': listen } })).adminTokens).toEqual([]);
  });

  it('wants a lease of at least two gateway timeouts and a second', async () => {
    const gateway = 'gateway: { timeout_ms: 5000 }\n';
    await expect(daemon({ yaml: `${gateway}polling: { lease_ms: 11000 }` })).resolves.toBeDefined();
    const error = await refusal(daemon({ yaml: `${gateway}polling: { lease_ms: 10999 }` }));
    expect(error.message).toContain('must be at least 11000');
  });
});

describe('problems', () => {
  it('reports all of them at once, each with its origin', async () => {
    const error = await refusal(
      daemon({
        flags: { '--listen': 'nonsense' },
        env: { CARDPOLL_TIME_ZONE: 'Mars/Olympus', CARDPOLL_REDIS_URL: REDIS, CARDPOLL_LOG_LEVLE: 'info' },
        yaml: 'polling:\n  claim_batch: 0\n  leese_ms: 1\nrolls: [worker]\n',
      }),
    );
    const [heading, ...lines] = error.message.split('\n');
    expect(heading).toBe('configuration: 7 problems:');
    expect(lines).toHaveLength(7);
    expect(error.fields).toHaveLength(7);
    expect(error.message).toMatch(/--listen: "nonsense" is not host:port/);
    expect(error.message).toMatch(/CARDPOLL_TIME_ZONE: "Mars\/Olympus"/);
    expect(error.message).toMatch(/config\.yaml:2 polling\.claim_batch: 0 is out of bounds \(1 to 2000\)/);
    expect(error.message).toMatch(
      /config\.yaml:3: unknown key polling\.leese_ms \(did you mean polling\.lease_ms\?\)/,
    );
    expect(error.message).toMatch(/config\.yaml:4: unknown key rolls \(did you mean roles\?\)/);
    expect(error.message).toMatch(/CARDPOLL_LOG_LEVLE \(did you mean CARDPOLL_LOG_LEVEL\?\)/);
    expect(error.message).toMatch(/database_url is not/);
  });

  it('says where a key that was put on the wrong level belongs', async () => {
    const error = await refusal(daemon({ yaml: 'claim_batch: 10' }));
    expect(error.message).toContain('unknown key claim_batch (did you mean polling.claim_batch?)');
  });

  it.each([
    ['a missing file', undefined, /no such file/],
    ['broken YAML', 'listen: [1', /config\.yaml:1: not valid YAML/],
    [
      'an alias that leads nowhere',
      'api:\n  trusted_proxies: *x',
      /config\.yaml:2: anchors \(&\) and aliases \(\*\) are/,
    ],
    ['one in a list', 'webhooks:\n  allow_cidrs: [*any]', /config\.yaml:2: anchors/],
    ['an anchor', 'time_zone: UTC\nroles: &r api', /config\.yaml:2: anchors/],
    ['a key given twice', 'roles: api\nroles: api', /config\.yaml:\d: not valid YAML/],
    ['a list at the top', '- 1', /the file must hold keys and values/],
    ['a value where a section belongs', 'polling: fast', /polling must hold keys and values/],
  ])('refuses %s', async (_, yaml, expected) => {
    const sources = yaml === undefined ? { flags: { '--config': join(directory, 'absent.yaml') } } : { yaml };
    expect((await refusal(daemon(sources))).message).toMatch(expected);
  });

  it.each([
    ['a missing file', undefined],
    ['broken YAML', 'gateway: {url: http://gateway'],
  ])('does not miss settings that %s may have', async (_, yaml) => {
    const flags = { '--redis-url': 'redis://r' };
    const absent = { ...flags, '--config': join(directory, 'absent.yaml') };
    const { message } = await refusal(daemon(yaml === undefined ? { flags: absent } : { flags, yaml }));
    expect(message).toMatch(/^configuration: .*(no such file|not valid YAML)/);
    expect(message).not.toMatch(/gateway URL|database_url/);
  });

  it('never quotes a secret', async () => {
    const error = await refusal(
      daemon({
        env: {
          CARDPOLL_REDIS_URL: 'rediss//:redis-secret@redis',
          CARDPOLL_DATABASE_URL: 'mysql://cardpoll:pg-secret@db',
          CARDPOLL_ADMIN_TOKENS: 'operator:short-secret,root:another-secret-here',
          CARDPOLL_GATEWAY_TOKEN: 'gateway secret',
        },
      }),
    );
    expect(error.fields).toHaveLength(4);
    expect(error.message).not.toContain('secret');
  });
});

describe('admin tokens', () => {
  const tokens = 'viewer:viewer-token-0001,operator:operator:token:01';

  it('reads them from the variable and from a file', async () => {
    const [viewer, operator] = ['viewer-token-0001', 'operator:token:01'].map(hashOf) as [string, string];
    const forever = { expiresAtMs: null };
    const expected = [
      { name: `viewer-${viewer.slice(0, 6)}`, role: 'viewer', hash: viewer, ...forever },
      // Could do everything before there were admins.
      { name: `operator-${operator.slice(0, 6)}`, role: 'admin', hash: operator, ...forever },
    ];
    expect((await daemon({ env: { CARDPOLL_ADMIN_TOKENS: tokens } })).adminTokens).toEqual(expected);
    const path = file('tokens', `${tokens.replace(',', '\n')}\n`);
    expect((await daemon({ env: { CARDPOLL_ADMIN_TOKENS_FILE: path } })).adminTokens).toEqual(expected);
  });

  it.each([
    ['operator:short', /entry 1 has a token that is not at least 16/],
    [
      'viewer:viewer-token-0001,root:0123456789abcdef',
      /entry 2 does not begin with viewer:, operator:, admin:/,
    ],
    ['0123456789abcdef', /entry 1 does not begin/],
    ['viewer:viewer-token-0001,operator:viewer-token-0001', /entry 2 repeats/],
    [`a:viewer:viewer-token-0001,b:admin:sha256:${hashOf('viewer-token-0001')}`, /entry 2 repeats/],
    ['a b:viewer:viewer-token-0001', /entry 1 begins with a name that is not a name of at most/],
    ['daemon:viewer:viewer-token-0001', /entry 1 begins with a name that is reserved/],
    ['a:viewer:viewer-token-0001@2027-02-30', /entry 1 has an expiry that is not a day as in/],
    ['a:viewer:sha256:abc', /entry 1 has a hash that is not 64 hexadecimal digits/],
    [',', /there is no entry/],
  ])('refuses %s', async (CARDPOLL_ADMIN_TOKENS, expected) => {
    expect((await refusal(daemon({ env: { CARDPOLL_ADMIN_TOKENS } }))).message).toMatch(expected);
  });

  it('have names, hashes and last days', async () => {
    const hash = hashOf('a-token-of-somebody');
    const entries = `# rotated in May\nanna:admin:sha256:${hash}@2027-01-31\nben.b-2:operator:with@sign-2027:x\n`;
    const path = file('named', entries);
    expect((await daemon({ env: { CARDPOLL_ADMIN_TOKENS_FILE: path } })).adminTokens).toEqual([
      { name: 'anna', role: 'admin', hash, expiresAtMs: Date.parse('2027-02-01T00:00:00Z') },
      { name: 'ben.b-2', role: 'operator', hash: hashOf('with@sign-2027:x'), expiresAtMs: null },
    ]);
  });

  it('refuses a file that every user can read, a missing one, and variable and file together', async () => {
    const open = file('open-tokens', tokens, 0o644);
    const readable = await refusal(daemon({ env: { CARDPOLL_ADMIN_TOKENS_FILE: open } }));
    expect(readable.message).toContain(`chmod 600 ${open}`);
    const missing = await refusal(daemon({ env: { CARDPOLL_ADMIN_TOKENS_FILE: join(directory, 'none') } }));
    expect(missing.message).toContain('no such file');
    const both = { CARDPOLL_ADMIN_TOKENS: tokens, CARDPOLL_ADMIN_TOKENS_FILE: open };
    expect((await refusal(daemon({ env: both }))).message).toContain('are both set');
  });

  it('does not ask for tokens again when the given ones were refused', async () => {
    const flags = { '--listen': '0.0.0.0:7480' };
    const error = await refusal(daemon({ flags, env: { CARDPOLL_ADMIN_TOKENS: 'operator:short' } }));
    expect(error.fields).toHaveLength(1);
  });
});

describe('secrets in files', () => {
  const secrets = ALL_SETTINGS.filter(
    (setting) => setting.file !== null && setting.scopes.includes('daemon'),
  );

  it('every setting with a password, key or token may be in one', () => {
    expect(secrets.map(({ file: where }) => where?.credential).sort()).toEqual([
      'admin_tokens',
      'alerts.heartbeat_url',
      'database_url',
      'gateway.client_id',
      'gateway.client_secret',
      'gateway.hmac_key',
      'gateway.password',
      'gateway.token',
      'gateway.username',
      'redis_sentinel_password',
      'redis_url',
      'webhooks.secret',
    ]);
  });

  it('the systemd unit gives every one of them', () => {
    const unit = readFileSync(new URL('../../../deploy/systemd/cardpoll.service', import.meta.url), 'utf8');
    const given = [...unit.matchAll(/^LoadCredential=([\w.]+):/gm)].map(([, name]) => name);
    expect(given.sort()).toEqual(secrets.map(({ file: where }) => where?.credential).sort());
  });

  it('reads the URLs of the stores from files, their line ends left out', async () => {
    const env = {
      CARDPOLL_REDIS_URL_FILE: file('redis', `${REDIS}\n`),
      CARDPOLL_DATABASE_URL_FILE: file('database', `${DATABASE}\n`),
    };
    const stores = { kind: 'external', redisUrl: REDIS, databaseUrl: DATABASE };
    expect((await daemon({ env })).stores).toMatchObject(stores);
  });

  it('reads the credentials systemd gives it, unless something nearer says otherwise', async () => {
    const credentials = join(directory, 'credentials');
    mkdirSync(credentials);
    const give = (name: string, value: string) =>
      writeFileSync(join(credentials, name), `${value}\n`, { mode: 0o400 });
    give('redis_url', REDIS);
    give('database_url', DATABASE);
    give('gateway.token', 'from-the-credential');
    give('admin_tokens', 'anna:admin:0123456789abcdef');
    const env = { CREDENTIALS_DIRECTORY: credentials };
    const yaml = 'redis_url: redis://of.the.file\ndatabase_url: postgres://of.the.file';
    const config = await daemon({ env, yaml });
    expect(config.stores).toMatchObject({ kind: 'external', redisUrl: REDIS, databaseUrl: DATABASE });
    expect([config.gateway.token, config.adminTokens[0]?.name]).toEqual(['from-the-credential', 'anna']);
    const nearer = await daemon({ env: { ...env, CARDPOLL_GATEWAY_TOKEN: 'of-the-variable' }, yaml });
    expect(nearer.gateway.token).toBe('of-the-variable');
  });
});

describe('other scopes', () => {
  it('reads what a client needs and ignores the rest', async () => {
    expect(await loadClientConfig(inputs({}))).toEqual({
      url: 'http://127.0.0.1:7480',
      token: null,
      tokenFrom: null,
      context: null,
      contextTokenFile: null,
      timeoutMs: 10_000,
    });
    const tokenFile = file('token', 'operator-token-01\n');
    const flags = {
      '--token-file': tokenFile,
      '--url': 'https://cardpoll.example/',
    };
    const env = { CARDPOLL_URL: 'http://ignored', CARDPOLL_TOKEN: 'ignored', CARDPOLL_REDIS_URL: REDIS };
    expect(await loadClientConfig(inputs({ flags, env, yaml: 'client: { timeout_ms: 3s }' }))).toEqual({
      url: 'https://cardpoll.example',
      token: 'operator-token-01',
      tokenFrom: `--token-file (${tokenFile})`,
      context: null,
      contextTokenFile: null,
      timeoutMs: 3_000,
    });
  });

  it.each([
    ['listen: 127.0.0.1:21490', 'http://127.0.0.1:21490'],
    ['listen: 0.0.0.0:7500', 'http://127.0.0.1:7500'],
    ['listen: "[::]:7500"', 'http://[::1]:7500'],
    ['listen: "[fd00::1]:7500"', 'http://[fd00::1]:7500'],
    ['listen: host:7500\napi: { tls_cert: /c, tls_key: /k }', 'https://host:7500'],
    ['listen: host:7500\nclient: { url: http://other }', 'http://other'],
  ])('asks the daemon of the same configuration, unless it names another: %s', async (yaml, url) => {
    expect(await loadClientConfig(inputs({ yaml }))).toMatchObject({ url });
  });

  it('needs only the database for migrations', async () => {
    expect(await loadMigrateConfig(inputs({ env: { CARDPOLL_DATABASE_URL: DATABASE } }))).toEqual({
      database: { kind: 'postgres', databaseUrl: DATABASE, from: 'CARDPOLL_DATABASE_URL' },
    });
    expect(await loadMigrateConfig(inputs({ flags: { '--data-dir': '/data' } }))).toEqual({
      database: { kind: 'embedded', dataDir: '/data' },
    });
  });

  it('takes no embedded stores that no one has made for the database of migrations', async () => {
    const config = temporaryDirectory('contexts');
    const state = temporaryDirectory('state');
    const env = { XDG_CONFIG_HOME: config, XDG_STATE_HOME: state };
    const why = (text: RegExp) => ({
      kind: 'config',
      code: 'no_database',
      message: expect.stringMatching(text),
    });
    await expect(loadMigrateConfig(inputs({ env }))).rejects.toMatchObject(why(/no embedded stores in/));
    mkdirSync(join(state, 'cardpoll'));
    const embedded = { database: { kind: 'embedded', dataDir: join(state, 'cardpoll') } };
    expect(await loadMigrateConfig(inputs({ env }))).toEqual(embedded);
    await writeContexts(env, {
      current: 'prod',
      all: [{ name: 'prod', url: 'http://prod', tokenFile: null }],
    });
    await expect(loadMigrateConfig(inputs({ env }))).rejects.toMatchObject(
      why(/context prod has a daemon's URL/),
    );
    expect(await loadMigrateConfig(inputs({ env, yaml: 'log_level: info' }))).toEqual(embedded);
  });

  it("reads for log searches where logs are, and the signs of one's own", async () => {
    expect(await loadLogsConfig(inputs({}))).toEqual({ logDir: null, timeZone: null, interfaces: {} });
    const yaml = `
log_dir: /var/log/cardpoll
log_search:
  interfaces:
    realname: { paths: [verify, auth/check], fields: auth.state, phrases: [认证] }
`;
    expect(await loadLogsConfig(inputs({ yaml }))).toEqual({
      logDir: '/var/log/cardpoll',
      timeZone: null,
      interfaces: {
        realname: { paths: ['verify', 'auth/check'], fields: ['auth.state'], phrases: ['认证'] },
      },
    });
  });

  it.each([
    [
      'realname: { paths: [/verify] }',
      'log_search.interfaces.realname.paths: "/verify" is not a path segment',
    ],
    ['flow: { paths: [a/-_] }', 'log_search.interfaces.flow.paths: "a/-_" is not a path segment'],
    ['stop: { fields: ["a b"] }', 'log_search.interfaces.stop.fields: "a b" is not a field name'],
    ['stop: { phrases: [""] }', 'log_search.interfaces.stop.phrases: "" is not a phrase'],
    ['stop: { phrases: [a"b] }', 'is not a phrase without quotes'],
    ['carddata: { paths: [x] }', 'unknown'],
  ])('refuses for log searches %s', async (interfaces, problem) => {
    const yaml = `log_search:\n  interfaces:\n    ${interfaces}\n`;
    await expect(loadLogsConfig(inputs({ yaml }))).rejects.toMatchObject({
      kind: 'config',
      message: expect.stringContaining(problem),
    });
  });
});
