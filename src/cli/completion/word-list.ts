// The words that can be typed at each place, flattened from the declarations of the commands. Used by the scripts for the
// shells.
import type { Kind } from '../../config/kinds.ts';
import type { CommandSpec, NamedThing, OptionSpec } from '../command.ts';
import {
  formatsOf,
  GLOBAL_OPTIONS,
  HELP_OPTION,
  OUTPUT_OPTION,
  optionsOf,
  VERSION_OPTION,
} from '../global-options.ts';

interface Word {
  readonly text: string;
  readonly doc: string;
}

export interface OptionWords {
  /** `-o` and `--output`. */
  readonly names: readonly string[];
  readonly doc: string;
  readonly takesValue: boolean;
  /** The accepted values, if there are few; empty: anything. */
  readonly values: readonly string[];
  /** The value is a file or a directory. */
  readonly takesFile: boolean;
}

/** One command: what can come after it. */
export interface Place {
  /** `cardpoll concurrency set`. */
  readonly path: string;
  /** Subcommands, and the words its arguments accept. */
  readonly words: readonly Word[];
  /** Its options, with those of the commands above it. */
  readonly options: readonly OptionWords[];
  /** Its argument is a file. */
  readonly takesFile: boolean;
  /** The kind of names its argument accepts, listed by `cardpoll complete-names`; null: none. */
  readonly names: NamedThing | null;
}

/** Every command, each before those below it. */
export function placesOf(root: CommandSpec): Place[] {
  const visit = (spec: CommandSpec, above: string, inherited: readonly OptionWords[]): Place[] => {
    const path = above === '' ? spec.name : `${above} ${spec.name}`;
    const own = [...optionsOf(spec).map(optionWords), ...inherited];
    const below = shown(spec).flatMap((sub) => visit(sub, path, own));
    const usual = shown(spec)
      .filter(({ isDefault }) => isDefault === true)
      .flatMap(optionsOf);
    const options = [...usual.map(optionWords), ...own, ...everywhere(spec)];
    const names = spec.arguments?.find((one) => one.names !== undefined)?.names ?? null;
    const takesFile = spec.arguments?.some(({ kind }) => isFile(kind)) === true;
    return [{ path, words: wordsOf(spec), options, takesFile, names }, ...below];
  };
  return visit(root, '', []);
}

/** The options of every command, with the -o words of this one. */
function everywhere(spec: CommandSpec): OptionWords[] {
  return [...GLOBAL_OPTIONS, VERSION_OPTION, HELP_OPTION].map((option) =>
    optionWords(option === OUTPUT_OPTION ? { ...option, choices: formatsOf(spec) } : option),
  );
}

function shown({ subcommands = [] }: CommandSpec): readonly CommandSpec[] {
  return subcommands.filter(({ hidden }) => hidden !== true);
}

function wordsOf(spec: CommandSpec): Word[] {
  const { arguments: args = [] } = spec;
  return [
    ...shown(spec).map(({ name, summary }) => ({ text: name, doc: summary })),
    ...args.flatMap(({ choices = [], name }) =>
      choices.map((text) => ({ text, doc: name.replace(/[<>[\]]/g, '') })),
    ),
  ];
}

function optionWords({ flags, doc, kind, choices }: OptionSpec): OptionWords {
  return {
    // Not the -MM of <YYYY-MM-DD>.
    names: flags.match(/(?<!\S)--?[\w-]+/g) ?? [],
    doc,
    takesValue: / </.test(flags),
    values: choices ?? kind?.choices ?? [],
    takesFile: kind !== undefined && isFile(kind),
  };
}

function isFile({ accepts }: Kind<unknown>): boolean {
  return /\b(path|file)\b/.test(accepts);
}
