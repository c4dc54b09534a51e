import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shellQuoted, shellWord } from '../../../src/platform/shell-word.ts';

const WORDS = [
  '/tmp/before 1.csv',
  "it's",
  '$HOME',
  '`id`',
  'a\\b',
  '*',
  '~/x',
  '',
  '100%',
  '"',
  'a;b',
  '!x',
  '#x',
];

describe('a word of a shell', () => {
  it('is read back by a shell as it was', () => {
    const printf = `printf '%s\\0' ${WORDS.flatMap((word) => [shellWord(word), shellQuoted(word)]).join(' ')}`;
    const read = execFileSync('sh', ['-c', printf], { encoding: 'utf8' }).split('\0').slice(0, -1);
    expect(read).toEqual(WORDS.flatMap((word) => [word, word]));
  });

  it('has quotes only where they are needed', () => {
    expect(shellWord('/home/ann/.local/state/before-2026-11-24T08-00.csv')).not.toContain("'");
    expect(shellWord('http://127.0.0.1:7480')).not.toContain("'");
    expect(shellWord('/tmp/my cards.csv')).toBe("'/tmp/my cards.csv'");
  });
});
