// Option declarations: the options of every command, and settings as options. Used by the parser, help, completion and manual.

import { oneOf } from '../config/kinds.ts';
import type { Setting } from '../config/settings/setting.ts';
import { CONFIG_FILE, SETTINGS } from '../config/settings/settings.ts';
import { type CommandPath, type CommandSpec, type OptionSpec, OUTPUT_FORMATS } from './command.ts';

/** Settings every command takes as flags. */
export const GLOBAL_SETTINGS: readonly Setting<unknown>[] = [
  CONFIG_FILE,
  SETTINGS.client.url,
  SETTINGS.client.token,
  SETTINGS.client.timeoutMs,
];

export const VERSION_OPTION: OptionSpec = { flags: '-V, --version', doc: 'print the version' };
export const HELP_OPTION: OptionSpec = { flags: '-h, --help', doc: 'show this help' };

/** The options that a command adds to those of its parents. */
export function optionsOf({
  options = [],
  settings = [],
  hidesSettings = false,
}: CommandSpec): readonly OptionSpec[] {
  return [...options, ...settings.map((setting) => ({ ...settingOption(setting), hidden: hidesSettings }))];
}

/** The options that help, completion and manual show. */
export function shownOptions(options: readonly OptionSpec[]): readonly OptionSpec[] {
  return options.filter(({ hidden }) => hidden !== true);
}

/** `-o` and `--output`; not the -MM of `<YYYY-MM-DD>`. */
export function flagNames({ flags }: OptionSpec): readonly string[] {
  return flags.match(/(?<!\S)--?[\w-]+/g) ?? [];
}

/** The options of every command, with this command's values of -o. */
export function commonOptions({ formats = OUTPUT_FORMATS }: CommandSpec): readonly OptionSpec[] {
  return [
    ...GLOBAL_SETTINGS.map(settingOption),
    { flags: '-o, --output <format>', doc: formats.join(', '), kind: oneOf(formats) },
    { flags: '--json', doc: 'same as -o json', hidden: true },
    { flags: '--debug', doc: 'print the stack traces of errors' },
  ];
}

/** The options of a command in addition to its own: the settings of its parents, and the common options. */
export function inheritedOptions([own, ...above]: CommandPath): readonly OptionSpec[] {
  return [...above.flatMap(({ settings = [] }) => settings.map(settingOption)), ...commonOptions(own)];
}

export function optionsAt(path: CommandPath): readonly OptionSpec[] {
  return [...optionsOf(path[0]), ...inheritedOptions(path)];
}

/** The settings that a command takes as flags. */
export function settingsAt(path: CommandPath): readonly Setting<unknown>[] {
  return [...path.flatMap(({ settings = [] }) => settings), ...GLOBAL_SETTINGS];
}

/** The flag of a setting takes any text: the configuration checks it together with all other sources. */
function settingOption(setting: Setting<unknown>): OptionSpec {
  const { choices } = setting.kind;
  return {
    flags: `${flagOf(setting)} <${flagPlaceholder(setting)}>`,
    doc: flagHelp(setting),
    ...(choices === undefined ? {} : { choices }),
  };
}

export function flagOf(setting: Setting<unknown>): string {
  return setting.flag ?? setting.file?.flag ?? '';
}

/** Text for a command's help: flag, accepted value and meaning. */
function flagHelp(setting: Setting<unknown>): string {
  const env = setting.env ?? setting.file?.env ?? null;
  const unit = setting.kind.accepts.startsWith('milliseconds') ? ' ms' : '';
  const notes = [
    setting.defaultText === 'none' ? null : `default: ${setting.defaultText}${unit}`,
    env === null ? null : `env: ${env}`,
  ].filter((note) => note !== null);
  return `${setting.doc.replace(/\.$/, '')}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`;
}

/** The placeholder of a flag's value in help: `--redis-url <url>`. */
function flagPlaceholder(setting: Setting<unknown>): string {
  const { flag, file, kind } = setting;
  if (flag === null && file !== null) return 'file';
  if (kind.accepts === 'host:port' || kind.accepts === 'path') return kind.accepts;
  return (flag ?? '').slice(2).split('-').at(-1) || 'value';
}
