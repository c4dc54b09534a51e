// The Redis user of docs/security.md: the very line that operators are told to type.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { REPOSITORY } from './markdown.ts';

const NAME = 'cardpoll';

/** The words of the line, after `ACL SETUSER cardpoll`. */
export function documentedRules(): string[] {
  const page = readFileSync(join(REPOSITORY, 'docs/security.md'), 'utf8');
  const [, rules] = new RegExp(`^ {4}ACL SETUSER ${NAME} (.+)$`, 'm').exec(page) ?? [];
  if (rules === undefined) throw new Error('docs/security.md has no line "ACL SETUSER cardpoll ..."');
  return rules.split(' ');
}

/** Makes the user on these servers. @param change rules after the documented ones. @returns the URL with its credentials */
export async function asDocumentedUser(
  url: string,
  serverUrls: readonly string[],
  ...change: readonly string[]
): Promise<string> {
  const rules = documentedRules();
  for (const server of serverUrls) {
    const admin = new Redis(server);
    await admin.call('ACL', 'SETUSER', NAME, 'reset', ...rules, ...change);
    admin.disconnect();
  }
  const password = rules.find((rule) => rule.startsWith('>'))?.slice(1);
  return url.replace('://', `://${NAME}:${password}@`);
}
