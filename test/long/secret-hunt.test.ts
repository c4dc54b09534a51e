// Every secret a daemon is given is planted as a word of its own; then everything it says is searched for them: logs,
// answers, metrics, errors, the doctor, refusals to start, its command line.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Daemon, Fleet } from '../support/fleet.ts';
import { runCli, waitFor } from '../support/processes.ts';

const SECRETS = {
  redis: 'RedisPassw0rdRedisPassw0rd',
  database: 'DatabasePassw0rdDatabase',
  gatewayToken: 'GatewayTokenGatewayToken1',
  hmac: 'HmacKeyHmacKeyHmacKeyHmac2',
  webhook: 'V2ViaG9va1NlY3JldFdlYmhvb2tTZWNyZXQ3',
  operator: 'OperatorTokenOperatorToken3',
  viewer: 'ViewerTokenViewerTokenView4',
  guessed: 'GuessedTokenGuessedToken5',
  webhookUrl: 'WebhookPathSecretWebhook6',
  gatewayUrl: 'GatewayUrlPasswordGateway7',
  daemonUrl: 'DaemonUrlPasswordDaemon8',
};
/** As it is, and as what encodes it in base64 would show it. */
const formsOf = (secret: string) => [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '')];

let fleet: Fleet;
let daemon: Daemon;
let env: Record<string, string>;
/** What was said, by who said it. */
const said: Array<readonly [string, string]> = [];

beforeAll(async () => {
  fleet = await Fleet.start();
  await fleet.redis.call('ACL', 'SETUSER', 'cardpoll', 'on', `>${SECRETS.redis}`, '~*', '&*', '+@all');
  const withPassword = (url: string, user: string, password: string) => {
    const target = new URL(url);
    target.username ||= user;
    target.password = password;
    return target.href;
  };
  const tokens = join(fleet.dir, 'tokens');
  writeFileSync(tokens, `operator:${SECRETS.operator}\nviewer:${SECRETS.viewer}\n`, { mode: 0o600 });
  env = {
    CARDPOLL_REDIS_URL: withPassword(fleet.redisServer.url, 'cardpoll', SECRETS.redis),
    CARDPOLL_DATABASE_URL: withPassword(fleet.databaseUrl, 'postgres', SECRETS.database),
    CARDPOLL_GATEWAY_URL: fleet.gatewayUrl,
    CARDPOLL_GATEWAY_TOKEN: SECRETS.gatewayToken,
    CARDPOLL_GATEWAY_HMAC_KEY: SECRETS.hmac,
    CARDPOLL_WEBHOOKS_SECRET: `whsec_${SECRETS.webhook}`,
    CARDPOLL_WEBHOOKS_ALLOW_CIDRS: '127.0.0.1',
    CARDPOLL_ADMIN_TOKENS_FILE: tokens,
    CARDPOLL_LOG_LEVEL: 'debug',
    CARDPOLL_ALERTS_INTERVAL_MS: '200',
  };
  daemon = await fleet.startDaemon(env);
});
afterAll(() => fleet.close());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Notes head and body of an answer. */
async function ask(method: string, path: string, headers: Record<string, string>, json?: unknown) {
  const body = json === undefined ? null : JSON.stringify(json);
  const type: Record<string, string> = body === null ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(`${daemon.url}${path}`, { method, headers: { ...type, ...headers }, body });
  const head = JSON.stringify([...answer.headers]);
  const text = await answer.text();
  said.push([`${method} ${path} ${answer.status}`, head + text]);
  return { status: answer.status, text };
}

async function run(args: string[], more: Record<string, string>): Promise<void> {
  const { stdout, stderr, code } = await runCli([...args, '--debug'], { env: more });
  said.push([`cardpoll ${args.join(' ')}: ${code}`, stdout + stderr]);
}

it('none is in what the API answers', async () => {
  const reads = ['/metrics', '/openapi.json', '/readyz', '/api/admin/polling-stats', '/api/admin/audit'];
  for (const path of reads) {
    for (const token of [SECRETS.operator, SECRETS.viewer, SECRETS.guessed]) {
      await ask('GET', path, bearer(token));
    }
  }
  await ask('PUT', '/api/admin/polling-configs/1', bearer(SECRETS.operator), { status: 7 });
  await ask('GET', `/api/admin/cards/1?token=${SECRETS.guessed}`, bearer(SECRETS.viewer));
});

