// What every page of the manual says about files and variables. Used by the pages in this folder.
import type { Setting } from '../../config/settings/setting.ts';
import { bold, item, prose } from './roff.ts';

const PATHS: readonly (readonly [string, string])[] = [
  [
    '/etc/cardpoll/cardpoll.yaml',
    'The configuration of the daemon that the service starts; everywhere else `--config` names the file.',
  ],
  [
    '~/.config/cardpoll/contexts.yaml',
    'The daemons that `cardpoll context` has given a name. It holds no token.',
  ],
  ['~/.local/state/cardpoll', 'The embedded stores, where neither Redis nor PostgreSQL is configured.'],
  ['~/.cache/cardpoll', 'Indexes of `cardpoll logs`.'],
  [
    '/var/log/cardpoll',
    'worker.log, api.log and access.log of the service, and what logrotate made of them.',
  ],
];

const VARIABLES: readonly (readonly [string, string])[] = [
  ['NO_COLOR', 'Set to anything: no colours.'],
  [
    'XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME',
    'Stand for ~/.config, ~/.local/state and ~/.cache in the paths above.',
  ],
];

export const FILES: readonly string[] = PATHS.flatMap(([path, meaning]) => item(bold(path), prose(meaning)));
export const DIRECTORIES: readonly string[] = VARIABLES.flatMap(([name, meaning]) =>
  item(bold(name), prose(meaning)),
);

/** The variables that stand for these settings. A flag wins over them. */
export function environmentOf(settings: readonly Setting<unknown>[]): string[] {
  return [...new Set(settings)].flatMap((setting) =>
    [
      [setting.env, setting.doc],
      [setting.file?.env, `File with the value of \`${setting.env}\`, which only its owner may read.`],
    ].flatMap(([variable, meaning]) =>
      variable === null || variable === undefined ? [] : item(bold(variable), prose(meaning ?? '')),
    ),
  );
}
