// The completion script for zsh: like that for bash, with descriptions.
import type { OptionWords, Place } from './word-list.ts';

export function zshCompletion(places: readonly Place[]): string {
  const [, ...commands] = places;
  const words = places.map(({ path, words: own, options }) => {
    const next = [
      ...own.map(({ text, doc }) => described(text, doc)),
      ...options.flatMap(({ names, doc }) => names.map((name) => described(name, doc))),
    ];
    return `    '${path}') candidates=(${next.join(' ')}) ;;`;
  });
  const values = places.flatMap(({ path, options }) =>
    options.filter(({ takesValue }) => takesValue).map((option) => valueCase(path, option)),
  );
  return `#compdef cardpoll
# zsh completion for cardpoll. Load it with: source <(cardpoll completion zsh)
_cardpoll() {
  local at=cardpoll word
  local -a candidates
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
  _describe cardpoll candidates || _files
}
compdef _cardpoll cardpoll
`;
}

function valueCase(path: string, { names, values }: OptionWords): string {
  const patterns = names.map((name) => `'${path} ${name}'`).join('|');
  return `    ${patterns}) ${values.length === 0 ? '_files' : `compadd -- ${values.join(' ')}`}; return ;;`;
}

function described(text: string, doc: string): string {
  return `'${text}:${doc.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`;
}
