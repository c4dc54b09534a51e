// A failure in at most sixty lines: what broke, what happened before it, and the command that shows it again.
import type { Night, Verdict } from './night.ts';

const MOST_LINES = 60;

export type Proof = 'prove' | 'prove:processes';

export function commandOf(
  { seed, minutes, instances, cards, store, faults }: Night,
  proof: Proof = 'prove',
): string {
  const chosen = faults === null ? '' : ` --faults ${faults.length === 0 ? 'none' : faults.join(',')}`;
  const live = store === 'embedded' ? '' : ` --store ${store}`;
  return `npm run ${proof} -- --seeds 1 --from ${seed} --minutes ${minutes} --instances ${instances} --cards ${cards}${live}${chosen}`;
}

export function storyOf({ night, failures, story }: Verdict, proof?: Proof): string[] {
  const head = [`seed ${night.seed} fails: ${(failures[0] ?? '').split('\n')[0]}`];
  const tail = ['', 'again:', `  ${commandOf(night, proof)}`];
  const room = MOST_LINES - head.length - tail.length - 1;
  const about = [...new Set((failures[0] ?? '').match(/\d{18,22}|card \d+/g) ?? [])];
  const isTold = (line: string) =>
    /fault \d|BROKEN|world {4}|dies|starts|leads/.test(line) || about.some((name) => line.includes(name));
  const told = story.filter(isTold).flatMap((line) => line.split('\n').slice(0, 6));
  const cut =
    told.length > room
      ? [...told.slice(0, room >> 1), '...', ...told.slice(-(room - (room >> 1) - 1))]
      : told;
  return [...head, ...cut, ...tail];
}
