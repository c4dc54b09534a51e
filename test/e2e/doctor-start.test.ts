// `cardpoll doctor` from before the first start to a daemon with tokens: what it says to type typed step by step, and what
// it says to whom the daemon does not answer or know. A fleet and its troubles: doctor.test.ts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { emptyDatabase, freshDatabase, freshRedis } from '../support/fresh-stores.ts';
import { type RunningCli, spawnCli } from '../support/processes.ts';
import { runDoctor } from '../support/run-doctor.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { typeCommand } from '../support/type-command.ts';
import { waitFor } from '../support/wait-for.ts';

const DAY_MS = 86_400_000;
const directory = temporaryDirectory('doctor-start');

const config = join(directory, 'cardpoll.yaml');
const lines = join(directory, 'admin-tokens');
let client: Record<string, string>;
let server: Record<string, string>;
let daemon: RunningCli | null = null;
afterAll(() => daemon?.stop());

beforeAll(async () => {
  const gatewayUrl = `http://127.0.0.1:${await freePort()}`;
  spawnCli(['gateway', 'simulate', '--listen', gatewayUrl.slice('http://'.length)]);
  const listen = `127.0.0.1:${await freePort()}`;
  writeFileSync(
    config,
    [
      `listen: ${listen}`,
      `redis_url: ${(await freshRedis()).url}`,
      `database_url: ${await emptyDatabase()}`,
      `gateway:\n  url: ${gatewayUrl}`,
    ].join('\n'),
    { mode: 0o600 },
  );
  client = { CARDPOLL_URL: `http://${listen}` };
  server = { ...client, CARDPOLL_ADMIN_TOKENS_FILE: lines };
  await waitFor(async () => (await fetch(`${gatewayUrl}/stats`)).ok, { what: 'the simulator to answer' });
});

/** On the machine of the daemon, and on one that only has the commands. */
const atServer = (env: Record<string, string> = {}) => runDoctor({ ...server, ...env }, '--config', config);
const atClient = (env: Record<string, string> = {}) => runDoctor({ ...client, ...env });

/** A file only its owner can read. */
function secret(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

/** Types the command that makes a token. */
function made(command: string | null | undefined): { readonly token: string; readonly line: string } {
  const [, token = '', line = ''] = /^token +(\S+)\nline +(\S+)$/m.exec(typeCommand(command, {})) ?? [];
  return { token, line };
}

const [TOMORROW, YESTERDAY] = [1, -1].map((days) =>
  new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10),
);

it('goes from an empty database to a daemon that runs, command by command', async () => {
  const old = made('cardpoll token new --name anna --role operator');
  const gone = made('cardpoll token new --name bob --role viewer');
  secret('admin-tokens', `${old.line}@${TOMORROW}\n${gone.line}@${YESTERDAY}\n`);
  secret('anna-old', old.token);

  const { code, report, found } = await atServer();
  expect([code, report.items.filter(({ status }) => status === 'failed')]).toEqual([0, []]);
  const migrate = found('migrations');
  expect(migrate).toMatchObject({ status: 'warning', command: `cardpoll migrate up --config ${config}` });
  typeCommand(migrate?.command, server);
  expect((await atClient()).found('daemon')).toMatchObject({ status: 'failed', command: null });
  const start = report.items.at(-1);
  expect(start).toMatchObject({
    check: 'daemon',
    status: 'warning',
    command: `cardpoll daemon --config ${config}`,
  });
  daemon = spawnCli(`${start?.command}`.split(' ').slice(1), { env: server });
  await waitFor(async () => (await fetch(`${client.CARDPOLL_URL}/readyz`)).ok, {
    what: 'the daemon to be ready',
  });
  const { statusOf } = await atServer({ CARDPOLL_TOKEN_FILE: join(directory, 'anna-old') });
  expect([statusOf('migrations'), statusOf('daemon')]).toEqual(['ok', 'ok']);
});

it('tokens that expire: the command makes new ones, which come into force as it says', async () => {
  const ending = (await atServer()).report.items.filter(({ check }) => check === 'admin tokens');
  expect(ending).toMatchObject([
    { status: 'warning', detail: `the token of anna expires: ${TOMORROW} is its last day` },
    { status: 'warning', detail: `the token of bob expired: ${YESTERDAY} was its last day` },
  ]);
  const [anna, bob] = ending.map(({ command }) => made(command));
  const annas = secret('anna', `${anna?.token}`);
  secret('admin-tokens', `${anna?.line}\n${bob?.line}\n`);
  expect((await atClient({ CARDPOLL_TOKEN_FILE: annas })).found('token')?.detail).toMatch(/is not known/);
  daemon?.signal('SIGHUP');
  await waitFor(async () => (await atClient({ CARDPOLL_TOKEN_FILE: annas })).statusOf('daemon') === 'ok', {
    what: 'the new token to be let in',
  });
  expect((await atServer({ CARDPOLL_TOKEN_FILE: annas })).found('admin tokens')).toMatchObject({
    status: 'ok',
    detail: '2 known, none expires within 14 days',
  });
});

it('without a known token it reports what is wrong and where', async () => {
  const cases: [Record<string, string>, string, RegExp, RegExp][] = [
    [{}, 'token', /needs an admin token/, /--token-file or CARDPOLL_TOKEN/],
    [
      { CARDPOLL_TOKEN_FILE: secret('other', 'a-token-nobody-knows') },
      'token',
      /is not known/,
      /--token-file/,
    ],
    [
      { CARDPOLL_TOKEN_FILE: join(directory, 'missing') },
      'client settings',
      /no such file/,
      /no daemon was asked/,
    ],
  ];
  for (const [env, check, detail, hint] of cases) {
    const { code, report } = await atClient(env);
    expect([code, report.items]).toMatchObject([1, [{ check, status: 'failed' }]]);
    expect(report.items[0]?.detail).toMatch(detail);
    expect(report.items[0]?.hint).toMatch(hint);
  }
  // An expired token that is still in the file: only its owner learns why it is refused.
  const late = made('cardpoll token new --name carl --role viewer');
  const carls = secret('carl', late.token);
  secret('admin-tokens', `${late.line}@${YESTERDAY}\n`);
  daemon?.signal('SIGHUP');
  const item = await waitFor(
    async () => {
      const found = (await atClient({ CARDPOLL_TOKEN_FILE: carls })).found('token');
      return found?.detail.includes('expired') ? found : null;
    },
    { what: 'the tokens to be read anew' },
  );
  expect(item).toMatchObject({
    detail: `the admin token of carl expired: ${YESTERDAY} was its last day`,
    hint: expect.stringContaining('cardpoll token new'),
  });
});

it('shows no password, wherever the URL of the database has it', async () => {
  const url = new URL(await freshDatabase());
  url.searchParams.set('password', 'pw-in-a-parameter');
  const env = { ...client, CARDPOLL_DATABASE_URL: url.href, CARDPOLL_DATABASE_MAX_CONNECTIONS: '1000' };
  const { found, report } = await runDoctor(env, '--config', config);
  expect(found('postgresql connections')?.command).toMatch(/^psql 'postgres/);
  expect(JSON.stringify(report)).not.toContain('pw-in-a-parameter');
});
