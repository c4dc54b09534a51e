// The profiles that cardpoll ships: what an operator reads at their head, what they must not contain, and that the worked
// examples of docs/gateways.md show them as they are.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const FOLDER = fileURLToPath(new URL('../../../src/config/profiles/', import.meta.url));
const VENDORS = readdirSync(FOLDER).filter((file) => file !== 'default.yaml');
const CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  basic: ['CARDPOLL_GATEWAY_USERNAME', 'CARDPOLL_GATEWAY_PASSWORD'],
  oauth2: ['CARDPOLL_GATEWAY_CLIENT_ID', 'CARDPOLL_GATEWAY_CLIENT_SECRET'],
  query: ['CARDPOLL_GATEWAY_TOKEN'],
  header: ['CARDPOLL_GATEWAY_TOKEN'],
};

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
    expect(CREDENTIALS[profile.auth.kind]?.filter((name) => !head.includes(name))).toEqual([]);
  });

  it('contains no address and no secret', () => {
    expect(profile.url).toBeUndefined();
    expect(text.slice(head.length)).not.toMatch(/https?:\/\/|secret|password|bearer/i);
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
    const known = ['iccid', 'iccids', 'card_id', 'carrier_id', 'month', 'date'];
    expect([...used].filter((name) => !known.includes(name as string))).toEqual([]);
  });
});

describe('docs/gateways.md', () => {
  const page = readFileSync(fileURLToPath(new URL('../../../docs/gateways.md', import.meta.url)), 'utf8');
  const examples = [...page.matchAll(/^### .*: `([\w-]+)`$([\s\S]*?)(?=^##)/gm)].map(
    ([, name = '', text = '']) => ({
      name,
      lines: text.split('\n').filter((line) => line.startsWith('    ')),
    }),
  );

  it('has four worked examples', () => {
    expect(examples.map(({ name }) => name)).toHaveLength(4);
  });

  it.each(examples)('shows $name as it is shipped', ({ name, lines }) => {
    const shipped: unknown = parse(readFileSync(`${FOLDER}${name}.yaml`, 'utf8'));
    expect(shipped).toMatchObject(parse(lines.map((line) => line.slice(4)).join('\n')) as object);
  });
});
