// What tests ask of the repository's Markdown: headings, the anchors they make, and links. Used by test/unit/docs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/** Every page, relative to the repository. */
export function markdownFiles(): string[] {
  const pages = (directory: string) =>
    readdirSync(join(REPOSITORY, directory), { encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(directory, name));
  return [...pages('.'), ...pages('docs'), ...pages('docs/decisions')];
}

/** Without blocks of code, fenced or indented, in which nothing is a link or a heading. */
export function proseOf(path: string): string {
  const text = readFileSync(join(REPOSITORY, path), 'utf8');
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/(?<=\n\n)( {4}.*\n+)+/g, '');
}

/** The text of each heading, as it is written. */
export function headingsOf(path: string): string[] {
  return [...proseOf(path).matchAll(/^#{1,6} (.+)$/gm)].map(([, text = '']) => text);
}

/** What stands after the # of a link to the heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Targets inside the repository. */
export function linksOf(path: string): string[] {
  const targets = [...proseOf(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}
