// The possible next words of a command line, by the declarations of the commands. Used by `cardpoll complete`, which the
// completion scripts run at every TAB.
import type { Kind } from '../../../config/kinds.ts';
import {
  type ArgumentSpec,
  type CommandSpec,
  commandIn,
  type OptionSpec,
  shownBelow,
} from '../../command.ts';
import {
  flagNames,
  HELP_OPTION,
  optionsAt,
  optionsOf,
  shownOptions,
  VERSION_OPTION,
} from '../../global-options.ts';

interface Word {
  readonly text: string;
  readonly doc: string;
}

export interface Offer {
  readonly words: readonly Word[];
  /** Lists names that are also possible. */
  readonly names?: ArgumentSpec['names'] | undefined;
  /** Files and directories are also possible. */
  readonly files: boolean;
}

/** @param typed the words after `cardpoll`, including the current one, which may be empty. */
export function offerAt(root: CommandSpec, typed: readonly string[]): Offer {
  // bash splits `--option=value` into three words, other shells do not split it.
  const [last = '', ...earlier] = typed.toReversed();
  const current = last === '=' ? '' : last;
  const before = earlier.filter((word) => word !== '=').reverse();
  const path = commandIn(before, root);
  const [spec] = path;
  const usual = shownBelow(spec).filter(({ isDefault }) => isDefault === true);
  const options = [...usual.flatMap(optionsOf), ...optionsAt(path), VERSION_OPTION, HELP_OPTION];
  const [attached = ''] = /^--[\w-]+=/.exec(current) ?? [];
  const flag = attached === '' ? before.at(-1) : attached.slice(0, -1);
  const valued = options.find(
    (option) => takesValue(option) && flagNames(option).some((name) => name === flag),
  );
  if (valued !== undefined) return valuesOf(valued, attached);
  const flags = shownOptions(options).flatMap((option) =>
    flagNames(option).map((text) => ({ text, doc: option.doc })),
  );
  if (current.startsWith('-')) return { words: flags, files: false };
  const offer = argumentsAt(spec);
  const isEmpty = offer.words.length === 0 && offer.names === undefined && !offer.files;
  return isEmpty ? { ...offer, words: flags } : offer;
}

/** False for `--watch[=<seconds>]`: the next word is not its value. */
function takesValue({ flags }: OptionSpec): boolean {
  return flags.includes(' <');
}

function valuesOf({ choices, kind }: OptionSpec, attached: string): Offer {
  const words = (choices ?? kind?.choices ?? []).map((text) => ({ text: `${attached}${text}`, doc: '' }));
  return { words, files: kind !== undefined && isFile(kind) };
}

/** Subcommands, and the values that the command's arguments accept. */
function argumentsAt(spec: CommandSpec): Offer {
  const { arguments: args = [] } = spec;
  const below = shownBelow(spec).map(({ name, summary }) => ({ text: name, doc: summary }));
  const accepted = args.flatMap(({ kind: { choices = [] }, name }) =>
    choices.map((text) => ({ text, doc: name.replace(/[<>[\]]/g, '') })),
  );
  return {
    words: [...below, ...accepted],
    names: args.find(({ names }) => names !== undefined)?.names,
    files: args.some(({ kind }) => isFile(kind)),
  };
}

function isFile({ accepts }: Kind<unknown>): boolean {
  return /\b(path|file)\b/.test(accepts);
}
