// The layout of help: examples first, then usage, commands and options. Global options are named last; `cardpoll --help`
// explains them.
import type { Help } from 'commander';
import {
  type CommandPath,
  type CommandSpec,
  nameOf,
  type OptionSpec,
  partsOf,
  shownBelow,
} from './command.ts';
import {
  commonOptions,
  flagNames,
  HELP_OPTION,
  inheritedOptions,
  optionsOf,
  shownOptions,
  VERSION_OPTION,
} from './global-options.ts';

type Item = readonly [term: string, description: string];
const USUAL_WIDTH = 80;
const HELP_COMMAND: Item = ['help [command]', 'Show help'];

export function formatHelp(path: CommandPath, helper: Help): string {
  const [spec, ...above] = path;
  const isRoot = above.length === 0;
  const common = shownOptions(commonOptions(spec));
  const inherited = shownOptions(inheritedOptions(path)).slice(0, -common.length);
  const explained = isRoot ? [VERSION_OPTION, ...common] : inherited;
  const options = [...explained, ...shownOptions(optionsOf(spec)), HELP_OPTION].map(optionItem);
  const args = (spec.arguments ?? []).map(({ name, doc }): Item => [name.replace(/[<>[\].]/g, ''), doc]);
  const commands = shownBelow(spec).map((sub): Item => {
    const own = optionsOf(sub).length > 0 ? ['[options]'] : [];
    return [[sub.name, ...own, ...argumentsOf(sub)].join(' '), sub.summary];
  });
  const width = Math.max(...[...args, ...commands, ...options].map(([term]) => term.length));
  const section = (title: string, items: readonly Item[]) => {
    const lines = items.map(([term, text]) => helper.formatItem(term, width, text, helper));
    return items.length === 0 ? [] : ['', title, ...lines];
  };
  const examples = examplesOf(path).map(partsOf);
  const exampleWidth = Math.max(...examples.map(([line]) => line.length));
  const group = spec.subcommands === undefined ? [] : ['[command]'];
  const lines = [
    'Examples:',
    ...examples.map(([line, meaning]) => `  ${line.padEnd(exampleWidth)}  # ${meaning}`),
    '',
    `Usage: ${[nameOf(path), '[options]', ...group, ...argumentsOf(spec)].join(' ')}`,
    '',
    `${spec.summary}.`,
    ...section('Arguments:', args),
    ...section('Commands:', isRoot ? [...commands, HELP_COMMAND] : commands),
    ...section('Options:', options),
    ...(isRoot ? [] : ['', helper.boxWrap(named(common), helper.helpWidth ?? USUAL_WIDTH)]),
  ];
  return `${lines.join('\n')}\n`;
}

/** @returns the names in one sentence, and the values of -o, which depend on the command. */
function named(common: readonly OptionSpec[]): string {
  const names = common.map((option) => {
    const [name = ''] = flagNames(option);
    return option.flags.startsWith('-o') ? `${name} (${option.doc})` : name;
  });
  return `Global options, explained by cardpoll --help: ${names.join(', ')}.`;
}

function argumentsOf({ arguments: args = [] }: CommandSpec): string[] {
  return args.map(({ name }) => name);
}

/** The group's examples of the command itself come first. */
function examplesOf(path: CommandPath): readonly string[] {
  const examples = path.find((one) => one.examples !== undefined)?.examples ?? [];
  const isOwn = (example: string) => example.startsWith(`${nameOf(path)} `);
  return [...examples.filter(isOwn), ...examples.filter((example) => !isOwn(example))];
}

function optionItem({ flags, doc, default: value }: OptionSpec): Item {
  const standard = statedDefault(doc, value);
  return [flags, standard === null ? doc : `${doc} (default: ${standard})`];
}

/** The default that help and the manual append to an option's text; null: none, or the text already states it. */
export function statedDefault(text: string, value: unknown): string | null {
  return value === undefined || value === '' || /default:/.test(text) ? null : String(value);
}
