// The files and variables that every page of the manual lists. Used by the pages in this folder.
import type { Setting } from '../../config/settings/setting.ts';
import { bold, item, prose } from './roff.ts';

const PATHS: readonly (readonly [string, string])[] = [
  [
    '/etc/cardpoll/cardpoll.yaml',
    'The configuration of the daemon that the service starts. Elsewhere `--config` names the file.',
  ],
  [
    '~/.config/cardpoll/contexts.yaml',
    'The daemons that `cardpoll context` has named. It contains no tokens.',
  ],
  ['~/.local/state/cardpoll', 'The embedded stores, used when neither Redis nor PostgreSQL is configured.'],
  ['~/.local/state/cardpoll-imports', 'Cards as they were before the last twenty imports of files.'],
  ['~/.cache/cardpoll', 'Indexes of `cardpoll logs`.'],
  ['/var/log/cardpoll', 'worker.log, api.log and access.log of the service, and their rotated files.'],
];

const VARIABLES: readonly (readonly [string, string])[] = [
  ['NO_COLOR', 'Any value turns colours off.'],
  [
    'XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME',
    'Replace ~/.config, ~/.local/state and ~/.cache in the paths above.',
  ],
];

export const FILES: readonly string[] = PATHS.flatMap(([path, meaning]) => item(bold(path), prose(meaning)));
export const DIRECTORIES: readonly string[] = VARIABLES.flatMap(([name, meaning]) =>
  item(bold(name), prose(meaning)),
);

/** The variables that set these settings. A flag wins over them. */
export function environmentOf(settings: readonly Setting<unknown>[]): string[] {
  return [...new Set(settings)].flatMap((setting) =>
    [
      [setting.env, setting.doc],
      [setting.file?.env, `File with the value of \`${setting.env}\`; only its owner may have access.`],
    ].flatMap(([variable, meaning]) =>
      variable === null || variable === undefined ? [] : item(bold(variable), prose(meaning ?? '')),
    ),
  );
}
