// What happens to a world: faults and the doings of operators. Each is a file of faults/. What it does is drawn from the seed and its number
// in the night, so that it does the same when others are left out.
import { Readable } from 'node:stream';
import { CardpollError } from '../../src/platform/errors.ts';
import { fileOf, type WorldCard } from './cards.ts';
import type { Instance } from './instance.ts';
import type { StoreKind } from './live/world-live.ts';
import type { Nature } from './nature.ts';
import type { Outside } from './outside.ts';
import type { Random } from './virtual/random.ts';
import { ACTOR, type World } from './world.ts';

export interface Fault<Seen = World> {
  readonly name: string;
  /** How often it is drawn, against others; 1 when absent. */
  readonly weight?: number;
  /** It happens to this live store; absent: to each. */
  readonly only?: StoreKind;
  /** @returns what it does, for the story, or null: there is nothing to do it to. What lasts, `lasting` ends. */
  begin(world: Seen, draw: Random): string | null | Promise<string | null>;
}

/** A fault that is drawn by itself, so that one more of this kind changes no night that does not have it. */
export interface OwnFault extends Fault {
  /** Of the nights, and how often in one of them at most. */
  readonly share: number;
  readonly most: number;
  /**
   * When it begins; absent: at any time.
   * @param end when the faults of the night end
   */
  at?(nature: Nature, draw: Random, end: number): number;
}

/** Undoes something after a time, or when all faults end. */
export function lasting(world: Pick<Outside, 'unfinished' | 'time'>, ms: number, end: () => void): void {
  const once = () => {
    if (world.unfinished.delete(once)) end();
  };
  world.unfinished.add(once);
  world.time.after(ms, once);
}

/** One instance, often the one that leads, or all of them. */
export function someInstances(world: World, draw: Random): Instance[] {
  if (world.alive.length === 0) return [];
  if (draw.chance(0.3)) return [...world.alive];
  const one = draw.oneOf(world.alive);
  const leader = draw.chance(0.5) ? world.up.find(({ engine }) => engine.leads) : undefined;
  return [leader ?? one];
}

export function namesOf(instances: readonly Instance[]): string {
  return instances.map(({ id }) => id).join(', ');
}

/** What an operator asks of an instance; it may be refused, or have no answer. @returns the answer; null: none is known. */
export async function ask<T>(
  world: World,
  draw: Random,
  what: string,
  work: (operations: Instance['operations']) => Promise<T>,
): Promise<T | null> {
  if (world.up.length === 0) return null;
  const instance = draw.oneOf(world.up);
  try {
    return await Promise.race([work(instance.operations), instance.death]);
  } catch (error) {
    const { message, stack } = error as Error;
    if (error instanceof CardpollError || instance.state === 'dead')
      world.tell('operator', `${what}: ${message}`);
    else world.fail('nothing unhandled', `${what}: ${stack}`);
    return null;
  }
}

/** What an operator asks until it is done. */
export async function insist<T>(
  world: World,
  draw: Random,
  what: string,
  work: (operations: Instance['operations']) => Promise<T>,
): Promise<T> {
  for (;;) {
    const answer = await ask(world, draw, what, work);
    if (answer !== null) return answer;
    await world.time.sleep(1_000);
  }
}

/**
 * Imports what operators know of these cards. An import is repeatable, and is repeated until it succeeds; one at a time, or an older file
 * that is repeated would undo a newer one. Cards of it may exchange their SIMs.
 */
export function importCards(world: World, draw: Random, cards: Iterable<WorldCard>): Promise<void> {
  return world.imports(async () => {
    const file = fileOf(cards, world.nature.hasVendorIds);
    const { rejected, errors } = await insist(world, draw, 'import', ({ cards: all }) =>
      all.import(ACTOR, Readable.from([file]), { format: 'csv' }),
    );
    if (rejected > 0)
      world.fail('the world goes on', `${rejected} rows are rejected: ${JSON.stringify(errors)}`);
  });
}
