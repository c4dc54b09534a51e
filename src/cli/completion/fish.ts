// The completion script for fish: one `complete` line per word, with the condition that its command is being typed.
import type { OptionWords, Place } from './word-list.ts';

export function fishCompletion(places: readonly Place[]): string {
  const [, ...commands] = places;
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
      case ${commands.map(({ path }) => `'${path}'`).join(' ')}
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
