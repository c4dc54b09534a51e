// docs/contract.md tells of every endpoint, command and exit code there is, and docs/operations-interface.md of no endpoint
// that is not there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { EXIT_STATUS } from '../../../scripts/man/exit-status.ts';
import type { CommandSpec } from '../../../src/cli/command.ts';
import { ROOT } from '../../../src/cli/commands/root.ts';
import { startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { REPOSITORY } from '../../support/markdown.ts';

const contract = readFileSync(join(REPOSITORY, 'docs/contract.md'), 'utf8');
const demanded = readFileSync(join(REPOSITORY, 'docs/operations-interface.md'), 'utf8');
const redis = await freshRedis();
const api = await startApi({ redisUrl: redis.url, databaseUrl: await freshDatabase() });
afterAll(() => api.close());

/** The rows of tables that begin with a method, as `GET /path`. */
function endpointsIn(page: string): string[] {
  const rows = [...page.matchAll(/^\| ((?:GET|POST|PUT|DELETE)(?:, \w+)*) +\| ([^|]+)\|/gm)];
  return rows.flatMap(([, methods = '', paths = '']) =>
    [...paths.matchAll(/`([^`]+)`/g)].flatMap(([, path]) =>
      methods.split(', ').map((method) => `${method} ${path}`),
    ),
  );
}

it('every endpoint is in one of the two, and nothing else', async () => {
  const { body } = await api.call('GET', '/openapi.json');
  const described = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const written = [...endpointsIn(demanded), ...endpointsIn(contract)];
  expect(written.sort()).toEqual(described.sort());
});

it('every command is in the list', () => {
  const lines = contract.split('\n').filter((line) => line.startsWith('    cardpoll '));
  const missing = (ROOT.subcommands ?? [])
    .filter(({ hidden }) => hidden !== true)
    .flatMap(({ name, subcommands = [] }) => {
      const own = lines.filter((line) => line.split(' ').includes(name));
      const words = own.join(' ').split(/[^\w-]+/);
      return [name, ...subcommands.flatMap(namesOf)].filter((word) => !words.includes(word));
    });
  expect(missing).toEqual([]);
});

function namesOf({ name, subcommands = [] }: CommandSpec): string[] {
  return [name, ...subcommands.flatMap(namesOf)];
}

it('every exit code is in the table', () => {
  const table = contract.slice(contract.indexOf('## Exit codes'), contract.indexOf('## Redis names'));
  const codes = [...table.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, cell = '']) => cell.split(', '));
  expect(codes.map(Number)).toEqual(EXIT_STATUS.map(([code]) => code));
});
