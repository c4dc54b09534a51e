// Reports on stderr what a command has changed, old -> new. The answer itself has the new values only.
import type { Io } from '../command.ts';
import { plainText } from './line.ts';
import { cardCount } from './style.ts';

/** Name, old and new value of something that may have changed. */
export type Change = readonly [name: string, before: unknown, after: unknown];

/**
 * `realname: limit 100 -> 150, 1,000,000 cards`
 * @param cards how many cards it affects; null where that is not known.
 */
export function printChange(io: Io, what: string, changes: readonly Change[], cards: number | null): void {
  const changed = changes.filter(([, before, after]) => before !== after);
  const said = changed.map(([name, before, after]) => `${name} ${valueText(before)} -> ${valueText(after)}`);
  const facts = said.length === 0 ? ['nothing changed'] : [...said, ...concerned(cards)];
  io.stderr.write(`${plainText(`${what}: ${facts.join(', ')}`)}\n`);
}

function concerned(cards: number | null): string[] {
  return cards === null ? [] : [`concerns ${cardCount(cards)}`];
}

/** In the words of the fields. */
export function valueText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? 'none' : JSON.stringify(value);
}
