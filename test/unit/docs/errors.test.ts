// docs/errors.md is the index of all codes of errors. `npm run errors` writes it anew.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type ErrorCode, errorCodesIn, errorIndex } from '../../support/error-codes.ts';
import { readSourceTree } from '../../support/source-tree.ts';

const tree = readSourceTree(fileURLToPath(new URL('../../../src', import.meta.url)));
/** Hand on the code of somebody else. */
const PASSED_ON = /^(log-search\/scan\/threads|operations\/limits\/recorded)\.ts$/;

it('docs/errors.md is what the source says', async () => {
  await expect(errorIndex(errorCodesIn(tree))).toMatchFileSnapshot('../../../docs/errors.md');
});

it('every error has a code that the index finds', () => {
  const found = errorCodesIn(tree).map(({ path }) => path);
  const without = tree.filter(
    ({ code, path }) => code.includes('new CardpollError(') && !found.includes(path),
  );
  expect(without.map(({ path }) => path).filter((path) => !PASSED_ON.test(path))).toEqual([]);
});

it.each<[string, Partial<ErrorCode>[]]>([
  [
    "new CardpollError('busy', 'lock_held', 'somebody, (else) has it')",
    [{ code: 'lock_held', status: 409, exitCode: 75, message: 'somebody, (else) has it' }],
  ],
  [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    "new CardpollError('io', 'no_room', `${f('a')} is full`, { hint })",
    [{ status: null, exitCode: 74, message: '… is full' }],
  ],
  [
    "new CardpollError(old ? 'busy' : 'config', old ? 'one' : 'two', text)",
    [
      { code: 'one', status: 409, exitCode: 75, message: '' },
      { code: 'two', status: null, exitCode: 78, message: '' },
    ],
  ],
  [
    "const LOST = 'is_lost';\nthrow new CardpollError(kind, LOST, 'x');",
    [{ code: 'is_lost', status: null, exitCode: null }],
  ],
  [
    "send({ status: 405, code: 'wrong_method', detail })",
    [{ code: 'wrong_method', status: 405, exitCode: null }],
  ],
  ["FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',", [{ code: 'too_large', status: 413 }]],
])('reads %j', (source, expected) => {
  expect(errorCodesIn([{ path: 'a.ts', source }])).toMatchObject(expected);
});
