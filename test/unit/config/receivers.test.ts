// webhooks.receivers: what a template may say, where its secrets come from, and what is refused, all of it at once.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadDaemonConfig } from '../../../src/config/load-config.ts';
import { SHIPPED_RECEIVERS } from '../../../src/config/receivers/shipped-receivers.ts';
import type { Receivers } from '../../../src/domain/alerts/receiver.ts';
import { CardpollError } from '../../../src/platform/errors.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory('receivers');
let files = 0;

function file(name: string, content: string, mode = 0o600): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

async function load(receivers: string, env: Record<string, string> = {}, extra = ''): Promise<Receivers> {
  files += 1;
  const yaml = `gateway: { url: "http://gateway:8080" }\nwebhooks:\n  receivers:\n${receivers.replace(/^/gm, '    ')}\n${extra}`;
  const path = file(`cardpoll-${files}.yaml`, yaml);
  const { webhooks } = await loadDaemonConfig({ flags: { '--config': path }, env: { HOME: '/h', ...env } });
  return webhooks.receivers;
}

async function refusal(receivers: string): Promise<string> {
  const error = await load(receivers).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CardpollError);
  return (error as CardpollError).message;
}

describe('a receiver', () => {
  it('is shipped under the name of its file in deploy/receivers', () => {
    const names = readdirSync('deploy/receivers').map((name) => name.replace(/\.yaml$/, ''));
    expect(Object.keys(SHIPPED_RECEIVERS).sort()).toEqual(names.sort());
    for (const name of names) {
      expect(SHIPPED_RECEIVERS[name]).toBe(readFileSync(`deploy/receivers/${name}.yaml`, 'utf8'));
    }
  });

  it('may be a shipped one with secrets from files, by name or in its place', async () => {
    file('key', 'key-0123456789\n');
    const { oncall, gotify } = await load(
      [
        'oncall: { template: pagerduty, secrets: { routing_key: key } }',
        'gotify: { template: gotify, url: "https://gotify.example/message", secrets: { token: ./key } }',
      ].join('\n'),
    );
    expect(oncall).toMatchObject({ from: 'configured', secrets: { routing_key: 'key-0123456789' } });
    expect(gotify).toMatchObject({ secrets: { token: 'key-0123456789' }, accept: { path: 'id' } });
  });

  it('takes a secret that systemd or secret_files give under its name', async () => {
    const credentials = join(directory, 'credentials');
    mkdirSync(credentials);
    writeFileSync(join(credentials, 'webhooks.receivers.oncall.routing_key'), 'credential', { mode: 0o600 });
    const env = { CREDENTIALS_DIRECTORY: credentials };
    expect((await load('oncall: pagerduty', env)).oncall).toMatchObject({
      secrets: { routing_key: 'credential' },
    });
    const named = `secret_files: ["${credentials}/*"]`;
    expect((await load('oncall: pagerduty', {}, named)).oncall).toMatchObject({
      secrets: { routing_key: 'credential' },
    });
  });

  it('may be a file or a template in place, whose keys take the place of those of the shipped one', async () => {
    file(
      'own.yaml',
      'hosts: [h.example]\nurl: "{url}/send"\nmethod: PUT\ntext: "{text}"\naccept: { status: [201] }\n',
    );
    const { own, house, ours } = await load(
      [
        'own: ./own.yaml',
        'house: { body: { msg: "{title}", level: "{level}" }, words: { level: { alert: 1, warning: 2, info: 3 } } }',
        'ours: { template: slack, max_bytes: 500 }',
      ].join('\n'),
    );
    expect(own).toMatchObject({
      hosts: ['h.example'],
      request: { method: 'PUT', url: '{url}/send', body: null },
      accept: { status: [201] },
    });
    expect(house).toMatchObject({
      request: { method: 'POST', url: '{url}' },
      words: { level: { alert: 1 } },
    });
    // Its URL alone still means the shipped one.
    expect(ours).toMatchObject({ maxBytes: 500, hosts: [], escapes: { '<': '&lt;' } });
  });

  it.each([
    ['a name with a dash', 'on-call: slack', /"on-call" is no name of 1 to 40 letters/],
    ['the name standard', 'standard: slack', /"standard" is no name/],
    ['a shipped one that there is not', 'own: slak', /slak is no shipped receiver \(did you mean slack\?\)/],
    [
      'a circle of templates',
      'a: { template: b }\nb: { template: a }',
      /a: b is no shipped receiver[\s\S]*b: a is no shipped/,
    ],
    ['a file that there is not', 'own: ./none.yaml', /none\.yaml/],
    [
      'a placeholder that there is not',
      'own: { body: { x: "{titel}" } }',
      /\{titel\} is no placeholder here; there are \{text\}, \{title\}/,
    ],
    [
      'a table that means itself',
      'own: { text: "{a}", words: { a: { fired: "{a}", resolved: "{b}" } } }',
      /fired: a word has no placeholders; resolved: a word has no/,
    ],
    [
      'half a table',
      'own: { text: "{a}", words: { a: { fired: x, warning: y } } }',
      /a: needs fired and resolved, or alert, warning, info/,
    ],
    [
      'a table that is a placeholder',
      'own: { text: x, words: { text: { fired: x, resolved: y } } }',
      /text is a placeholder already/,
    ],
    [
      'a secret in a header',
      'own: { headers: { authorization: Bearer abc123 } }',
      /authorization: write \{secret_NAME\}; a secret is never in a template/,
    ],
    [
      'a secret deep in a body',
      'own: { body: { a: [{ api_key: abc123 }] } }',
      /api_key: write \{secret_NAME\}/,
    ],
    ['a secret in a query', 'own: { url: "https://h.example/x?access_token=abc123" }', /access_token: write/],
    ['a password in a URL', 'own: { url: "https://me:abc123@h.example/x" }', /url: must be \{url\}/],
    ['a host with a placeholder', 'own: { url: "https://{secret_host}/x" }', /url: must be \{url\}/],
    ['a method that there is not', 'own: { method: FETCH }', /"FETCH" is none of POST, PUT/],
    ['two bodies', 'own: { body: { a: b }, text: c }', /give either body or text/],
    [
      'values without a place',
      'own: { accept: { values: [1] } }',
      /accept: path is missing; needs status or path/,
    ],
    ['a status of an error', 'own: { accept: { status: [404] } }', /404 is out of bounds \(200 to 299\)/],
    ['a signature in every message', 'own: { text: "{feishu_sign}" }', /\{feishu_sign\}: only below signed/],
    [
      'a body of a megabyte',
      `own: { body: { a: "${'x'.repeat(600_000)}" } }`,
      /body: is longer than 16384 characters/,
    ],
    [
      'a secret that the template does not have',
      'own: { template: slack, secrets: { key: ./key } }',
      /secrets: key: the template has no such secret/,
    ],
    [
      'secrets for the URL of a rule',
      'own: { template: gotify, secrets: { token: ./key } }',
      /url: is missing; secrets of the configuration go to a URL/,
    ],
    [
      'a secret that all can read',
      'own: { template: pagerduty, secrets: { routing_key: ./open } }',
      /every user can read/,
    ],
    [
      'a file of secrets that there is not',
      'own: { template: pagerduty, secrets: { routing_key: ./gone } }',
      /webhooks\.receivers\.own\.routing_key: .*gone/,
    ],
    ['an unknown key', 'own: { boddy: {} }', /unknown key boddy/],
  ])('is refused with %s', async (_, receivers, problem) => {
    file('key', 'key-0123456789\n');
    file('open', 'key-0123456789\n', 0o644);
    const message = await refusal(receivers);
    expect(message).toMatch(problem);
    expect(message).not.toMatch(/abc123|key-0123456789/);
    expect(message.length).toBeLessThan(2_000);
  });

  it('is refused with all problems of all templates at once', async () => {
    file('bad.yaml', 'url: ftp://x\nheaders: { host: x }\nbody: { a: "{nope}" }\n');
    const message = await refusal('one: ./bad.yaml\ntwo: { method: FETCH }');
    expect(message).toMatch(
      /one: url: must be[\s\S]*headers: "host" cannot[\s\S]*\{nope\} is no placeholder[\s\S]*two: method/,
    );
  });

  it('is refused with a secret of two lines, which the message does not show', async () => {
    file('long', 'first-line\nsecond-line');
    const message = await refusal('own: { template: pagerduty, secrets: { routing_key: ./long } }');
    expect(message).toMatch(/is not one line of printable ASCII/);
    expect(message).not.toContain('first-line');
  });

  it('is refused with aliases in its file, which could grow without bound', async () => {
    file('alias.yaml', 'text: "{text}"\nheaders: &a { x: y }\nquery: *a\n');
    expect(await refusal('own: ./alias.yaml')).toMatch(/anchors \(&\) and aliases \(\*\) are not supported/);
  });
});
