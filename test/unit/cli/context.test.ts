// `cardpoll context`: what the file holds, which daemon and token a command then uses, and what wins over it.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { CONFIG, OVERVIEW } from './bodies.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

let env: Record<string, string>;
let file: string;
let tokenFile: string;

beforeEach(() => {
  const home = temporaryDirectory('context');
  env = { XDG_CONFIG_HOME: join(home, 'config') };
  file = join(home, 'config', 'cardpoll', 'contexts.yaml');
  tokenFile = join(home, 'token');
  writeFileSync(tokenFile, 'viewer-token-0001\n', { mode: 0o600 });
});

const context = (...argv: string[]) => cli(['context', ...argv], { env });

describe('the file', () => {
  it("is its owner's alone, and holds what was added", async () => {
    expect(await context('add', 'prod', '--url', 'https://poll.example/', '--token-file', tokenFile)).toEqual(
      {
        code: 0,
        stdout: '',
        stderr: 'prod is in use\n',
      },
    );
    expect((await context('add', 'lab', '--url', 'http://lab:7480')).stderr).toBe('prod is in use\n');
    expect(parse(readFileSync(file, 'utf8'))).toEqual({
      current: 'prod',
      contexts: {
        lab: { url: 'http://lab:7480' },
        prod: { url: 'https://poll.example', token_file: tokenFile },
      },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await context('list', '-o', 'tsv')).stdout).toBe(
      `lab\tno\thttp://lab:7480\t-\nprod\tyes\thttps://poll.example\t${tokenFile}\n`,
    );
  });

  it('loses what is removed, and has none in use then', async () => {
    await context('add', 'prod', '--url', 'http://prod');
    await context('add', 'lab', '--url', 'http://lab');
    expect((await context('use', 'lab')).stderr).toBe('lab is in use\n');
    expect((await context('remove', 'lab')).stderr).toBe('no context is in use\n');
    expect((await context('-o', 'tsv')).stdout).toBe('prod\tno\thttp://prod\t-\n');
  });

  it.each([
    [['use', 'prd'], 1, /there is no context prd \(did you mean prod\?\)/],
    [['remove', 'x'], 1, /there is no context x/],
    [['add', 'a b', '--url', 'http://h'], 64, /"a b" is not a context name/],
    [['add', '../x', '--url', 'http://h'], 64, /is not a context name/],
    [['add', 'x'], 64, /--url is missing/],
    [['add', 'x', '--url', 'ftp://h'], 64, /--url: is not a URL/],
    [['add', 'x', '--url', 'http://h', '--token-file', '/nowhere/t'], 66, /ENOENT/],
  ])('stays as it is after %j', async (argv, code, said) => {
    await context('add', 'prod', '--url', 'http://prod');
    const before = readFileSync(file, 'utf8');
    expect(await context(...argv)).toMatchObject({ code, stderr: expect.stringMatching(said) });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it.each([
    ['contexts: [1]', /contexts must hold keys and values/],
    ['current: x', /there is no context "x"/],
    ['contexts: {a: {url: nonsense}}', /a: url is not a URL/],
    ['{', /contexts\.yaml: /],
  ])('a broken file (%s) is reported with 78', async (text, said) => {
    mkdirSync(join(env.XDG_CONFIG_HOME ?? '', 'cardpoll'), { recursive: true });
    writeFileSync(file, text);
    expect(await cli(['stats'], { env })).toMatchObject({ code: 78, stderr: expect.stringMatching(said) });
  });
});

describe('commands', () => {
  it('talk to the daemon of the context in use, with its token', async () => {
    const { url, requests } = await daemonThatSays(json(OVERVIEW));
    await context('add', 'prod', '--url', url, '--token-file', tokenFile);
    expect((await cli(['stats'], { env })).code).toBe(0);
    expect(requests[0]?.headers.authorization).toBe('Bearer viewer-token-0001');
  });

  it.each([
    ['--url', (url: string) => ({ argv: ['stats', '--url', url], extra: {} })],
    ['CARDPOLL_URL', (url: string) => ({ argv: ['stats'], extra: { CARDPOLL_URL: url } })],
  ])('talk to what %s names instead, and never show it the token of the context', async (_, told) => {
    const { url, requests } = await daemonThatSays(json(OVERVIEW));
    await context('add', 'prod', '--url', 'http://127.0.0.1:1', '--token-file', tokenFile);
    const { argv, extra } = told(url);
    expect((await cli(argv, { env: { ...env, ...extra } })).code).toBe(0);
    expect(requests[0]?.headers.authorization).toBeUndefined();
  });

  it('name the context where they ask', async () => {
    const { url } = await daemonThatSays(json(CONFIG));
    await context('add', 'prod', '--url', url);
    const plan = await cli(['configs', 'disable', '3', '--dry-run'], { env });
    expect(plan.stdout.split('\n')[0]).toBe(`On prod (${url}):`);
    const asked = await cli(['configs', 'disable', '3'], { env, tty: true, input: 'n\n' });
    expect([asked.code, asked.stderr.split('\n')[0]]).toEqual([1, `On prod (${url}):`]);
  });

  it('need no file', async () => {
    const { url } = await daemonThatSays(json(OVERVIEW));
    expect((await cli(['stats', '--url', url], { env })).code).toBe(0);
    expect(existsSync(file)).toBe(false);
  });
});
