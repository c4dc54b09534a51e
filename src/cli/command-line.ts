// Finds the command of a command line. Options may come before its name: `cardpoll --watch stats`. Used by run.ts. The parser
// (program.ts) refuses unknown options.
import { didYouMean } from '../config/suggest.ts';
import { CardpollError } from '../platform/errors.ts';
import { type CommandPath, type CommandSpec, shownBelow, withBelow } from './command.ts';
import { flagNames, HELP_OPTION, optionsAt, optionsOf } from './global-options.ts';

interface CommandLine {
  readonly path: CommandPath;
  /** Options and arguments. */
  readonly words: readonly string[];
}

const HELP = '--help';

/** Throws CardpollError kind `usage` for an unknown command name. */
export function commandLineOf(argv: readonly string[], root: CommandSpec): CommandLine {
  const words = withValues(argv, root);
  const options: string[] = [];
  let path: CommandPath = [root];
  for (let [word] = words; word !== undefined && word !== '--'; [word] = words) {
    const [spec] = path;
    if (word.startsWith('-')) {
      const length = lengthOf(word, path);
      if (length === null) break;
      options.push(...words.splice(0, length));
      continue;
    }
    if (spec.subcommands === undefined) break;
    words.shift();
    const sub = spec.subcommands.find(({ name }) => name === word);
    if (sub !== undefined) path = [sub, ...path];
    else if (word === 'help' && !options.includes(HELP)) options.push(HELP);
    else throw unknownCommand(spec, word);
  }
  words.unshift(...options);
  const usual = path[0].subcommands?.find(({ isDefault }) => isDefault === true);
  // The name of a group alone shows its help.
  if (usual === undefined && path[0].run === undefined && words.length === 0) words.push(HELP);
  const asksHelp = words.some((word) => flagNames(HELP_OPTION).includes(word));
  return { path: usual === undefined || asksHelp ? path : [usual, ...path], words };
}

/** `--json` -> `--output=json`; `--watch` -> `--watch=2`: otherwise the parser takes the next word as its value. */
function withValues(argv: readonly string[], root: CommandSpec): string[] {
  const meant = new Map([['--json', '--output=json']]);
  for (const { flags, bare } of withBelow(root).flatMap(optionsOf)) {
    const [name = ''] = flags.split('[');
    if (bare !== undefined) meant.set(name, `${name}=${bare}`);
  }
  const end = argv.indexOf('--');
  return argv.map((word, index) => (end === -1 || index < end ? (meant.get(word) ?? word) : word));
}

/**
 * Number of words of the option, including its value.
 * @returns null for an unknown option, and for one that takes a value only in some of the commands below.
 */
function lengthOf(word: string, path: CommandPath): number | null {
  const name = word.startsWith('--') ? word.replace(/=.*/s, '') : word.slice(0, 2);
  const here = optionsAt(path).filter((option) => flagNames(option).includes(name));
  const below = withBelow(path[0]).flatMap(optionsOf);
  const meant = here.length > 0 ? here : below.filter((option) => flagNames(option).includes(name));
  const [takesValue, ...others] = new Set(meant.map(({ flags }) => flags.includes('<')));
  if (takesValue === undefined || others.length > 0) return null;
  const isAttached = word.startsWith('--') ? word.includes('=') : word.length > 2;
  return takesValue && !isAttached ? 2 : 1;
}

/** A name that more commands share, such as `list`, is too ambiguous for suggestions. */
const MOST_MEANT = 3;

function unknownCommand(spec: CommandSpec, typed: string): CardpollError {
  const deeper = pathsOf(spec, typed);
  const names = shownBelow(spec).map(({ name }) => name);
  const meant =
    deeper.length > 0 && deeper.length <= MOST_MEANT
      ? ` (did you mean ${deeper.join(' or ')}?)`
      : didYouMean(typed, names);
  return new CardpollError('usage', 'unknown_command', `unknown command '${typed}'${meant}`);
}

/** Commands of this name anywhere below: `cards import` for `import`. */
function pathsOf(spec: CommandSpec, name: string): string[] {
  return shownBelow(spec).flatMap((sub) => [
    ...(sub.name === name ? [name] : []),
    ...pathsOf(sub, name).map((path) => `${sub.name} ${path}`),
  ]);
}
