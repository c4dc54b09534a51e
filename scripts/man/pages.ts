// All pages of the manual by file name: one for each command with all its subcommands, one for `cardpoll` itself, from the
// declarations that also make help and completion, and one for the settings, from their table. scripts/man.js writes them
// (`npm run man`).

import { type CommandSpec, type OptionSpec, partsOf, shownBelow } from '../../src/cli/command.ts';
import {
  commonOptions,
  GLOBAL_SETTINGS,
  HELP_OPTION,
  optionsOf,
  shownOptions,
  VERSION_OPTION,
} from '../../src/cli/global-options.ts';
import { statedDefault } from '../../src/cli/help.ts';
import type { Setting } from '../../src/config/settings/setting.ts';
import { DOCUMENTED_SETTINGS, SETTINGS } from '../../src/config/settings/settings.ts';
import { DESCRIPTIONS } from './descriptions.ts';
import { EXIT_STATUS } from './exit-status.ts';
import { bold, item, page, prose, roff, section, subsection, verbatim } from './roff.ts';
import { configurationRules } from './settings-reference.ts';

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

/** `cardpoll-daemon(8)`: the only command that an administrator's machine runs by itself. */
function volumeOf({ name }: CommandSpec): number {
  return name === 'daemon' ? 8 : 1;
}

function pageNameOf({ name }: CommandSpec): string {
  return name === 'cardpoll' ? name : `cardpoll-${name}`;
}

/** The page of `cardpoll`: all commands, and the options that every command takes. */
function rootPage(root: CommandSpec, release: string): string {
  return page('cardpoll', 1, release, [
    ...name(root),
    ...section('SYNOPSIS', `${bold('cardpoll')} [options] [command]`),
    ...section('DESCRIPTION', ...description(root)),
    ...section('COMMANDS', ...shownBelow(root).flatMap((sub) => item(reference(sub), sentence(sub.summary)))),
    ...section('OPTIONS', ...everyOption(root).flatMap(option)),
    ...section('EXAMPLES', ...examples([root])),
    ...section('FILES', ...FILES),
    ...section('ENVIRONMENT', ...environmentOf(GLOBAL_SETTINGS), ...DIRECTORIES),
    ...section('EXIT STATUS', ...exitStatus()),
    ...section('SEE ALSO', [...shownBelow(root).map(reference), CONFIG_REFERENCE].join(', ')),
  ]);
}

function commandPage(root: CommandSpec, spec: CommandSpec, release: string): string {
  const all = withPaths(spec, root.name);
  const listed = all.filter(({ own }) => own.hidesSettings !== true);
  const settings = [...listed.flatMap(({ own }) => own.settings ?? []), ...GLOBAL_SETTINGS];
  const siblings = shownBelow(root).filter((other) => other !== spec);
  return page(pageNameOf(spec), volumeOf(spec), release, [
    ...name(spec),
    ...section('SYNOPSIS', ...all.filter(({ own }) => own.run !== undefined).flatMap(synopsis)),
    ...section('DESCRIPTION', ...description(spec)),
    ...section('COMMANDS', ...(all.length === 1 ? [] : all.slice(1).flatMap(subcommand))),
    ...section(
      'OPTIONS',
      ...taken(spec),
      ...subsection('Options of every command', ...everyOption(spec).flatMap(option)),
    ),
    ...section('EXAMPLES', ...examples(all.map(({ own }) => own))),
    ...section('FILES', ...FILES),
    ...section(
      'ENVIRONMENT',
      ...environmentOf(settings),
      ...(callsGateway(settings) ? PROXIES : []),
      ...DIRECTORIES,
    ),
    ...section('EXIT STATUS', ...exitStatus()),
    ...section('SEE ALSO', [reference(root), ...siblings.map(reference), CONFIG_REFERENCE].join(', ')),
  ]);
}

interface Placed {
  /** `cardpoll alerts rules`. */
  readonly path: string;
  readonly own: CommandSpec;
}

function withPaths(spec: CommandSpec, above: string): Placed[] {
  const path = `${above} ${spec.name}`;
  return [{ path, own: spec }, ...shownBelow(spec).flatMap((sub) => withPaths(sub, path))];
}

function name(spec: CommandSpec): string[] {
  return section('NAME', `${roff(pageNameOf(spec))} \\- ${roff(spec.summary)}`);
}

function synopsis({ path, own }: Placed): string[] {
  const words = (own.arguments ?? []).map((argument) => roff(argument.name));
  return ['.HP', [bold(path), '[options]', ...words].join(' ')];
}

function description(spec: CommandSpec): string[] {
  return [sentence(spec.summary), ...(DESCRIPTIONS[spec.name] ?? []).flatMap((text) => ['.PP', prose(text)])];
}

/** A group without an action of its own has no section: its subcommands describe it. */
function subcommand({ path, own }: Placed): string[] {
  if (own.run === undefined) return [];
  const words = (own.arguments ?? []).map((argument) => argument.name);
  return subsection([path, ...words].join(' '), sentence(own.summary), ...taken(own));
}

/** What every command takes. */
function everyOption(spec: CommandSpec): readonly OptionSpec[] {
  return [...shownOptions(commonOptions(spec)), VERSION_OPTION, HELP_OPTION];
}

/** Arguments and options of the command's own. */
function taken(spec: CommandSpec): string[] {
  return [
    ...(spec.arguments ?? []).flatMap((one) =>
      item(bold(one.name.replace(/[<>[\]]/g, '')), sentence(one.doc)),
    ),
    ...shownOptions(optionsOf(spec)).flatMap(option),
  ];
}

