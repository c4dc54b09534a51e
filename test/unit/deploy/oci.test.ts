// The recipe of the image and the composition, as far as a machine without a container engine can tell: what the image
// is made of, that nothing runs as root, and that every variable named is a setting.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { ALL_SETTINGS } from '../../../src/config/settings/settings.ts';

const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
/** Such as `Valkey 9.1.2`. */
const TESTED = [...read('docs/installation.md').matchAll(/^\| \S+ [\d.]+ +\| (\S+ [\d.]+) +\|/gm)].map(
  ([, name]) => name,
);
const VARIABLES = ALL_SETTINGS.flatMap(({ env, file }) => [env, file?.env]);

/** Without comments, a line an instruction. */
const instructions = read('deploy/oci/Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => ({ name: line.split(' ')[0] ?? '', rest: line.slice(line.indexOf(' ') + 1).trim() }));
const of = (name: string) => instructions.filter((one) => one.name === name).map(({ rest }) => rest);

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly unknown[];
  readonly healthcheck?: object;
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
}
const composition = parse(read('deploy/oci/compose.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, unknown>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};

it('the image is built in two stages from one pinned base, and brings no development packages', () => {
  const [build = '', final, ...others] = of('FROM');
  expect(build).toMatch(/^node:\d+\.\d+\.\d+-\w+-slim AS build$/);
  expect([final, others]).toEqual([build.replace(' AS build', ''), []]);
  expect(of('RUN').join('\n')).toMatch(/npm ci.*npm prune --omit=dev.*rm -rf node_modules\/\.cache/s);
  expect(of('ADD')).toEqual([]);
  const last = instructions.findLastIndex(({ name }) => name === 'FROM');
  const copied = instructions.slice(last).filter(({ name }) => name === 'COPY');
  expect(copied.every(({ rest }) => rest.startsWith('--from=build '))).toBe(true);
});

it('the image runs as a user without rights, and reports whether it is alive', () => {
  expect(of('USER')).toEqual(['10001:10001']);
  const [health = ''] = of('HEALTHCHECK');
  expect(health).toContain('/livez');
  expect(of('ENTRYPOINT')).toEqual(['["cardpoll"]']);
  // Exec form: a shell in between would keep SIGTERM for itself.
  expect(JSON.parse(of('CMD').at(-1) ?? '')).toEqual(['daemon']);
});

it('variables of both are settings', () => {
  const named =
    [read('deploy/oci/Dockerfile'), read('deploy/oci/compose.yaml')].join('\n').match(/\bCARDPOLL_\w+/g) ??
    [];
  expect(named.length).toBeGreaterThan(5);
  for (const name of named) expect([...VARIABLES, 'CARDPOLL_CONFIG'], name).toContain(name);
});

it('the composition keeps what Redis and PostgreSQL hold, and evicts nothing', () => {
  const { services, volumes } = composition;
  expect(Object.keys(services)).toEqual(['api', 'worker', 'redis', 'postgres']);
  expect(services.redis?.command).toEqual(
    expect.arrayContaining(['--maxmemory-policy', 'noeviction', '--appendonly', 'yes']),
  );
  // Otherwise the entry point of the image does not leave root.
  expect(services.redis?.command?.[0]).toBe('valkey-server');
  expect(Object.keys(volumes)).toEqual(['valkey', 'postgres17']);
  for (const name of ['redis', 'postgres']) {
    expect(services[name]).toMatchObject({
      healthcheck: expect.anything(),
      volumes: [expect.stringMatching(new RegExp(`^(${Object.keys(volumes).join('|')}):/`))],
    });
  }
  // On the socket the image's server answers already while it makes the database, and is then started again.
  expect(services.postgres?.healthcheck).toMatchObject({
    test: expect.arrayContaining(['pg_isready', '-h', '127.0.0.1']),
  });
  for (const name of ['api', 'worker']) {
    expect(Object.keys(services[name]?.depends_on ?? {})).toEqual(['redis', 'postgres']);
  }
  // The API is this machine's alone, until somebody puts TLS before it.
  expect(services.api?.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
});

it('the servers of the composition are ones that were tested, in just this version', () => {
  const products = { redis: 'Valkey', postgres: 'PostgreSQL' };
  for (const [service, product] of Object.entries(products)) {
    const [, version] = /:(\d+\.\d+[\d.]*)-\w+$/.exec(composition.services[service]?.image ?? '') ?? [];
    expect(TESTED).toContain(`${product} ${version}`);
  }
});

it('test:servers tries every server that the installation page lists, and no other', () => {
  const rows = [...read('docs/installation.md').matchAll(/^\| (Valkey|Redis|PostgreSQL) ([\d.]+) +\|/gm)];
  const tried = read('scripts/test-servers.sh').matchAll(/^(valkey|redis|postgresql) ([\d.]+) /gm);
  expect(rows.map(([, product, version]) => `${product?.toLowerCase()} ${version}`)).toEqual(
    [...tried].map(([, product, version]) => `${product} ${version}`),
  );
  expect(rows.length).toBeGreaterThan(5);
});

it('the composition has every password in a file of secrets/ that the installation page makes', () => {
  const { services, secrets } = composition;
  const page = read('docs/installation.md');
  const made = Object.keys(secrets);
  expect(made).toEqual(['admin_tokens', 'database_url', 'postgres_password', 'redis_conf', 'redis_url']);
  for (const name of made) {
    expect(secrets[name]).toEqual({ file: `secrets/${name}` });
    expect(page, name).toMatch(new RegExp(`> ${name}$`, 'm'));
  }
  const passwords = /(PASSWORD|_URL|TOKENS)$/;
  for (const { environment = {}, secrets: used = [] } of Object.values(services)) {
    const named = Object.entries(environment).filter(([key]) => key !== 'CARDPOLL_GATEWAY_URL');
    expect(named.filter(([key]) => passwords.test(key)).map(([key]) => key)).toEqual([]);
    const files = named.filter(([key]) => key.endsWith('_FILE')).map(([, path]) => path);
    for (const path of files) expect(used.map((one) => `/run/secrets/${one}`)).toContain(path);
  }
  expect(services.redis).toMatchObject({
    secrets: ['redis_conf'],
    command: expect.arrayContaining(['/run/secrets/redis_conf']),
  });
  expect(services.postgres?.secrets).toEqual(['postgres_password']);
  for (const name of ['api', 'worker'])
    expect(services[name]?.secrets).toEqual(['redis_url', 'database_url', 'admin_tokens']);
  // The image is built from the whole repository.
  for (const list of ['.dockerignore', '.gitignore'])
    expect(read(list)).toMatch(/^deploy\/oci\/secrets\/?$/m);
  expect(read('deploy/oci/compose.yaml')).toContain('@sha256:');
});
