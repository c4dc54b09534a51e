// Parses the options and arguments of a command by its declaration, with commander. Only parses: a command's own `run` does the
// work, and run.ts reports errors.
import { Argument, Command, Option } from 'commander';
import { type Kind, parseOr } from '../config/kinds.ts';
import { didYouMean } from '../config/suggest.ts';
import { CardpollError } from '../platform/errors.ts';
import { VERSION } from '../platform/version.ts';
import {
  type ArgumentSpec,
  type CommandInput,
  type CommandPath,
  nameOf,
  type OptionSpec,
} from './command.ts';
import { flagOf, HELP_OPTION, optionsAt, settingsAt, VERSION_OPTION } from './global-options.ts';
import { formatHelp } from './help.ts';

/** The options are the command's own and the global ones. */
export interface ParsedInput extends CommandInput {
  /** Settings given as flags, by flag. */
  readonly flags: Readonly<Record<string, string | undefined>>;
}

/** @param words the words after the name of the command. @param write prints help and version; then it throws. */
export function parsed(
  path: CommandPath,
  words: readonly string[],
  write: (text: string) => void,
): ParsedInput {
  const command = new Command(nameOf(path))
    .helpOption(HELP_OPTION.flags, HELP_OPTION.doc)
    .version(`cardpoll ${VERSION}`, VERSION_OPTION.flags, VERSION_OPTION.doc)
    .configureHelp({ formatHelp: (_, helper) => formatHelp(path, helper) })
    .configureOutput({ writeOut: write, writeErr: () => {} })
    .exitOverride();
  for (const argument of path[0].arguments ?? []) command.addArgument(valueArgument(argument));
  for (const option of optionsAt(path)) command.addOption(valueOption(option));
  command.parse(words, { from: 'user' });
  const options = command.opts();
  const flags = settingsAt(path).map((setting) => {
    const flag = flagOf(setting);
    return [flag, options[new Option(flag).attributeName()] as string | undefined];
  });
  return { args: command.processedArgs, options, flags: Object.fromEntries(flags) };
}

function valueArgument(spec: ArgumentSpec): Argument {
  const argument = new Argument(spec.name, spec.doc);
  const parse = parserOf(spec.kind, argument.name());
  if (!argument.variadic) return argument.argParser(parse);
  return argument.argParser((raw, before: readonly unknown[] = []) => [...before, parse(raw)]);
}

function valueOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags.replace(/\[=(<.*>)\]/, ' $1'), spec.doc);
  option.flags = spec.flags;
  if (spec.kind !== undefined) {
    const parse = parserOf(spec.kind, option.long ?? spec.flags);
    option.argParser(spec.repeats === true ? (raw, before) => [before ?? [], parse(raw)].flat() : parse);
  }
  if (spec.default !== undefined) option.default(spec.default);
  return option.makeOptionMandatory(spec.required ?? false).conflicts([...(spec.conflicts ?? [])]);
}

function parserOf(kind: Kind<unknown>, name: string): (raw: string) => unknown {
  return (raw) => {
    const suggestion = kind.choices === undefined ? '' : didYouMean(raw, kind.choices);
    const toError = (problem: string) =>
      new CardpollError('usage', 'invalid_argument', `${name}: ${problem}${suggestion}`);
    return parseOr(() => kind.parse(raw), toError);
  };
}
