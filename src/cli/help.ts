// How help looks: examples first, then usage, commands and options. Global options stand last.
import type { Command, Help } from 'commander';
import type { CommandSpec } from './command.ts';
import { formatsOf, OUTPUT_OPTION } from './global-options.ts';

export function formatHelp(spec: CommandSpec, command: Command, helper: Help): string {
  const width = helper.padWidth(command, helper);
  const item = (term: string, description: string) => helper.formatItem(term, width, description, helper);
  const section = (title: string, items: readonly string[]) =>
    items.length === 0 ? [] : ['', title, ...items];
  const option = (one: Parameters<Help['optionTerm']>[0]) =>
    item(
      helper.optionTerm(one),
      one.flags === OUTPUT_OPTION.flags ? formatsOf(spec).join(', ') : helper.optionDescription(one),
    );
  const exampleWidth = Math.max(...spec.examples.map(([line]) => line.length));
  const lines = [
    'Examples:',
    ...spec.examples.map(([line, meaning]) => `  ${line.padEnd(exampleWidth)}  # ${meaning}`),
    '',
    `Usage: ${helper.commandUsage(command)}`,
    '',
    `${helper.commandDescription(command)}.`,
    ...section(
      'Arguments:',
      helper
        .visibleArguments(command)
        .map((one) => item(helper.argumentTerm(one), helper.argumentDescription(one))),
    ),
    ...section(
      'Commands:',
      helper
        .visibleCommands(command)
        .map((one) => item(helper.subcommandTerm(one), helper.subcommandDescription(one))),
    ),
    ...section('Options:', helper.visibleOptions(command).map(option)),
    ...section('Global options:', helper.visibleGlobalOptions(command).map(option)),
  ];
  return `${lines.join('\n')}\n`;
}
