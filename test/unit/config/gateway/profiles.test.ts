// The profiles that cardpoll ships: what an operator reads at their head, what they must not contain, and that the worked
// examples of docs/gateways.md and the types in docs/gateway-modules.md are as they are.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadDaemonConfig } from '../../../../src/config/load-config.ts';
import {
  CREDENTIAL_PLACEHOLDERS,
  namesInBraces,
  PLACEHOLDERS,
} from '../../../../src/domain/gateway/profile-syntax.ts';

const FOLDER = fileURLToPath(new URL('../../../../src/config/gateway/profiles/', import.meta.url));
const VENDORS = readdirSync(FOLDER).filter((file) => file !== 'default.yaml');
const CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  bearer: ['CARDPOLL_GATEWAY_TOKEN'],
  basic: ['CARDPOLL_GATEWAY_USERNAME', 'CARDPOLL_GATEWAY_PASSWORD'],
  oauth2: ['CARDPOLL_GATEWAY_CLIENT_ID', 'CARDPOLL_GATEWAY_CLIENT_SECRET'],
  query: ['CARDPOLL_GATEWAY_TOKEN'],
  header: ['CARDPOLL_GATEWAY_TOKEN'],
};

/** The variables of a profile's credentials. */
function variablesOf(profile: Profile): string[] {
  const named = namesInBraces(JSON.stringify(profile));
  const own = CREDENTIAL_PLACEHOLDERS.filter((name) => named.includes(name));
  const fixed = CREDENTIALS[profile.auth.kind] ?? [];
  return [...fixed, ...own.map((name) => `CARDPOLL_GATEWAY_${name.toUpperCase()}`)];
}

interface Profile {
  readonly auth: { readonly kind: string };
  readonly url?: unknown;
  readonly interfaces: Readonly<Record<string, object>>;
}

describe.each(VENDORS)('%s', (file) => {
  const text = readFileSync(FOLDER + file, 'utf8');
  const head = text.slice(0, text.search(/^[^#]/m));
  const profile = parse(text) as Profile;

  it('says at its head what it follows, what to set and with which variables', () => {
    expect(head).toMatch(/https:\/\//);
    expect(head).toContain('Not endorsed by');
    expect(head).toContain('gateway.url');
    expect(variablesOf(profile)).not.toEqual([]);
    expect(variablesOf(profile).filter((name) => !head.includes(name))).toEqual([]);
  });

  it('contains no address and no secret', () => {
    expect(profile.url).toBeUndefined();
    const values = text.slice(head.length).replaceAll(/\w+: "\{\w+\}"/g, '');
    expect(values).not.toMatch(/https?:\/\/|secret|password|(?<!kind: )bearer/i);
  });

  it('is accepted with its credentials', async () => {
    const credentials = variablesOf(profile).map((name) => [name, 'a-credential']);
    const config = await loadDaemonConfig({
      flags: { '--gateway-url': 'https://gateway.example/api' },
      env: {
        HOME: '/home/sre',
        CARDPOLL_GATEWAY_PROFILE: file.replace('.yaml', ''),
        CARDPOLL_REDIS_URL: 'redis://redis:6379',
        CARDPOLL_DATABASE_URL: 'postgres://db/cardpoll',
        ...Object.fromEntries(credentials),
      },
    });
    expect(config.gateway.interfaces.flow).not.toBeNull();
  });

  it('describes every interface', () => {
    expect(Object.keys(profile.interfaces).sort()).toEqual([
      'card_status',
      'flow',
      'realname',
      'start',
      'stop',
    ]);
  });

  it('uses no other placeholders than there are', () => {
    const used = new Set([...text.slice(head.length).matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    const known: readonly unknown[] = [...PLACEHOLDERS, ...CREDENTIAL_PLACEHOLDERS];
    expect([...used].filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('the pages about gateways', () => {
  const pageOf = (name: string) =>
    readFileSync(fileURLToPath(new URL(`../../../../docs/${name}.md`, import.meta.url)), 'utf8');
  const page = pageOf('gateways');
  const examples = [...page.matchAll(/^### .*: `([\w-]+)`$([\s\S]*?)(?=^##)/gm)].map(
    ([, name = '', text = '']) => ({
      name,
      lines: text.split('\n').filter((line) => line.startsWith('    ')),
    }),
  );

  it('has four worked examples', () => {
    expect(examples.map(({ name }) => name)).toHaveLength(4);
  });

  it('prints the types of a module as they are', () => {
    const file = new URL('../../../../src/domain/gateway/gateway-module.ts', import.meta.url);
    const types = readFileSync(fileURLToPath(file), 'utf8').replace(
      /^[\s\S]*?(?=export interface GatewayModule)/,
      '',
    );
    expect(pageOf('gateway-modules')).toContain(types.trimEnd().replaceAll(/^(?=.)/gm, '    '));
  });

  it.each(examples)('shows $name as it is shipped', ({ name, lines }) => {
    const shipped: unknown = parse(readFileSync(`${FOLDER}${name}.yaml`, 'utf8'));
    expect(shipped).toMatchObject(parse(lines.map((line) => line.slice(4)).join('\n')) as object);
  });
});
