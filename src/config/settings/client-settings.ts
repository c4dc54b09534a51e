// Settings of every command that talks to a daemon. Part of the settings table (settings.ts).
import { secretText } from '../admin-tokens.ts';
import { baseUrl, duration } from '../kinds.ts';
import { optional, withDefault } from './setting.ts';

const client = ['client'] as const;

export const CLIENT = {
  url: withDefault({
    flag: '--url',
    env: 'CARDPOLL_URL',
    yaml: 'client.url',
    kind: baseUrl(),
    default: 'http://127.0.0.1:7480',
    doc: 'Base URL of the daemon to talk to. Without it, the context in use counts, then `listen`.',
    scopes: client,
  }),
  token: optional({
    env: 'CARDPOLL_TOKEN',
    file: { flag: '--token-file', env: 'CARDPOLL_TOKEN_FILE', credential: 'client.token' },
    kind: secretText(),
    doc: 'Token to send to the daemon.',
    scopes: client,
  }),
  timeoutMs: withDefault({
    flag: '--timeout',
    env: 'CARDPOLL_TIMEOUT_MS',
    yaml: 'client.timeout_ms',
    kind: duration('ms', { min: 100, max: 600_000 }),
    default: 10_000,
    doc: 'How long to wait for an answer from the daemon.',
    scopes: client,
  }),
} as const;
