// What messages, hints and health reasons suggest to type begins with a command of the binary.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { CommandSpec } from '../../../src/cli/command.ts';
import { ROOT } from '../../../src/cli/commands/root.ts';

const SOURCES = fileURLToPath(new URL('../../../src', import.meta.url));

it('every command that the sources suggest is one of the binary', () => {
  const suggestions = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) => suggestionsOf(readFileSync(join(SOURCES, path), 'utf8')));
  expect(suggestions.length).toBeGreaterThan(50);
  expect(suggestions.filter((line) => !isCommand(line.split(' ').slice(1)))).toEqual([]);
});

/** As far as their first value that is filled in. */
function suggestionsOf(source: string): string[] {
  const lines = source.matchAll(/\bcommand: ['"`](cardpoll [^'"`]*)|`(cardpoll [a-z][^`:,\\\n]*)`/g);
  return [...lines].map(([, command, quoted]) => (command ?? quoted ?? '').replace(/ ?\$\{.*/, ''));
}

/** Whether the words name a command: no group is followed by a word that is none of its commands. */
function isCommand(words: readonly string[], spec: CommandSpec = ROOT): boolean {
  const [word = '-', ...left] = words;
  const below = spec.subcommands?.find(({ name }) => name === word);
  if (below !== undefined) return isCommand(left, below);
  return spec.subcommands === undefined || spec.arguments !== undefined || /^[-|]/.test(word);
}
