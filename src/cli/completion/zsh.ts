// The completion script for zsh: like that for bash, with descriptions.
import { shellQuoted } from '../output/shell-word.ts';
import type { OptionWords, Place } from './word-list.ts';

export function zshCompletion(places: readonly Place[]): string {
  const [, ...commands] = places;
  const words = places.map(({ path, words: own, options, takesFile, names }) => {
    const next = own.map(({ text, doc }) => described(text, doc)).join(' ');
    const flags = options.flatMap((option) => option.names.map((name) => described(name, option.doc)));
    const other = takesFile ? ' other=files' : names === null ? '' : ' other=names';
    return `    '${path}') candidates=(${next}) flags=(${flags.join(' ')})${other} ;;`;
  });
  const values = places.flatMap(({ path, options }) =>
    options.filter(({ takesValue }) => takesValue).map((option) => valueCase(path, option)),
  );
  const named = places.flatMap(({ path, names }) =>
    names === null ? [] : [`    '${path}') _cardpoll_names ${names} ;;`],
  );
  return `#compdef cardpoll
# zsh completion for cardpoll. Load it with: source <(cardpoll completion zsh)
_cardpoll() {
  local at=cardpoll word other=
  local -a candidates flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      ${commands.map(({ path }) => `'${path}'`).join('|')}) at="$at $word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${[...new Set(values)].join('\n')}
  esac
  case "$at" in
${words.join('\n')}
  esac
  if [[ $PREFIX == -* || ( \${#candidates} -eq 0 && -z $other ) ]]; then
    candidates+=("\${(@)flags}")
  fi
  case "$at" in
${named.join('\n')}
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

function valueCase(path: string, { names, values, takesFile }: OptionWords): string {
  const patterns = names.map((name) => `'${path} ${name}'`).join('|');
  const offer =
    values.length > 0 ? `compadd -- ${values.map(shellQuoted).join(' ')}; ` : takesFile ? '_files; ' : '';
  return `    ${patterns}) ${offer}return ;;`;
}

function described(text: string, doc: string): string {
  return shellQuoted(`${text}:${doc.replaceAll(':', '\\:')}`);
}
