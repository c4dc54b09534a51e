// All pages of the manual by file name. scripts/man.js writes them (`npm run man`); the binary has none of this.
import type { CommandSpec } from '../command.ts';
import { commandPage, pageNameOf, rootPage, shownBelow, volumeOf } from './command-page.ts';
import { configPage } from './config-page.ts';

export function manualPages(root: CommandSpec, version: string): ReadonlyMap<string, string> {
  const release = `cardpoll ${version}`;
  return new Map([
    ['cardpoll.1', rootPage(root, release)],
    ...shownBelow(root).map((spec): [string, string] => [
      `${pageNameOf(spec)}.${volumeOf(spec)}`,
      commandPage(root, spec, release),
    ]),
    ['cardpoll.yaml.5', configPage(release)],
  ]);
}
