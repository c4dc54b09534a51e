import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { provision } from '../../support/provision.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

// A machine of its own: an empty PATH directory, an empty PostgreSQL root and a stand-in for apt-get that "installs"
// by creating files. env, touch and the like come from the real system through absolute paths.
let machine: string;
const bin = () => join(machine, 'bin');
const places = () => ({ path: bin(), postgresRoot: join(machine, 'postgresql') });

function executable(file: string, body = 'exit 0'): void {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
}

beforeEach(() => {
  machine = temporaryDirectory('provision');
  executable(join(bin(), 'env'), 'exec /usr/bin/env "$@"');
  executable(join(bin(), 'sudo'), 'shift; exec "$@"');
});

describe('provision', () => {
  it('finds what is there and prefers the newest PostgreSQL', () => {
    executable(join(bin(), 'redis-server'));
    for (const version of ['9.6', '15', '17']) {
      executable(join(machine, 'postgresql', version, 'bin', 'postgres'));
      executable(join(machine, 'postgresql', version, 'bin', 'initdb'));
    }
    expect(provision(places())).toEqual({
      redisServer: join(bin(), 'redis-server'),
      postgresBin: join(machine, 'postgresql', '17', 'bin'),
    });
  });

  it('passes over a PostgreSQL of which only the client or half is installed', () => {
    executable(join(bin(), 'redis-server'));
    executable(join(machine, 'postgresql', '17', 'bin', 'psql'));
    executable(join(machine, 'postgresql', '15', 'bin', 'postgres'));
    executable(join(machine, 'postgresql', '15', 'bin', 'initdb'));
    expect(provision(places()).postgresBin).toBe(join(machine, 'postgresql', '15', 'bin'));
  });

  it('installs only what is missing, after one update', () => {
    executable(join(machine, 'postgresql', '15', 'bin', 'postgres'));
    executable(join(machine, 'postgresql', '15', 'bin', 'initdb'));
    const install = `case "$*" in *install*) /bin/cp "${bin()}/env" "${bin()}/redis-server";; esac`;
    executable(join(bin(), 'apt-get'), `echo "$*" >> "${machine}/calls"\n${install}`);
    expect(provision(places()).redisServer).toBe(join(bin(), 'redis-server'));
    const calls = readFileSync(join(machine, 'calls'), 'utf8').trim().split('\n');
    expect(calls).toHaveLength(2);
    expect(calls[0]).toContain('update');
    expect(calls[1]).toMatch(/install .*--no-install-recommends redis-server$/);
  });

  it('names the packages when it cannot install', () => {
    executable(join(bin(), 'apt-get'), 'echo "E: no network" >&2; exit 100');
    expect(() => provision(places())).toThrow(
      /apt-get update failed: E: no network.*sudo apt-get install redis-server postgresql/,
    );
  });

  it('names the package when the installation did not bring the program', () => {
    executable(join(bin(), 'apt-get'));
    expect(() => provision(places())).toThrow(/redis-server is not on PATH.*apt-get install redis-server/);
  });
});
