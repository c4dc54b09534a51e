// Options of a command typed before its name: `cardpoll --watch stats`. The parser accepts an option only after its
// command, so this moves such options behind it. Used by run.ts. It leaves unknown options in place, for the parser to
// refuse.
import { type CommandSpec, type OptionSpec, withBelow } from './command.ts';
import { commonOptions, flagNames, optionsOf } from './global-options.ts';

/** Whether each flag takes a value. */
type Flags = Map<string, boolean>;

/** @returns the same words, options last among those before the first argument. */
export function optionsAfterCommand(argv: readonly string[], root: CommandSpec): string[] {
  const words = withBareValues(argv, root);
  const kept: string[] = [];
  const moved: string[] = [];
  let spec = root;
  let known: Flags = new Map([...commonOptions(root).flatMap(flagEntries), ...flagsOf(root)]);
  for (let word = words[0]; word !== undefined && word !== '--'; word = words[0]) {
    if (word.startsWith('-')) {
      const here = flagIn(known, word);
      const takesValue = here ?? flagIn(flagsBelow(spec), word);
      if (takesValue === undefined) break;
      const length = takesValue && !isAttached(word) ? 2 : 1;
      (here === undefined ? moved : kept).push(...words.splice(0, length));
    } else {
      const sub: CommandSpec | undefined = spec.subcommands?.find(({ name }) => name === word);
      if (sub === undefined) break;
      spec = sub;
      known = new Map([...known, ...flagsOf(sub)]);
      kept.push(...words.splice(0, 1));
    }
  }
  return [...kept, ...moved, ...words];
}

/** `--watch` -> `--watch=2`: otherwise the parser takes the next word as its value. */
function withBareValues(argv: readonly string[], root: CommandSpec): string[] {
  const options = withBelow(root)
    .flatMap(optionsOf)
    .filter(({ bare }) => bare !== undefined);
  const values = new Map(options.map(({ flags, bare }) => [flags.replace(/\[.*/, ''), bare]));
  const end = argv.indexOf('--');
  return argv.map((word, index) => {
    const bare = end === -1 || index < end ? values.get(word) : undefined;
    return bare === undefined ? word : `${word}=${bare}`;
  });
}

function flagIn(flags: Flags, word: string): boolean | undefined {
  const name = word.startsWith('--') ? (word.split('=', 1)[0] ?? word) : word.slice(0, 2);
  return flags.get(name);
}

/** `--limit=5` and `-ojson` carry their value. */
function isAttached(word: string): boolean {
  return word.startsWith('--') ? word.includes('=') : word.length > 2;
}

/** Every option of the subcommands, except those that take a value in some and none in others. */
function flagsBelow(spec: CommandSpec): Flags {
  const entries = (spec.subcommands ?? []).flatMap(withBelow).flatMap((one) => [...flagsOf(one)]);
  const found = new Map(entries);
  for (const [name, takesValue] of entries) if (found.get(name) !== takesValue) found.delete(name);
  return found;
}

function flagsOf(spec: CommandSpec): Flags {
  return new Map(optionsOf(spec).flatMap(flagEntries));
}

function flagEntries(option: OptionSpec): [string, boolean][] {
  return flagNames(option).map((name) => [name, option.flags.includes('<')]);
}