it('none is in what is said about webhooks, the audit trail included', async () => {
  const rule = {
    name: 'hunt',
    rule_type: 'queue_backlog',
    task_type: 'realname',
    threshold: 1,
    comparison: '<',
    is_enabled: true,
    notify_channels: ['webhook'],
    // Nobody listens there.
    webhook_url: `http://127.0.0.1:9/${SECRETS.webhookUrl}?key=${SECRETS.webhookUrl}`,
  };
  const headers = bearer(SECRETS.operator);
  const created = await ask('POST', '/api/admin/polling-alert-rules', headers, rule);
  expect(created.status).toBe(201);
  said.pop(); // who may write it gets it back
  await waitFor(
    async () => {
      const { text } = await ask('GET', '/api/admin/polling-alert-history', headers);
      const { items } = JSON.parse(text) as { items: Array<{ notifications: Array<{ attempts: number }> }> };
      return items.some(({ notifications }) => notifications.some(({ attempts }) => attempts > 0));
    },
    { what: 'a delivery that failed' },
  );
  const audit = await ask('GET', '/api/admin/audit', headers);
  expect(audit.text).toContain('alert_rule');
});

it('none is in what the command line says, also of what it cannot reach', async () => {
  const own = { ...env, CARDPOLL_URL: daemon.url, CARDPOLL_TOKEN: SECRETS.operator };
  await run(['doctor', '-o', 'json'], own);
  await run(['doctor'], { ...own, CARDPOLL_REDIS_URL: `redis://cardpoll:${SECRETS.redis}@127.0.0.1:9` });
  await run(['stats'], { CARDPOLL_URL: daemon.url, CARDPOLL_TOKEN: SECRETS.guessed });
  await run(['stats'], { CARDPOLL_URL: `http://u:${SECRETS.daemonUrl}@127.0.0.1:9` });
  const elsewhere = `postgres://cardpoll:${SECRETS.database}@127.0.0.1:9/cards`;
  await run(['migrate', 'status'], { CARDPOLL_DATABASE_URL: elsewhere });
  await run(['migrate', 'status'], { CARDPOLL_DATABASE_URL: `postgres://db/c?password=${SECRETS.database}` });
});

it('none is in why a daemon does not start', async () => {
  const broken: ReadonlyArray<Record<string, string>> = [
    { CARDPOLL_GATEWAY_URL: `http://u:${SECRETS.gatewayUrl}@gateway` },
    {
      CARDPOLL_REDIS_URL: `rediss:/${SECRETS.redis}`,
      CARDPOLL_DATABASE_URL: `mysql://x:${SECRETS.database}@d`,
    },
    { CARDPOLL_GATEWAY_TOKEN: `${SECRETS.gatewayToken} x`, CARDPOLL_WEBHOOKS_SECRET: SECRETS.webhook },
    { CARDPOLL_ADMIN_TOKENS_FILE: '', CARDPOLL_ADMIN_TOKENS: `nobody:${SECRETS.operator}` },
    { CARDPOLL_REDIS_URL: `redis://cardpoll:x${SECRETS.redis}@${new URL(fleet.redisServer.url).host}` },
    { CARDPOLL_DATABASE_URL: `postgres://cardpoll:${SECRETS.database}@127.0.0.1:9/cards` },
  ];
  for (const one of broken) {
    await run(['daemon', '--listen', '127.0.0.1:0'], { ...env, ...one });
    expect(said.at(-1)?.[0]).not.toMatch(/: 0$/);
  }
});

it('none is in the logs, whatever went wrong, nor on the command line', async () => {
  said.push(['its command line', readFileSync(`/proc/${daemon.process.pid}/cmdline`, 'utf8')]);
  writeFileSync(join(fleet.dir, 'tokens'), `wrong ${SECRETS.operator}\n`);
  daemon.process.signal('SIGHUP');
  fleet.simulator?.signal('SIGKILL');
  await fleet.redisServer.kill();
  const logs = () =>
    readdirSync(daemon.logDir)
      .map((name) => readFileSync(join(daemon.logDir, name), 'utf8'))
      .join('');
  await waitFor(() => logs().includes('configuration not reloaded'), { what: 'the reload to fail' });
  await waitFor(async () => (await ask('GET', '/readyz', {})).status === 503, {
    what: 'the outage to be noticed',
  });
  const { stdout, stderr } = await daemon.process.stop('SIGTERM');
  said.push(['its output', stdout + stderr], ['its logs', logs()]);
  expect(logs()).toContain('"path":"/metrics"');
});

function secretsIn(texts: typeof said): string[] {
  return texts.flatMap(([who, text]) =>
    Object.entries(SECRETS)
      .filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)))
      .map(([name]) => `${name} in ${who}`),
  );
}

it('nowhere at all', () => {
  expect(secretsIn([['a header', `x-key: ${SECRETS.hmac}!`]])).toEqual(['hmac in a header']);
  expect(said.length).toBeGreaterThan(30);
  expect(secretsIn(said)).toEqual([]);
});
