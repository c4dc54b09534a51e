// What goes wrong ends as one line on stderr and the exit code of its kind.
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/platform/version.ts';
import { VERSION_HEADER } from '../../../src/resources/endpoints.ts';
import { freePort } from '../../support/free-port.ts';
import { OVERVIEW } from './bodies.ts';
import { cli, daemonThatSays, json } from './cli-under-test.ts';

const ONE_LINE = /^cardpoll: [^\n]+\n$/;
const SIMULATE = ['gateway', 'simulate', '--listen', '127.0.0.1:0'];

/** As another program answers, or a daemon before 0.3. */
function withoutVersion(reply: Parameters<typeof daemonThatSays>[0]): typeof reply {
  return (request, response) => {
    response.removeHeader(VERSION_HEADER);
    reply(request, response);
  };
}

describe('the daemon', () => {
  it('is down: 69, with how to start it', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stdout, stderr } = await cli(['stats', '--url', url]);
    expect([code, stdout]).toEqual([69, '']);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toMatch(/cannot reach the daemon at http.*ECONNREFUSED.*cardpoll daemon.*--url/);
  });

  it('is slow: 69 after the timeout', async () => {
    const { env } = await daemonThatSays(() => {});
    const { code, stderr } = await cli(['stats', '--timeout', '150ms'], { env });
    expect(code).toBe(69);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toMatch(/no answer within 150 ms.*hint: it may be slow.*--timeout/);
  });

  it('stops in the middle of an answer: 69', async () => {
    const { env } = await daemonThatSays((_, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{');
      setImmediate(() => response.destroy());
    });
    const { code, stderr } = await cli(['stats'], { env });
    expect(code).toBe(69);
    expect(stderr).toMatch(ONE_LINE);
  });

  it.each(['stats', 'stats tasks', 'stats failures', 'concurrency advise', 'dashboard --once', 'explain 42'])(
    'has another version, whose answer cannot be shown: 69, with both versions (%s)',
    async (command) => {
      // What a version may leave out: everything but what says that it is a cardpoll.
      const lacking = { version: '0.1.9', tasks: [{}], items: [{}], logs_command: null };
      const { env } = await daemonThatSays(json(JSON.stringify(lacking)));
      const { code, stderr } = await cli(command.split(' '), { env });
      expect(stderr).toMatch(ONE_LINE);
      expect(stderr).toMatch(
        /the daemon is 0\.1\.9, this command is \d+\.\d+\.\d+.*hint: install the version of/,
      );
      expect(code).toBe(69);
    },
  );

  it('has this version and sends what cannot be shown: that is a bug', async () => {
    const lacking = { version: VERSION, tasks: [{}] };
    const { env } = await daemonThatSays(json(JSON.stringify(lacking)));
    const { code, stderr } = await cli(['stats'], { env });
    expect([code, stderr]).toEqual([70, expect.stringMatching(/^cardpoll: unexpected error: /)]);
  });

  it.each([
    ['text', json('hello')],
    ['a page', json('<html><body>it works</body></html>')],
    ['a redirect', json('', 302)],
    ['that it has no such page', json('<html><body>404 Not Found</body></html>', 404)],
    ['a list', json('[]')],
    ['an object of something else', json({ hello: 'world' })],
    ['what a daemon would', json(OVERVIEW)],
  ])('is something else that says %s: 69', async (_, reply) => {
    const { env } = await daemonThatSays(withoutVersion(reply));
    const { code, stdout, stderr } = await cli(['stats'], { env });
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toContain('is not cardpoll');
    expect([code, stdout]).toEqual([69, '']);
  });

  it('is of release 0.2.0, which names its version only when it is asked: 0', async () => {
    const { env, requests } = await daemonThatSays(
      withoutVersion((request, response) =>
        json(request.line === 'GET /version' ? { name: 'cardpoll', version: '0.2.0' } : OVERVIEW)(
          request,
          response,
        ),
      ),
    );
    const { code, stderr } = await cli(['stats'], { env });
    expect([code, stderr]).toEqual([0, '']);
    expect(requests.map(({ line }) => line)).toEqual(['GET /api/admin/polling-stats', 'GET /version']);
  });

  it('has no such path, because it is older or serves only probes: 1, and both are named', async () => {
    const detail = 'this path is not served here'; // In whatever words: the code says it.
    const problem = { title: 'Not Found', status: 404, code: 'not_found', detail };
    const { env } = await daemonThatSays(json(problem, 404));
    const { code, stderr } = await cli(['stats'], { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toMatch(/is not served here.*older than this command, or .*without the role api/);
  });

  it('does not speak HTTPS: 69, and how the URL may begin', async () => {
    const { url } = await daemonThatSays(json({}));
    const { code, stderr } = await cli(['stats', '--url', url.replace('http:', 'https:')]);
    expect(code).toBe(69);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toMatch(/does not speak HTTPS.*reached at http:/);
  });

  it('does not speak HTTP: 69', async () => {
    const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    const port = await freePort();
    await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
    try {
      const { code, stderr } = await cli(['stats', '--url', `http://127.0.0.1:${port}`]);
      expect(code).toBe(69);
      expect(stderr).toMatch(ONE_LINE);
      expect(stderr).toMatch(/is not cardpoll.*another program listens there/);
    } finally {
      server.close();
    }
  });

  it.each([
    [400, 65],
    [401, 77],
    [403, 77],
    [404, 1],
    [409, 75],
    [413, 65],
    [415, 65],
    [422, 65],
    [429, 75],
    [500, 70],
    [502, 69],
    [503, 69],
  ])('answers %i: exit code %i, with what the problem says', async (status, expected) => {
    const problem = {
      type: 'about:blank',
      title: 'No',
      status,
      detail: 'this\ncannot be',
      code: 'some_code',
    };
    const { env } = await daemonThatSays(json(problem, status));
    const { code, stdout, stderr } = await cli(['stats'], { env });
    expect([code, stdout]).toEqual([expected, '']);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toContain('this cannot be');
  });

  it('answers 422: every wrong field is named once', async () => {
    const problem = {
      title: 'Unprocessable',
      status: 422,
      detail: 'max_concurrency must be 1 to 100000',
      errors: [
        { field: 'max_concurrency', message: 'must be 1 to 100000' },
        { field: 'extra', message: 'is not a known field' },
      ],
    };
    const { env } = await daemonThatSays(json(problem, 422));
    const { stderr } = await cli(['concurrency', 'set', 'realname', '5'], { env });
    expect(stderr).toBe('cardpoll: max_concurrency must be 1 to 100000; extra is not a known field\n');
  });

  it('answers 401: says how to give a token', async () => {
    const { env } = await daemonThatSays(json('Unauthorized', 401));
    const { code, stderr } = await cli(['stats'], { env });
    expect(code).toBe(77);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toMatch(/CARDPOLL_TOKEN.*--token-file/);
  });

  it('answers 401 to a token: names where it is from', async () => {
    const detail = 'the admin token is not known';
    const problem = { title: 'Unauthorized', status: 401, detail, hint: 'ask for one' };
    const { env } = await daemonThatSays(json(problem, 401));
    const { stderr } = await cli(['stats'], { env: { ...env, CARDPOLL_TOKEN: 'not-this-one-it-is' } });
    expect(stderr).toBe(
      'cardpoll: the admin token is not known (hint: the token of CARDPOLL_TOKEN was sent; ask for one)\n',
    );
  });

  it('answers 500 with garbage: 70', async () => {
    const { env } = await daemonThatSays(json('\u0000\u0001 boom', 500));
    const { code, stderr } = await cli(['stats'], { env });
    expect(code).toBe(70);
    expect(stderr).toMatch(ONE_LINE);
  });
});

describe('the client settings', () => {
  it.each([
    [['--timeout', 'soon'], {}, 64, /--timeout: "soon" is not/],
    [['--timeout', '1'], {}, 64, /--timeout: .*out of bounds/],
    [['--url', 'daemon'], {}, 64, /--url: is not a URL/],
    [['--token-file', '/nowhere/token'], {}, 66, /--token-file: no such file: \/nowhere\/token/],
    [[], { CARDPOLL_TOKEN_FILE: '/nowhere/token' }, 66, /CARDPOLL_TOKEN_FILE: no such file/],
    [[], { CARDPOLL_TIMEOUT_MS: 'soon' }, 78, /configuration: CARDPOLL_TIMEOUT_MS: "soon"/],
    [['--timeout', 'soon'], { CARDPOLL_URL: 'x' }, 78, /2 problems/],
  ])('%j %o: %i', async (flags, env, code, said) => {
    const outcome = await cli(['stats', ...flags], { env });
    expect(outcome).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(said) });
  });
});

