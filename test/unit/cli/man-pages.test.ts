// The manual in man/ (`npm run man` writes it): what the declarations say now, complete, and free of mistakes.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { manualPages } from '../../../scripts/man/pages.ts';
import { type CommandSpec, shownBelow } from '../../../src/cli/command.ts';
import { offerAt } from '../../../src/cli/commands/completion/offers.ts';
import { ROOT } from '../../../src/cli/commands/root.ts';
import { DOCUMENTED_SETTINGS } from '../../../src/config/settings/settings.ts';
import { VERSION } from '../../../src/platform/version.ts';
import { programPath } from '../../support/provision.ts';
import { cli } from './cli-under-test.ts';

const MAN = fileURLToPath(new URL('../../../man', import.meta.url));
const PAGES = [...manualPages(ROOT, VERSION)];
/** How man shows bold and underlined where there are no colours. */
const OVERSTRUCK = new RegExp(`.${String.fromCharCode(8)}`, 'g');
const SECTIONS = [
  'NAME',
  'SYNOPSIS',
  'DESCRIPTION',
  'OPTIONS',
  'EXAMPLES',
  'FILES',
  'ENVIRONMENT',
  'EXIT STATUS',
  'SEE ALSO',
];

it.each(PAGES)('man/%s is what the declarations say: npm run man', (name, text) => {
  expect(readFileSync(`${MAN}/${name}`, 'utf8')).toBe(text);
});

it('man/ and the man field of package.json hold these pages and no other', () => {
  const names = PAGES.map(([name]) => name);
  expect(readdirSync(MAN).sort()).toEqual(names.toSorted());
  const { man } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  expect(man).toEqual(names.map((name) => `./man/${name}`));
});

it('every page that another one refers to exists', () => {
  const referred = PAGES.flatMap(([, text]) => [...text.matchAll(/\\fB(cardpoll[\w\\.-]*)\\fP\((\d)\)/g)]);
  const names = referred.map(([, name = '', volume]) => `${name.replaceAll('\\', '')}.${volume}`);
  expect(PAGES.map(([name]) => name)).toEqual(expect.arrayContaining([...new Set(names)]));
});

describe('read by man', () => {
  const shown = new Map<string, string>();
  const read = (name: string): string => {
    const page = shown.get(name) ?? readPage(name);
    shown.set(name, page);
    return page;
  };

  it.each(PAGES)('%s: no warnings, every section', (name) => {
    expect([...read(name).matchAll(/^([A-Z][A-Z ]+)$/gm)].map(([, title]) => title)).toEqual(
      expect.arrayContaining(SECTIONS),
    );
  });

  it('every command with every option of its help and completion', async () => {
    const pageOf = (words: readonly string[]) =>
      words.length === 0 ? 'cardpoll.1' : `cardpoll-${words[0]}.${words[0] === 'daemon' ? 8 : 1}`;
    for (const { words, run } of commandsBelow(ROOT)) {
      const path = ['cardpoll', ...words].join(' ');
      const page = read(pageOf(words));
      if (run !== undefined) expect(page.replace(/\s+/g, ' ')).toContain(`${path} [options]`);
      const help = (await cli([...words, '--help'])).stdout.split('\nUsage:')[1] ?? '';
      const helped = [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag = '']) => flag);
      const offered = offerAt(ROOT, [...words, '--']).words.map(({ text }) => text);
      for (const flag of [...helped, ...offered]) {
        expect(page, `${path} ${flag}`).toMatch(new RegExp(`^ +(-\\w, )?${flag}\\b`, 'm'));
      }
    }
  });

  it('cardpoll.yaml.5: every setting of the table', () => {
    const page = read('cardpoll.yaml.5');
    for (const { yaml, env } of DOCUMENTED_SETTINGS) {
      for (const name of [yaml, env]) {
        if (name !== null) expect(page).toMatch(new RegExp(`^ +([\\w-]+, )?${name}\\b`, 'm'));
      }
    }
  });
});

/** As a terminal would show it. */
function readPage(name: string): string {
  const man = programPath('man', { debianPackage: 'man-db' });
  const args = ['--warnings', '-E', 'UTF-8', '-l', '-Tutf8', `${MAN}/${name}`];
  const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', MANWIDTH: '80', GROFF_NO_SGR: '1' };
  const { status, stdout, stderr } = spawnSync(man, args, { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.replaceAll(OVERSTRUCK, '');
}

/** The command and all below it that the manual mentions. @param words what is typed for it after `cardpoll`. */
function commandsBelow(
  spec: CommandSpec,
  words: readonly string[] = [],
): { readonly words: readonly string[]; readonly run: CommandSpec['run'] }[] {
  const below = shownBelow(spec).flatMap((sub) => commandsBelow(sub, [...words, sub.name]));
  return [{ words, run: spec.run }, ...below];
}
