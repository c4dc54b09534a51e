// The completion scripts of bash, zsh and fish, from the words that can be typed at each place, which are flattened from
// the declarations of the commands.
import type { Kind } from '../config/kinds.ts';
import { type CommandSpec, type NamedThing, type OptionSpec, shownBelow } from './command.ts';
import { commonOptions, optionsOf } from './global-options.ts';
import { shellQuoted } from './output/shell-word.ts';

interface Word {
  readonly text: string;
  readonly doc: string;
}

interface OptionWords {
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
interface Place {
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
    const below = shownBelow(spec).flatMap((sub) => visit(sub, path, own));
    const usual = shownBelow(spec)
      .filter(({ isDefault }) => isDefault === true)
      .flatMap(optionsOf);
    const options = [...usual.map(optionWords), ...own, ...commonOptions(spec).map(optionWords)];
    const names = spec.arguments?.find((one) => one.names !== undefined)?.names ?? null;
    const takesFile = spec.arguments?.some(({ kind }) => isFile(kind)) === true;
    return [{ path, words: wordsOf(spec), options, takesFile, names }, ...below];
  };
  return visit(root, '', []);
}

function wordsOf(spec: CommandSpec): Word[] {
  const { arguments: args = [] } = spec;
  return [
    ...shownBelow(spec).map(({ name, summary }) => ({ text: name, doc: summary })),
    ...args.flatMap(({ kind: { choices = [] }, name }) =>
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

/**
 * One `case` finds the command that is being typed, another what may come next. Options are offered after a dash, or where
 * nothing else may come.
 */
export function bashCompletion(places: readonly Place[]): string {
  const words = places.map(({ path, words: own, options, takesFile, names }) => {
    const next = own.map(({ text }) => text).join(' ');
    const flags = options.flatMap((option) => option.names).join(' ');
    return `    '${path}') words='${next}' flags='${flags}'${takesFile || names !== null ? ' other=1' : ''} ;;`;
  });
  return `# bash completion for cardpoll. Load it with: source <(cardpoll completion bash)
_cardpoll() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} at=cardpoll words= flags= other= word
  # --option=value is three words here.
  [[ $previous != = ]] || previous=\${COMP_WORDS[COMP_CWORD-2]}
  [[ $current != = ]] || current=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${commandsIn(places, '|')}) at="$at $word" ;;
    esac
  done
  case "$at $previous" in
${valueCases(places, bashValues)}
  esac
  case "$at" in
${words.join('\n')}
  esac
  [[ $current != -* && -n $words$other ]] || words+=" $flags"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case "$at" in
${nameCases(places, ' "$current"')}
  esac
}
# Names from the running daemon; nothing when there is none. They may hold blanks.
_cardpoll_names() {
  local name typed=\${2#[\\"\\']}
  while IFS= read -r name; do
    [[ $name == "\${typed//\\\\/}"* ]] || continue
    if [[ $2 == [\\"\\']* ]]; then COMPREPLY+=("$name"); else COMPREPLY+=("$(printf %q "$name")"); fi
  done < <(cardpoll complete-names "$1" 2>/dev/null)
}
complete -o default -F _cardpoll cardpoll
`;
}

/** Offers the words of an option, or files if its value is one. */
function bashValues({ values, takesFile }: OptionWords): string {
  const noFiles = takesFile ? '' : 'compopt +o default 2>/dev/null; ';
  return `${noFiles}COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$current")); `;
}

/** Like the script for bash, with descriptions. */
export function zshCompletion(places: readonly Place[]): string {
  const words = places.map(({ path, words: own, options, takesFile, names }) => {
    const next = own.map(({ text, doc }) => described(text, doc)).join(' ');
    const flags = options.flatMap((option) => option.names.map((name) => described(name, option.doc)));
    const other = takesFile ? ' other=files' : names === null ? '' : ' other=names';
    return `    '${path}') candidates=(${next}) flags=(${flags.join(' ')})${other} ;;`;
  });
  return `#compdef cardpoll
# zsh completion for cardpoll. Load it with: source <(cardpoll completion zsh)
_cardpoll() {
  local at=cardpoll word other=
  local -a candidates flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      ${commandsIn(places, '|')}) at="$at $word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${valueCases(places, zshValues)}
  esac
  case "$at" in
${words.join('\n')}
  esac
  if [[ $PREFIX == -* || ( \${#candidates} -eq 0 && -z $other ) ]]; then
    candidates+=("\${(@)flags}")
  fi
  case "$at" in
${nameCases(places, '')}
  esac
  if (( \${#candidates} )); then
    _describe -t cardpoll cardpoll candidates
  elif [[ $other == files ]]; then
    _files
  fi
}
# Names from the running daemon; nothing when there is none. They may hold blanks.
_cardpoll_names() {
  local -a names
  names=("\${(@f)$(cardpoll complete-names $1 2>/dev/null)}")
  names=("\${(@)names:#}")
  (( \${#names} )) && compadd -a names
}
# Sourced, it registers itself; from a directory of $fpath it is the body of the function.
if [[ \${funcstack[1]} == _cardpoll ]]; then
  _cardpoll "$@"
else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit -u; }
  compdef _cardpoll cardpoll
fi
`;
}

function zshValues({ values, takesFile }: OptionWords): string {
  if (values.length > 0) return `compadd -- ${values.map(shellQuoted).join(' ')}; `;
  return takesFile ? '_files; ' : '';
}

function described(text: string, doc: string): string {
  return shellQuoted(`${text}:${doc.replaceAll(':', '\\:')}`);
}

/** One `complete` line per word, with the condition that its command is being typed. */
export function fishCompletion(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words, options, names }) => {
    const start = `complete -c cardpoll -n '__cardpoll_at "${path}"'`;
    return [
      ...words.map(({ text, doc }) => `${start} -f -a ${text} -d ${quoted(doc)}`),
      ...(names === null ? [] : [`${start} -f -a '(cardpoll complete-names ${names} 2>/dev/null)'`]),
      ...options.map((option) => `${start} ${optionOf(option)}`),
    ];
  });
  return `# fish completion for cardpoll. Load it with: cardpoll completion fish | source
function __cardpoll_at
  set -l at cardpoll
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${commandsIn(places, ' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}

function optionOf({ names, doc, takesValue, values }: OptionWords): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  // fish reads the list as a command line, so special characters are escaped.
  const list = values.map((value) => value.replace(/[^\w.-]/g, '\\$&')).join(' ');
  const value = values.length > 0 ? [`-x -a '${list}'`] : takesValue ? ['-r'] : [];
  return [...flags, ...value, `-d ${quoted(doc)}`].join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function commandsIn([, ...commands]: readonly Place[], gap: string): string {
  return commands.map(({ path }) => `'${path}'`).join(gap);
}

/** The cases of bash and zsh for options that need a value. @param offer the shell's commands that offer the values. */
function valueCases(places: readonly Place[], offer: (option: OptionWords) => string): string {
  const cases = places.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map((one) => `    ${one.names.map((name) => `'${path} ${name}'`).join('|')}) ${offer(one)}return ;;`),
  );
  return [...new Set(cases)].join('\n');
}

/** Their cases for arguments that are names. @param more further words for the function that lists them. */
function nameCases(places: readonly Place[], more: string): string {
  return places
    .flatMap(({ path, names }) =>
      names === null ? [] : [`    '${path}') _cardpoll_names ${names}${more} ;;`],
    )
    .join('\n');
}
