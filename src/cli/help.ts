// The layout of help: examples first, then usage, commands and options. Global options come last.
import type { Command, Help, Option } from 'commander';
import { type CommandSpec, partsOf } from './command.ts';
import { formatsOf, OUTPUT_OPTION } from './global-options.ts';

export function formatHelp(spec: CommandSpec, command: Command, helper: Help): string {
  const width = helper.padWidth(command, helper);
  const item = (term: string, description: string) => helper.formatItem(term, width, description, helper);
  const section = (title: string, items: readonly string[]) =>
    items.length === 0 ? [] : ['', title, ...items];
  const option = (one: Option) =>
    item(
      helper.optionTerm(one),
      one.flags === OUTPUT_OPTION.flags ? formatsOf(spec).join(', ') : optionText(one),
    );
  const args = helper
    .visibleArguments(command)
    .map((one) => item(helper.argumentTerm(one), helper.argumentDescription(one)));
  const commands = helper
    .visibleCommands(command)
    .map((one) => item(helper.subcommandTerm(one), helper.subcommandDescription(one)));
  const examples = ownFirst(spec.examples, pathOf(command)).map(partsOf);
  const exampleWidth = Math.max(...examples.map(([line]) => line.length));
  const lines = [
    'Examples:',
    ...examples.map(([line, meaning]) => `  ${line.padEnd(exampleWidth)}  # ${meaning}`),
    '',
    `Usage: ${helper.commandUsage(command)}`,
    '',
    `${helper.commandDescription(command)}.`,
    ...section('Arguments:', args),
    ...section('Commands:', commands),
    ...section('Options:', helper.visibleOptions(command).map(option)),
    ...section('Global options:', helper.visibleGlobalOptions(command).map(option)),
  ];
  return `${lines.join('\n')}\n`;
}

/** A group and its commands share examples; those of the command itself come first. */
function ownFirst(examples: CommandSpec['examples'], path: string): CommandSpec['examples'] {
  const isOwn = (example: string) => example.startsWith(`${path} `);
  return [...examples.filter(isOwn), ...examples.filter((example) => !isOwn(example))];
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function optionText({ description, defaultValue }: Option): string {
  const standard = statedDefault(description, defaultValue);
  return standard === null ? description : `${description} (default: ${standard})`;
}

/** The default that help and the manual add to an option's text; null: there is none, or the text states it itself. */
export function statedDefault(text: string, value: unknown): string | null {
  return value === undefined || value === '' || /default:/.test(text) ? null : String(value);
}
