// Bytes of a keyboard -> keys, in whatever pieces they arrive.
import { describe, expect, it } from 'vitest';
import { keyOfPending, keysIn } from '../../../src/dashboard/terminal.ts';

const namesIn = (text: string) =>
  keysIn(text).keys.map((one) => ('key' in one ? one.key : { pasted: one.pasted }));

it.each<[string, unknown[]]>([
  ['q', ['q']],
  ['L150\ry', ['L', '1', '5', '0', 'return', 'y']],
  ['\x1b[A\x1b[B\x1b[C\x1b[D', ['up', 'down', 'right', 'left']],
  ['\x1bOA\x1bOB', ['up', 'down']],
  ['\t\x1b[Z', ['tab', 'shift-tab']],
  ['\x7f\b\x1b[3~', ['backspace', 'backspace', 'backspace']],
  ['\x03\x15\x0c', ['ctrl-c', 'ctrl-u', 'ctrl-l']],
  ['\x1b[15~\x1b[1;5A\x1b[<0;10;10M\x1b[I', []],
  ['\x1bq', ['escape', 'q']],
  ['\x1b\x1b[A', ['escape', 'up']],
  ['量🦊', ['量', '🦊']],
  ['\x00', []],
  ['\x1b[200~L150\ry\x1b[201~q', [{ pasted: 'L150\ry' }, 'q']],
])('%j', (text, expected) => {
  expect(namesIn(text)).toEqual(expected);
});

describe('in pieces', () => {
  it.each(['\x1b[A', '\x1bOB', '\x1b[1;5C', '\x1b[200~L1\ry\x1b[201~'])('%j comes together', (text) => {
    for (let cut = 1; cut < text.length; cut += 1) {
      const first = keysIn(text.slice(0, cut));
      const second = keysIn(first.pending + text.slice(cut));
      expect([...first.keys, ...second.keys], `cut at ${cut}`).toEqual(keysIn(text).keys);
      expect(second.pending).toBe('');
    }
  });

  it('Esc alone is a key, the beginning of a paste is none', () => {
    expect(keysIn('\x1b')).toEqual({ keys: [], pending: '\x1b' });
    expect(keyOfPending('\x1b')).toBe('escape');
    expect(keyOfPending('\x1b[200~L15')).toBeNull();
  });
});
