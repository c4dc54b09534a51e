// The completion script for bash. One `case` finds the command that is being typed, another what may come next. Options are
// offered after a dash, or where nothing else may come.
import type { OptionWords, Place } from './word-list.ts';

export function bashCompletion(places: readonly Place[]): string {
  const [, ...commands] = places;
  const words = places.map(({ path, words: own, options, takesFile, names }) => {
    const next = own.map(({ text }) => text).join(' ');
    const flags = options.flatMap((option) => option.names).join(' ');
    return `    '${path}') words='${next}' flags='${flags}'${takesFile || names !== null ? ' other=1' : ''} ;;`;
  });
  const values = places.flatMap(({ path, options }) =>
    options.filter(({ takesValue }) => takesValue).map((option) => valueCase(path, option)),
  );
  const named = places.flatMap(({ path, names }) =>
    names === null ? [] : [`    '${path}') _cardpoll_names ${names} "$current" ;;`],
  );
  return `# bash completion for cardpoll. Load it with: source <(cardpoll completion bash)
_cardpoll() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} at=cardpoll words= flags= other= word
  # --option=value is three words here.
  [[ $previous != = ]] || previous=\${COMP_WORDS[COMP_CWORD-2]}
  [[ $current != = ]] || current=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${commands.map(({ path }) => `'${path}'`).join('|')}) at="$at $word" ;;
    esac
  done
  case "$at $previous" in
${[...new Set(values)].join('\n')}
  esac
  case "$at" in
${words.join('\n')}
  esac
  [[ $current != -* && -n $words$other ]] || words+=" $flags"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case "$at" in
${named.join('\n')}
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

/** An option that needs a value: offers its words, or files if it is one. */
function valueCase(path: string, { names, values, takesFile }: OptionWords): string {
  const patterns = names.map((name) => `'${path} ${name}'`).join('|');
  const noFiles = takesFile ? '' : 'compopt +o default 2>/dev/null; ';
  return `    ${patterns}) ${noFiles}COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$current")); return ;;`;
}