function option(spec: OptionSpec): string[] {
  const needed = spec.required === true ? ' Required.' : '';
  const value = statedDefault(spec.doc, spec.default);
  const standard = value === null ? '' : ` Default: ${value}.`;
  return item(bold(spec.flags), `${sentence(spec.doc)}${roff(needed + standard)}`);
}

function examples(specs: readonly CommandSpec[]): string[] {
  const lines = new Map(specs.flatMap(({ examples: own = [] }) => own.map(partsOf)));
  return [...lines].flatMap(([line, meaning]) => ['.PP', sentence(meaning), ...verbatim([line])]);
}

function exitStatus(): string[] {
  return EXIT_STATUS.flatMap(([code, meaning]) => item(bold(String(code)), sentence(meaning)));
}

function reference(spec: CommandSpec): string {
  return `${bold(pageNameOf(spec))}(${volumeOf(spec)})`;
}

const CONFIG_REFERENCE = `${bold('cardpoll.yaml')}(5)`;

/** Summaries and the like end without a full stop. */
function sentence(text: string): string {
  return prose(/[.!?]$/.test(text) ? text : `${text}.`);
}

const EXAMPLE = [
  'redis_url: redis://10.0.0.4:6379',
  'database_url: postgres://cardpoll@10.0.0.4/cardpoll',
  'log_dir: /var/log/cardpoll',
  'gateway:',
  '  url: https://gateway.example',
  '  max_concurrency: 600',
  'polling:',
  '  retry_base_ms: 2000',
];

function configPage(release: string): string {
  const inFile = DOCUMENTED_SETTINGS.filter(({ yaml }) => yaml !== null);
  const elsewhere = DOCUMENTED_SETTINGS.filter(({ yaml }) => yaml === null);
  return page('cardpoll.yaml', 5, release, [
    ...section('NAME', 'cardpoll.yaml \\- configuration of cardpoll'),
    ...section('SYNOPSIS', `${bold('cardpoll daemon --config')} /etc/cardpoll/cardpoll.yaml`),
    ...section(
      'DESCRIPTION',
      prose(
        `A YAML file with settings, read by every command that is given \`--config\` or \`CARDPOLL_CONFIG\`. Where a setting is
        given more than once, the first of these wins: flag, environment variable, systemd credential,
        \`secret_files\`, this file, default. A dot in a name below means a level of the file.`,
      ),
      ...configurationRules().flatMap((rule) => ['.IP \\(bu 2', prose(rule)]),
    ),
    ...section('OPTIONS', ...inFile.flatMap((setting) => item(bold(setting.yaml ?? ''), meaningOf(setting)))),
    ...section(
      'SECRETS AND FLAGS',
      prose('These are never in the file.'),
      ...elsewhere.flatMap((setting) => item(bold(waysOf(setting).join(', ')), meaningOf(setting))),
    ),
    ...section('EXAMPLES', ...verbatim(EXAMPLE)),
    ...section('FILES', ...FILES),
    ...section('ENVIRONMENT', ...environmentOf(DOCUMENTED_SETTINGS)),
    ...section(
      'EXIT STATUS',
      ...EXIT_STATUS.filter(([code]) => code === 78).flatMap(([code, meaning]) =>
        item(bold(String(code)), prose(`${meaning}: all problems are reported at once.`)),
      ),
    ),
    ...section(
      'SEE ALSO',
      `${bold('cardpoll')}(1), ${bold('cardpoll-daemon')}(8), ${bold('cardpoll-doctor')}(1)`,
    ),
  ]);
}

function meaningOf(setting: Setting<unknown>): string {
  const ways = setting.yaml === null ? [] : waysOf(setting);
  const also = ways.length === 0 ? '' : ` Also ${ways.map((way) => `\`${way}\``).join(', ')}.`;
  return prose(`${setting.doc} Value: ${setting.kind.accepts}. Default: ${setting.defaultText}.${also}`);
}

function waysOf(setting: Setting<unknown>): string[] {
  return [setting.flag, setting.file?.flag, setting.env, setting.file?.env].filter(
    (way) => way !== null && way !== undefined,
  );
}

/** The files that every page lists. */
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

/** The variables that every page lists besides those of settings. */
const VARIABLES: readonly (readonly [string, string])[] = [
  ['NO_COLOR', 'Any value turns colours off.'],
  [
    'XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME',
    'Replace ~/.config, ~/.local/state and ~/.cache in the paths above.',
  ],
];

const FILES: readonly string[] = PATHS.flatMap(([path, meaning]) => item(bold(path), prose(meaning)));
const DIRECTORIES: readonly string[] = VARIABLES.flatMap(([name, meaning]) =>
  item(bold(name), prose(meaning)),
);

const PROXIES: readonly string[] = [
  ...item(
    ['HTTPS_PROXY', 'HTTP_PROXY'].map(bold).join(', '),
    prose(
      'URL of the proxy for calls of https:// and of http:// URLs: `http://user:password@proxy.example:3128`. The lower-case name works too and takes precedence.',
    ),
  ),
  ...item(
    bold('NO_PROXY'),
    prose('What is called without a proxy: names, addresses and ranges, with commas.'),
  ),
];

function callsGateway(settings: readonly Setting<unknown>[]): boolean {
  return settings.includes(SETTINGS.gateway.url);
}

/** The variables that set these settings. A flag wins over them. */
function environmentOf(settings: readonly Setting<unknown>[]): string[] {
  return [...new Set(settings)].flatMap((setting) =>
    [
      [setting.env, setting.doc],
      [setting.file?.env, `File with the value of \`${setting.env}\`; only its owner may have access.`],
    ].flatMap(([variable, meaning]) =>
      variable === null || variable === undefined ? [] : item(bold(variable), prose(meaning ?? '')),
    ),
  );
}
