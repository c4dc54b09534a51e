// Turns declarations into a commander program. It only parses: a command's own `run` does the work, run.ts reports errors.
import { Argument, Command, Option } from 'commander';
import { type Kind, parseOr } from '../config/kinds.ts';
import type { Setting } from '../config/settings/setting.ts';
import { didYouMean } from '../config/suggest.ts';
import { CardpollError } from '../platform/errors.ts';
import {
  type ArgumentSpec,
  type CommandInput,
  type CommandSpec,
  type OptionSpec,
  shownBelow,
} from './command.ts';
import {
  flagOf,
  formatsOf,
  GLOBAL_OPTIONS,
  GLOBAL_SETTINGS,
  HELP_OPTION,
  optionsOf,
  VERSION_OPTION,
} from './global-options.ts';
import { formatHelp } from './help.ts';

type Runner = (spec: CommandSpec, input: ParsedInput) => Promise<void>;

/** The options are the command's own and the global ones. */
export interface ParsedInput extends CommandInput {
  /** Settings given as flags, by flag. */
  readonly flags: Readonly<Record<string, string | undefined>>;
}

/** A name of more commands than this, such as `list`, says too little of what was meant. */
const MOST_MEANT = 3;

/** @param root the declaration of `cardpoll` itself with all commands below it. */
export function buildProgram(
  root: CommandSpec,
  version: string,
  runner: Runner,
  write: (text: string) => void,
): Command {
  const program = buildCommand(root, runner, []);
  program.version(`cardpoll ${version}`, VERSION_OPTION.flags, VERSION_OPTION.doc);
  for (const option of GLOBAL_OPTIONS) program.addOption(valueOption(option));
  // Subcommands inherit this only when commander creates them, so it is set for every command here.
  const everyCommand = (command: Command): void => {
    command.exitOverride().configureOutput({ writeOut: write, writeErr: () => {} });
    command.commands.forEach(everyCommand);
  };
  everyCommand(program);
  program.helpCommand('help [command]', 'Show help');
  return program;
}

function buildCommand(
  spec: CommandSpec,
  runner: Runner,
  settings: readonly Setting<unknown>[],
  above: CommandSpec | null = null,
): Command {
  const command = new Command(spec.name).description(spec.summary);
  command.configureHelp({
    showGlobalOptions: true,
    formatHelp: (cmd, helper) => formatHelp(spec, cmd, helper),
  });
  command.helpOption(HELP_OPTION.flags, HELP_OPTION.doc).helpCommand(false);
  for (const argument of spec.arguments ?? []) command.addArgument(valueArgument(argument));
  for (const option of optionsOf(spec)) command.addOption(valueOption(option));
  if (spec.run === undefined && spec.subcommands?.every(({ isDefault }) => isDefault !== true) === true) {
    const refuse = () => refuseUnknownSubcommand(spec, command.args.filter((word) => word !== 'help')[0]);
    // Commander itself shows the help of the group for `import --help` and `help import`.
    command.on('command:*', refuse).on('beforeHelp', refuse);
  }
  const own = [...settings, ...(spec.settings ?? [])];
  for (const sub of spec.subcommands ?? [])
    command.addCommand(buildCommand(sub, runner, own, spec), {
      hidden: sub.hidden ?? false,
      isDefault: sub.isDefault ?? false,
    });
  if (spec.run !== undefined) {
    // A mistyped subcommand arrives as an excess argument.
    const group = spec.isDefault === true ? above : spec.subcommands === undefined ? null : spec;
    if (group !== null) command.allowExcessArguments();
    command.action(async () => {
      if (group !== null) refuseUnknownSubcommand(group, command.args[0]);
      const { json, ...options } = command.optsWithGlobals();
      if (json === true) options.output = 'json';
      refuseUnknownFormat(spec, options.output);
      await runner(spec, {
        args: command.processedArgs,
        options,
        flags: flagsOf(options, [...GLOBAL_SETTINGS, ...own]),
      });
    });
  }
  return command;
}

/** Otherwise a group with its own `run` would take a mistyped subcommand as an excess argument. */
function refuseUnknownSubcommand(spec: CommandSpec, typed: string | undefined): void {
  const names = (spec.subcommands ?? []).map(({ name }) => name);
  if (typed === undefined || typed.startsWith('-') || names.includes(typed)) return;
  const deeper = pathsOf(spec, typed);
  const meant =
    deeper.length > 0 && deeper.length <= MOST_MEANT
      ? ` (did you mean ${deeper.join(' or ')}?)`
      : didYouMean(typed, names);
  throw new CardpollError('usage', 'unknown_command', `unknown command '${typed}'${meant}`);
}

/** Commands of this name anywhere below: `cards import` for `import`. */
function pathsOf(spec: CommandSpec, name: string): string[] {
  return shownBelow(spec).flatMap((sub) => [
    ...(sub.name === name ? [name] : []),
    ...pathsOf(sub, name).map((path) => `${sub.name} ${path}`),
  ]);
}

/** All commands share the option -o, but the words it accepts depend on the command. */
function refuseUnknownFormat(spec: CommandSpec, format: unknown): void {
  const formats = formatsOf(spec);
  if (format === undefined || formats.some((known) => known === format)) return;
  throw new CardpollError(
    'usage',
    'invalid_argument',
    `--output: "${format}" is none of ${formats.join(', ')}${didYouMean(String(format), formats)}`,
  );
}

function flagsOf(
  options: Record<string, unknown>,
  settings: readonly Setting<unknown>[],
): ParsedInput['flags'] {
  return Object.fromEntries(
    settings.map((setting) => {
      const flag = flagOf(setting);
      const attribute = flag.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
      return [flag, options[attribute] as string | undefined];
    }),
  );
}

function valueArgument(spec: ArgumentSpec): Argument {
  const parse = parserOf(spec.kind, spec.name.replace(/[<>[\].]/g, ''));
  const argument = new Argument(spec.name, spec.doc);
  if (!argument.variadic) return argument.argParser(parse);
  return argument.argParser((raw, before: readonly unknown[] = []) => [...before, parse(raw)]);
}

function valueOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags.replace(/\[=(<.*>)\]/, ' $1'), spec.doc);
  option.flags = spec.flags;
  if (spec.kind !== undefined) option.argParser(parserOf(spec.kind, option.long ?? spec.flags));
  if (spec.default !== undefined) option.default(spec.default);
  return option.makeOptionMandatory(spec.required ?? false);
}

function parserOf(kind: Kind<unknown>, name: string): (raw: string) => unknown {
  return (raw) => {
    const suggestion = kind.choices === undefined ? '' : didYouMean(raw, kind.choices);
    const toError = (problem: string) =>
      new CardpollError('usage', 'invalid_argument', `${name}: ${problem}${suggestion}`);
    return parseOr(() => kind.parse(raw), toError);
  };
}
