import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { snakeCase } from '../../../../../src/platform/snake-keys.ts';
import { CLAIM_REPLY, COUNTS_REPLY, namedReply } from '../../../../../src/store/redis/work/script-values.ts';

it.each([
  ['work-claim.lua', CLAIM_REPLY],
  ['work-counts.lua', COUNTS_REPLY],
])('%s returns what its reply names, in that order', (script, reply) => {
  const url = new URL(`../../../../../src/store/redis/work/${script}`, import.meta.url);
  const returned = [...readFileSync(url, 'utf8').matchAll(/return \{ (.*) \}/g)].map(([, names]) => names);
  expect(returned).toEqual([Object.keys(reply).map(snakeCase).join(', ')]);
});

it('gives every value its name', () => {
  expect(namedReply({ token: '', late: [0] }, ['7', [1, 2]])).toEqual({ token: '7', late: [1, 2] });
});
