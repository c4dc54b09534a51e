// Turns the bytes of a keyboard in raw mode into names of keys. Used by the session. A paste becomes a text, so that a
// clipboard never presses a key. An unknown sequence is dropped as a whole and not read as characters.

export interface Input {
  readonly keys: readonly ({ readonly key: string } | { readonly pasted: string })[];
  /** The beginning of a sequence or a paste that may continue in the next chunk. */
  readonly pending: string;
}

const SEQUENCES: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  Z: 'shift-tab',
  '3~': 'backspace',
};
const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'return',
  '\n': 'return',
  '\t': 'tab',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x1b': 'escape',
};
const ESCAPE = '\x1b';
const PASTE_BEGINS = '\x1b[200~';
const PASTE_ENDS = '\x1b[201~';
/** What follows Esc: a complete control sequence (ECMA-48), or the beginning of one. */
const SEQUENCE = /^(?:\[([0-?]*[ -/]*[@-~])|O([@-~]))/;
const BEGUN = /^(?:\[[0-?]*[ -/]*|O)?$/;

/** @param text what was pending, followed by the next chunk. */
export function keysIn(text: string): Input {
  const keys: Input['keys'][number][] = [];
  let rest = text;
  while (rest !== '') {
    if (rest.startsWith(PASTE_BEGINS)) {
      const end = rest.indexOf(PASTE_ENDS);
      if (end === -1) return { keys, pending: rest };
      keys.push({ pasted: rest.slice(PASTE_BEGINS.length, end) });
      rest = rest.slice(end + PASTE_ENDS.length);
      continue;
    }
    const behind = rest.startsWith(ESCAPE) ? rest.slice(1) : null;
    if (behind !== null && BEGUN.test(behind)) return { keys, pending: rest };
    const sequence = behind === null ? null : SEQUENCE.exec(behind);
    if (sequence !== null) {
      const key = SEQUENCES[sequence[1] ?? sequence[2] ?? ''];
      if (key !== undefined) keys.push({ key });
      rest = rest.slice(ESCAPE.length + sequence[0].length);
      continue;
    }
    const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
    const key = keyOf(character);
    if (key !== null) keys.push({ key });
    rest = rest.slice(character.length);
  }
  return { keys, pending: '' };
}

/** The key that a pending text was when nothing followed it: only Esc can be one. */
export function keyOfPending(pending: string): string | null {
  return pending === ESCAPE ? 'escape' : null;
}

function keyOf(character: string): string | null {
  const named = CONTROLS[character];
  if (named !== undefined) return named;
  if (!/\p{Cc}/u.test(character)) return character;
  const code = character.charCodeAt(0);
  return code >= 1 && code <= 26 ? `ctrl-${String.fromCharCode(code + 96)}` : null;
}
