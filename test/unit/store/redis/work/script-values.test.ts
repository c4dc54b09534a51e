import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { snakeCase } from '../../../../../src/platform/snake-keys.ts';
import type { Settlement } from '../../../../../src/store/ports/live/work-queue.ts';
import {
  CLAIM_REPLY,
  COUNTS_REPLY,
  namedReply,
  settleGroups,
} from '../../../../../src/store/redis/work/script-values.ts';

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

it('names the token of a claim once for all of its cards', () => {
  const settlement = (member: string, token: string, verdict: Settlement['verdict']): Settlement => {
    const item = { cardId: Number(member), lane: 'schedule', member, token } as const;
    return { item, verdict, random: 0.5, waitMs: 3 };
  };
  const settled = [
    settlement('7', '1.5', 'done'),
    settlement('9', '2.5', 'done'),
    settlement('8', '1.5', 'done'),
  ];
  expect(settleGroups([...settled, settlement('6', '1.5', 'failed')])).toEqual(
    [[2, '1.5', 2, '7', '8', '2.5', 1, '9'], [1, '1.5', 1, '6', 3, 0.5], 0, 0, 0, 0].flat(),
  );
});