describe('the command line', () => {
  it.each([
    [['stast'], /unknown command 'stast' \(did you mean stats\?\).*cardpoll --help/],
    [['import', '--help'], /unknown command 'import' \(did you mean cards import\?\).*cardpoll --help/],
    [['help', 'import'], /unknown command 'import' \(did you mean cards import\?\)/],
    [['import', 'cards.csv', '--dry-run'], /unknown command 'import' \(did you mean cards import\?\)/],
    [['list'], /unknown command 'list' \(hint: cardpoll --help\)/],
    [['cards', 'shw', '--help'], /unknown command 'shw' \(did you mean show\?\).*cardpoll cards --help/],
    [['concurrency', 'lst'], /unknown command 'lst' \(did you mean list\?\).*cardpoll concurrency --help/],
    [['cards', 'shw', '1'], /unknown command 'shw' \(did you mean show\?\)/],
    [['trigger', 'single', '--card-id', '1', '--task', 'realnam'], /--task: .*did you mean realname\?/],
    [['stats', '-o', 'jsn'], /did you mean json\?/],
    [['stats', '--watch=soon'], /--watch: "soon" is not/],
    [['--header', 'configs', 'list'], /'--header' is gone \(hint: .*-o tsv/],
    [['stats', '--header'], /'--header' is gone \(hint: .*-o tsv/],
    [['stats', '--wach'], /unknown option '--wach' \(did you mean --watch\?\).*cardpoll stats --help/],
    [['stats', 'falures'], /"falures" is none of .*\(did you mean failures\?\).*cardpoll stats --help/],
    [['stats', 'queues', 'tasks'], /too many arguments/],
    [['concurrency', 'set', 'realnam', '5'], /did you mean realname\?/],
    [['concurrency', 'set', 'realname'], /missing required argument 'n'/],
    [['concurrency', 'set', 'realname', '100001'], /out of bounds \(1 to 100000\)/],
    [['configs', 'set', '3'], /nothing to change/],
    [
      ['configs', 'set', '3', '--carrier-id', '7', '--all-carriers'],
      /'--all-carriers' cannot be used with option '--carrier-id <n>'/,
    ],
    [['configs', 'create', '--name', 'x'], /--task.*not specified.*cardpoll configs create --help/],
    [['cleanup', 'set-retention', '3', 'long'], /"long" is not a whole number/],
    [['stats', '-o', 'xml'], /"xml" is none of table, wide, tsv, json, jsonl, yaml/],
    [['gateway', 'profiles', 'show', 'default', '--json'], /"json" is none of yaml/],
    [['cards', 'export', '--json'], /"json" is none of csv, jsonl \(did you mean jsonl\?\)/],
    [['gateway', 'simulate', '--listen', '8090'], /is not host:port/],
    [[...SIMULATE, '--cards', '0'], /cards.*out of bounds/],
    [[...SIMULATE, '--cards', '1.5'], /cards.*not a whole number/],
    [[...SIMULATE, '--latency-ms', '-1'], /latency-ms.*out of bounds/],
    [[...SIMULATE, '--failure-rate', '1.1'], /failure-rate.*out of bounds/],
    [[...SIMULATE, '--max-concurrency', '0'], /max-concurrency.*out of bounds/],
    [[...SIMULATE, '--capacity', '0'], /capacity.*out of bounds/],
    [['gateway', '--url', 'http://127.0.0.1:1'], /a command is missing.*cardpoll gateway --help/],
    [['foo'], /unknown command 'foo' \(hint: cardpoll --help\)/],
    [['conc'], /unknown command 'conc' \(did you mean concurrency\?\)/],
  ])('%j: 64, one line and what helps', async (argv, expected) => {
    const { code, stdout, stderr } = await cli(argv);
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toMatch(expected);
  });

  it('reports a configuration that cannot work with 78, one line a problem', async () => {
    const { code, stderr } = await cli(['daemon', '--listen', '0.0.0.0:7480', '--roles', 'werker']);
    expect(code).toBe(78);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(stderr).toMatch(/--roles: "werker"[\s\S]*gateway URL[\s\S]*CARDPOLL_ADMIN_TOKENS/);
  });

  it('shows stacks only with --debug', async () => {
    const daemon = () => Promise.reject(new TypeError('boom'));
    const argv = ['daemon', '--gateway-url', 'http://gateway'];
    expect(await cli(argv, { launchers: { daemon } })).toEqual({
      code: 70,
      stdout: '',
      stderr: 'cardpoll: unexpected error: boom\n',
    });
    const { stderr } = await cli([...argv, '--debug'], { launchers: { daemon } });
    expect(stderr).toMatch(/TypeError: boom\n +at /);
  });
});

it('takes global options before and after the command', async () => {
  const { url, requests } = await daemonThatSays(json(OVERVIEW));
  for (const argv of [
    ['--url', url, '-o', 'json', 'stats', 'overview'],
    ['stats', '--url', url, 'overview', '-o', 'json'],
    ['stats', 'overview', '--json', '--url', url],
  ]) {
    expect((await cli(argv)).stdout, argv.join(' ')).toBe(`${JSON.stringify(OVERVIEW)}\n`);
  }
  expect(requests).toHaveLength(3);
});
