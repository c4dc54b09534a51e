// The robots of four chats, as their pages describe them, for tests of webhooks: each answers 200 and says in the body whether the
// message is shown. It knows nothing of cardpoll's code. The path chooses the robot; `?secret=` has it check signatures.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatRobots {
  readonly url: string;
  /** The texts that a person sees, in order. */
  readonly shown: string[];
  /** All requests, refused ones too. */
  readonly asked: string[];
  close(): void;
}

interface Said {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
  readonly shown?: string;
}
type Json = Record<string, unknown>;
type Robot = (message: Json, url: URL) => Said;

const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64');
const contentOf = (message: Json, field: string) =>
  String((message[field] as Json | undefined)?.content ?? '');

const dingtalk: Robot = (message, url) => {
  const secret = url.searchParams.get('secret');
  if (message.msgtype !== 'text') return { body: { errcode: 40035, errmsg: 'missing parameter msgtype' } };
  const timestamp = url.searchParams.get('timestamp') ?? '';
  if (secret !== null && url.searchParams.get('sign') !== hmac(secret, `${timestamp}\n${secret}`)) {
    return { body: { errcode: 310000, errmsg: 'sign not match' } };
  }
  const text = contentOf(message, 'text');
  if (!text.includes('告警')) return { body: { errcode: 310000, errmsg: 'keywords not in content' } };
  return { body: { errcode: 0, errmsg: 'ok' }, shown: text };
};

const wecom: Robot = (message) => {
  if (message.msgtype !== 'text') return { body: { errcode: 40008, errmsg: 'invalid message type' } };
  const text = contentOf(message, 'text');
  if (Buffer.byteLength(text) > 2_048)
    return { body: { errcode: 45002, errmsg: 'content size out of limit' } };
  return { body: { errcode: 0, errmsg: 'ok' }, shown: text };
};

const feishu: Robot = (message, url) => {
  const secret = url.searchParams.get('secret');
  if (message.msg_type !== 'text') return { body: { code: 9499, msg: 'Bad Request', data: {} } };
  if (secret !== null && message.sign !== hmac(`${message.timestamp}\n${secret}`, '')) {
    return {
      body: { code: 19021, msg: 'sign match fail or timestamp is not within one hour from current time' },
    };
  }
  return { body: { code: 0, msg: 'success', data: {} }, shown: String((message.content as Json).text) };
};

const slack: Robot = (message) => {
  if (typeof message.text !== 'string') return { status: 400, body: 'no_text' };
  return { body: 'ok', shown: message.text };
};

const ROBOTS: Readonly<Record<string, Robot>> = {
  '/dingtalk': dingtalk,
  '/wecom': wecom,
  '/feishu': feishu,
  '/slack': slack,
  '/html': () => ({ body: '<html>Sign in</html>' }),
  '/empty': () => ({ body: '' }),
  '/busy-robot': () => ({ body: { errcode: 45009, errmsg: 'api freq out of limit' } }),
  '/moved': () => ({ status: 302, headers: { location: '/slack' }, body: '' }),
  '/busy': () => ({ status: 429, headers: { 'retry-after': '120' }, body: {} }),
  '/gone-token': (_, url) => ({
    body: { errcode: 300001, errmsg: `token ${url.searchParams.get('access_token')} is not exist` },
  }),
};

export async function startChatRobots(): Promise<ChatRobots> {
  const shown: string[] = [];
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://robot');
    const said = ROBOTS[url.pathname]?.(await jsonOf(request), url) ?? { status: 404, body: '' };
    asked.push(url.pathname);
    if (said.shown !== undefined) shown.push(said.shown);
    response.writeHead(said.status ?? 200, said.headers);
    response.end(typeof said.body === 'string' ? said.body : JSON.stringify(said.body));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, shown, asked, close: () => void server.close() };
}

async function jsonOf(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Json;
}
