// Every sequence of events up to a length over a small world, and what must hold after each: no call beside another one for a SIM,
// none above the budget, none for what a resume has spared; and from everywhere the orders end once the gateway answers again. The
// shortest sequence that breaks a promise is printed.
import { expect, it } from 'vitest';
import { after, firstWorld, following, keyOf, openOrders, settled, type World } from './world.ts';

interface Walked {
  readonly states: number;
  readonly transitions: number;
}

interface Step {
  readonly world: World;
  readonly path: readonly string[];
}

/** Breadth first, each state once. @throws Error with the shortest path to what is broken */
function walk(first: World, depth: number): Walked {
  const seen = new Set([keyOf(first)]);
  let transitions = 0;
  let layer: Step[] = [{ world: first, path: [] }];
  for (let length = 0; length < depth; length += 1) {
    const next: Step[] = [];
    for (const { world, path } of layer) {
      for (const [event, then] of following(world)) {
        transitions += 1;
        const key = keyOf(then);
        if (seen.has(key) && then.broken.length === 0) continue;
        seen.add(key);
        const here = [...path, event];
        const left = openOrders(settled(then));
        if (then.broken.length + left.length > 0) {
          throw new Error(`${[...then.broken, ...left].join('; ')}, after:\n  ${here.join('\n  ')}`);
        }
        next.push({ world: then, path: here });
      }
    }
    layer = next;
  }
  return { states: seen.size, transitions };
}

const OVER = ['is read over the small package', 'has its order taken'];
const STOPPED = [...OVER, 'call is done'];

it.each<[string, World, number]>([
  ['one card', firstWorld(1), 4],
  ['two cards', firstWorld(2), 3],
  ['a card whose stop is called', after(firstWorld(1), ...OVER), 4],
  ['a card that is stopped', after(firstWorld(1), ...STOPPED), 4],
  [
    'a card whose resume is called',
    after(firstWorld(1), ...STOPPED, 'is ordered resumed', 'has its order taken'),
    4,
  ],
  [
    'a card that was resumed',
    after(firstWorld(1), ...STOPPED, 'is ordered resumed', 'has its order taken', 'call is done'),
    4,
  ],
  [
    'a card that is observed',
    after(firstWorld(1), 'the mode is observe', 'is read over the small package'),
    4,
  ],
  ['two cards and a budget that is spent', after(firstWorld(2), ...STOPPED), 3],
])('%s: every sequence keeps the promises', (name, first, depth) => {
  const { states, transitions } = walk(first, depth);
  process.stderr.write(`${name}, ${depth} events: ${states} states, ${transitions} transitions\n`);
  expect(transitions).toBeGreaterThan(1_000);
});
