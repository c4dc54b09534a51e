// All pages of the manual by file name: one for each command with all its subcommands and one for `cardpoll` itself, from
// the declarations that also make help and completion; config-page.ts is that of the settings. scripts/man.js writes them
// (`npm run man`); the binary has none of this.
import type { CommandSpec, OptionSpec } from '../command.ts';
import { EXIT_STATUS } from '../exit-codes.ts';
import {
  formatsOf,
  GLOBAL_OPTIONS,
  GLOBAL_SETTINGS,
  HELP_OPTION,
  OUTPUT_OPTION,
  optionsOf,
  VERSION_OPTION,
} from '../global-options.ts';
import { statedDefault } from '../help.ts';
import { configPage } from './config-page.ts';
import { DESCRIPTIONS } from './descriptions.ts';
import { DIRECTORIES, environmentOf, FILES } from './places.ts';
import { bold, item, page, prose, roff, section, subsection, verbatim } from './roff.ts';

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

/** Help and completion mention these. */
function shownBelow({ subcommands = [] }: CommandSpec): readonly CommandSpec[] {
  return subcommands.filter(({ hidden }) => hidden !== true);
}

/** The page of `cardpoll`: all commands, and the options that every command takes. */
function rootPage(root: CommandSpec, release: string): string {
  return page('cardpoll', 1, release, [
    ...name(root),
    ...section('SYNOPSIS', `${bold('cardpoll')} [options] [command]`),
    ...section('DESCRIPTION', ...description(root)),
    ...section('COMMANDS', ...shownBelow(root).flatMap((sub) => item(reference(sub), sentence(sub.summary)))),
    ...section('OPTIONS', ...everywhere(root)),
    ...section('EXAMPLES', ...examples([root])),
    ...section('FILES', ...FILES),
    ...section('ENVIRONMENT', ...environmentOf(GLOBAL_SETTINGS), ...DIRECTORIES),
    ...section('EXIT STATUS', ...exitStatus()),
    ...section('SEE ALSO', [...shownBelow(root).map(reference), CONFIG_REFERENCE].join(', ')),
  ]);
}

/** The page of a command below `cardpoll`. */
function commandPage(root: CommandSpec, spec: CommandSpec, release: string): string {
  const all = withPaths(spec, root.name);
  const settings = [...all.flatMap(({ own }) => own.settings ?? []), ...GLOBAL_SETTINGS];
  const siblings = shownBelow(root).filter((other) => other !== spec);
  return page(pageNameOf(spec), volumeOf(spec), release, [
    ...name(spec),
    ...section('SYNOPSIS', ...all.filter(({ own }) => own.run !== undefined).flatMap(synopsis)),
    ...section('DESCRIPTION', ...description(spec)),
    ...section('COMMANDS', ...(all.length === 1 ? [] : all.slice(1).flatMap(subcommand))),
    ...section('OPTIONS', ...taken(spec), ...subsection('Options of every command', ...everywhere(spec))),
    ...section('EXAMPLES', ...examples(all.map(({ own }) => own))),
    ...section('FILES', ...FILES),
    ...section('ENVIRONMENT', ...environmentOf(settings), ...DIRECTORIES),
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

/** Arguments and options of the command's own. */
function taken(spec: CommandSpec): string[] {
  return [
    ...(spec.arguments ?? []).flatMap((one) =>
      item(bold(one.name.replace(/[<>[\]]/g, '')), sentence(one.doc)),
    ),
    ...optionsOf(spec).flatMap(option),
  ];
}

function everywhere(spec: CommandSpec): string[] {
  return [...GLOBAL_OPTIONS, VERSION_OPTION, HELP_OPTION].flatMap((one) =>
    option(
      one === OUTPUT_OPTION ? { ...one, doc: formatsOf(spec).join(', ') || 'not for this command' } : one,
    ),
  );
}

function option(spec: OptionSpec): string[] {
  const needed = spec.required === true ? ' Required.' : '';
  const value = statedDefault(spec.doc, spec.default);
  const standard = value === null ? '' : ` Default: ${value}.`;
  return item(bold(spec.flags), `${sentence(spec.doc)}${roff(needed + standard)}`);
}

function examples(specs: readonly CommandSpec[]): string[] {
  const lines = new Map(specs.flatMap((spec) => spec.examples));
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
