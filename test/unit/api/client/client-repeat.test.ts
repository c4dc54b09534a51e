// The client's POST: sent again under the same key, once where the connection breaks, and until its time is over where the
// answer says that the work goes on.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { apiClient } from '../../../../src/api/client/client.ts';
import { VERSION_HEADER } from '../../../../src/resources/endpoints.ts';

interface Seen {
  readonly method: string | undefined;
  readonly key: string | undefined;
  readonly body: string;
}

/** A server that breaks the connection of its first requests. */
async function server(breaks: number, answer: (response: ServerResponse, attempt: number) => void) {
  const seen: Seen[] = [];
  const http = createServer(async (request: IncomingMessage, response) => {
    const body = await text(request);
    seen.push({ method: request.method, key: request.headers['idempotency-key'] as string, body });
    if (seen.length <= breaks) request.socket.resetAndDestroy();
    else answer(response, seen.length);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const ended = new AbortController();
  const client = apiClient({
    url,
    token: null,
    tokenFrom: null,
    timeoutMs: 10_000,
    signal: ended.signal,
    clock: { sleep: () => nextTurn() },
  });
  return { seen, ended, client };
}

const ok = (response: ServerResponse) => {
  response.writeHead(200, { [VERSION_HEADER]: '0.3.0' }).end('{"task_type":"realname"}');
};

it('sends a POST again once, under the same key', async () => {
  const { seen, client } = await server(1, ok);
  expect((await client.resetConcurrency('realname')).body).toEqual({ task_type: 'realname' });
  expect(seen).toHaveLength(2);
  expect(seen[0]).toEqual(seen[1]);
  expect(seen[0]).toMatchObject({ method: 'POST', key: expect.stringMatching(/^[0-9a-f-]{36}$/) });
});

it('uses another key for another request', async () => {
  const { seen, client } = await server(0, ok);
  await client.resetConcurrency('realname');
  await client.resetConcurrency('realname');
  expect(new Set(seen.map(({ key }) => key)).size).toBe(2);
});

it('gives up when the connection breaks twice', async () => {
  const { seen, client } = await server(2, ok);
  await expect(client.resetConcurrency('realname')).rejects.toMatchObject({ kind: 'unavailable' });
  expect(seen).toHaveLength(2);
});

it('does not repeat what was answered otherwise, nor other methods', async () => {
  const busy = await server(0, (response) => {
    response.writeHead(503).end();
  });
  await expect(busy.client.resetConcurrency('realname')).rejects.toMatchObject({ kind: 'unavailable' });
  expect(busy.seen).toHaveLength(1);
  const { seen, client } = await server(1, ok);
  await expect(client.setConcurrency('realname', 5)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(seen).toMatchObject([{ method: 'PUT', key: undefined }]);
});

const unfinished = (response: ServerResponse, status: number, code: string) => {
  response.writeHead(status, { 'content-type': 'application/problem+json' });
  response.end(JSON.stringify({ title: code, status, code }));
};

it('asks under the same key until the work is done that was too slow for its first answer', async () => {
  const { seen, client } = await server(0, (response, attempt) => {
    if (attempt < 4) unfinished(response, 503, 'store_timeout');
    else ok(response);
  });
  expect((await client.resetConcurrency('realname')).body).toEqual({ task_type: 'realname' });
  expect(seen).toHaveLength(4);
  expect(new Set(seen.map(({ key }) => key)).size).toBe(1);
});

it('asks again while a daemon of release 0.2 says that the first attempt runs', async () => {
  const { seen, client } = await server(0, (response, attempt) => {
    if (attempt === 1) unfinished(response, 409, 'idempotency_request_running');
    else ok(response);
  });
  expect((await client.resetConcurrency('realname')).body).toEqual({ task_type: 'realname' });
  expect(seen).toHaveLength(2);
});

it('believes the answer to a change when the daemon cannot be asked who gave it', async () => {
  const older = await server(0, (response, attempt) => {
    if (attempt === 1) response.end('{"task_type":"realname"}');
    else response.socket?.resetAndDestroy();
  });
  expect((await older.client.resetConcurrency('realname')).body).toEqual({ task_type: 'realname' });
  const foreign = await server(0, (response) => response.end('{"name":"another"}'));
  await expect(foreign.client.resetConcurrency('realname')).rejects.toMatchObject({ code: 'not_cardpoll' });
});

it('says what the answer was when the time is over before the work', async () => {
  const { seen, ended, client } = await server(0, (response, attempt) => {
    if (attempt < 3) unfinished(response, 503, 'store_timeout');
    else ended.abort(new DOMException('over', 'TimeoutError')); // as a deadline does
  });
  await expect(client.resetConcurrency('realname')).rejects.toMatchObject({
    kind: 'unavailable',
    code: 'store_timeout',
  });
  expect(seen).toHaveLength(3);
});

it.each<[string, (response: ServerResponse) => void]>([
  ['it asked too often', (response) => unfinished(response, 429, 'rate_limited')],
  ['a store is away', (response) => unfinished(response, 503, 'redis_unreachable')],
  ['the daemon is gone', (response) => response.socket?.resetAndDestroy()],
])('says that the change may still be made where %s in between', async (_, then) => {
  const { client } = await server(0, (response, attempt) => {
    if (attempt === 1) unfinished(response, 503, 'store_timeout');
    else then(response);
  });
  await expect(client.resetConcurrency('realname')).rejects.toMatchObject({ code: 'store_timeout' });
});

it('says why the change was refused in the end', async () => {
  const { client } = await server(0, (response, attempt) => {
    if (attempt === 1) unfinished(response, 503, 'store_timeout');
    else unfinished(response, 422, 'out_of_bounds');
  });
  await expect(client.resetConcurrency('realname')).rejects.toMatchObject({ code: 'out_of_bounds' });
});

it('is ended at once while it waits for the work', async () => {
  const { ended, client } = await server(0, (response, attempt) => {
    if (attempt === 1) unfinished(response, 503, 'store_timeout');
    else ended.abort(new Error('Ctrl-C'));
  });
  await expect(client.resetConcurrency('realname')).rejects.toThrow('Ctrl-C');
});
