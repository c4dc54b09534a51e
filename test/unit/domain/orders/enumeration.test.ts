// Every sequence of events up to a length over a small world, and what must hold after each: no call beside another one for a SIM,
// none above the budget, none for what a resume has spared; and from everywhere the orders end once the gateway answers again. The
// shortest sequence that breaks a promise is printed.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { StopState } from '../../../../src/domain/stops/stop.ts';
import { after, firstWorld, following, keyOf, openOrders, settled, type World } from './world.ts';

interface Walked {
  readonly states: number;
  readonly transitions: number;
  /** How stops moved, as docs/states.md names it: `open --> done`. */
  readonly moves: ReadonlySet<string>;
}

interface Step {
  readonly world: World;
  readonly path: readonly string[];
}

/** Breadth first, each state once. @throws Error with the shortest path to what is broken */
function walk(first: World, depth: number): Walked {
  const seen = new Set([keyOf(first)]);
  const moves = new Set<string>();
  let transitions = 0;
  let layer: Step[] = [{ world: first, path: [] }];
  for (let length = 0; length < depth; length += 1) {
    const next: Step[] = [];
    for (const { world, path } of layer) {
      for (const [event, then] of following(world)) {
        transitions += 1;
        for (const move of movesOf(world, then)) moves.add(move);
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
  return { states: seen.size, transitions, moves };
}

/** The states that operators see, as the diagram groups them. */
const GROUP: Readonly<Record<StopState, string>> = {
  requested: 'open',
  held: 'open',
  observed: 'open',
  done: 'done',
  dismissed: 'spared',
  resumed: 'spared',
};

function movesOf(from: World, to: World): string[] {
  return from.cards.flatMap((card, i) => {
    const statesOf = ({ facts }: World['cards'][number]) =>
      new Map(facts.stops.map(({ month, state }) => [month, GROUP[state]]));
    const before = statesOf(card);
    const after = statesOf(to.cards[i] as World['cards'][number]);
    return [...new Set([...before.keys(), ...after.keys()])].flatMap((month) => {
      const [was, is] = [before.get(month) ?? '[*]', after.get(month) ?? '[*]'];
      return was === is ? [] : [`${was} --> ${is}`];
    });
  });
}

const OVER = ['is read over the small package', 'has its order taken'];
const STOPPED = [...OVER, 'call is done'];

const SITUATIONS: ReadonlyArray<readonly [string, World, number]> = [
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
  [
    'a card whose status was asked for its stop',
    after(firstWorld(1), 'is read over the small package', 'has its order taken, and its status asked'),
    4,
  ],
  ['a card whose vendor works on its stop', after(firstWorld(1), ...OVER, 'call is pending'), 4],
  [
    'a card whose vendor works on its resume',
    after(firstWorld(1), ...STOPPED, 'is ordered resumed', 'has its order taken', 'call is pending'),
    4,
  ],
  ['two cards and a budget that is spent', after(firstWorld(2), ...STOPPED), 3],
];

const walked = new Map<string, Walked>();

/** Each walk is made once. */
function walkOf([name, first, depth]: (typeof SITUATIONS)[number]): Walked {
  const made = walked.get(name) ?? walk(first, depth);
  walked.set(name, made);
  return made;
}

it.each(SITUATIONS)('%s: every sequence keeps the promises', (...situation) => {
  const { states, transitions } = walkOf(situation);
  const [name, , depth] = situation;
  process.stderr.write(`${name}, ${depth} events: ${states} states, ${transitions} transitions\n`);
  expect(transitions).toBeGreaterThan(1_000);
});

it('a stop moves as the diagram of docs/states.md shows, and not otherwise', () => {
  const moves = new Set(SITUATIONS.flatMap((situation) => [...walkOf(situation).moves]));
  const page = readFileSync(new URL('../../../../docs/states.md', import.meta.url), 'utf8');
  const [, section = ''] = /^## A stop$([\s\S]*?)^## /m.exec(page) ?? [];
  const shown = [...section.matchAll(/^ {2}(\S+ --> \S+):/gm)].map(([, move]) => move);
  expect([...moves].toSorted()).toEqual(shown.toSorted());
});
