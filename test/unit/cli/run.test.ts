// A token in clear text on the network: when a command warns of it.
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { Io } from '../../../src/cli/command.ts';
import { plainHttpWarning } from '../../../src/cli/run.ts';
import { cli } from './cli-under-test.ts';

function warnings(url: string, token: string | null, times = 1): string {
  const stderr = new PassThrough();
  const check = plainHttpWarning({ stderr } as unknown as Io);
  for (let time = 0; time < times; time += 1)
    check({ url, token, tokenFrom: null, context: null, contextTokenFile: null, timeoutMs: 1_000 });
  return String(stderr.read() ?? '');
}

it('warns once of a token to another machine over plain HTTP', () => {
  const warning = 'cardpoll: warning: the token is sent to poll.example:7480 over plain HTTP; use https://\n';
  expect(warnings('http://poll.example:7480', 'a-token', 3)).toBe(warning);
});

it.each([
  ['http://poll.example:7480', null],
  ['https://poll.example', 'a-token'],
  ['http://127.0.0.1:7480', 'a-token'],
  ['http://localhost:7480', 'a-token'],
  ['http://[::1]:7480', 'a-token'],
])('does not for %s with token %s', (url, token) => {
  expect(warnings(url, token)).toBe('');
});

it('comes with a command, also when nothing answers', async () => {
  const env = { CARDPOLL_URL: 'http://daemon.invalid:1', CARDPOLL_TOKEN: 'a-token-of-an-operator' };
  const { code, stderr } = await cli(['cards', 'show', '42'], { env });
  expect([code, stderr.match(/over plain HTTP/g)?.length]).toEqual([69, 1]);
});
