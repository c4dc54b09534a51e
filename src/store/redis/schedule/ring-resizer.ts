// Splits and merges the buckets of rings, a few in each short script call. Used by rings.ts. domain/schedule/phase.ts
// decides when a bucket is split or merged.
import { afterMerge, afterSplit, nextResize, type RingShape } from '../../../domain/schedule/phase.ts';
import type { RingGeneration, RingState } from '../../ports/live/rings.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';
import { generationsOf, type StateReply, stateOf } from './ring-state.ts';

/** About 3,000 cards, which take a few milliseconds of Redis' time. */
const BUCKETS_PER_CALL = 16;

export function ringResizer(client: RedisClient, keys: Keys) {
  async function step(
    state: RingState,
    { prefix, build }: { prefix: string; build: RingGeneration },
    direction: 'split' | 'merge',
    cards: number,
  ): Promise<RingState> {
    const names = [keys.ring(state)];
    for (const number of plan(build, direction, cards)) {
      for (const one of [number, 2 * number, 2 * number + 1]) {
        names.push(keys.bucket(state, build.generation, one));
      }
    }
    const script = direction === 'split' ? 'ringSplit' : 'ringMerge';
    const args = [prefix, build.generation, build.buckets, build.split];
    const reply = (await client.script(script, names, args)) as StateReply | null;
    // The ring was dropped meanwhile: there is nothing to resize.
    return reply === null ? { ...state, generation: 0, building: null } : stateOf(state, reply);
  }

  return {
    /** Splits the buckets that would be too large with `more` cards. @returns the state after that */
    async makeRoom(ring: RingState, more: number): Promise<RingState> {
      let state = ring;
      for (;;) {
        const part = generationsOf(state).find(
          ({ build }) => nextResize(build, build.members + more) === 'split',
        );
        if (part === undefined) return state;
        state = await step(state, part, 'split', part.build.members + more);
      }
    },

    /** @returns true when there is more to do */
    async resize(ring: RingState, maxSteps: number): Promise<boolean> {
      let state = ring;
      for (let left = maxSteps; ; left -= BUCKETS_PER_CALL) {
        const part = generationsOf(state).find(({ build }) => nextResize(build, build.members) !== null);
        const direction = part && nextResize(part.build, part.build.members);
        if (part === undefined || direction == null) return false;
        if (left <= 0) return true;
        const after = await step(state, part, direction, part.build.members);
        // The cursor is between the two halves: merge them later.
        if (direction === 'merge' && sameShapes(after, state)) return true;
        state = after;
      }
    },
  };
}

/** @returns the numbers of the whole buckets in the next steps of one direction. */
function plan(shape: RingShape, direction: 'split' | 'merge', cards: number): number[] {
  const numbers: number[] = [];
  for (let at = shape; numbers.length < BUCKETS_PER_CALL && nextResize(at, cards) === direction; ) {
    const next = direction === 'split' ? afterSplit(at) : afterMerge(at);
    const { buckets, split } = direction === 'split' ? at : next;
    numbers.push(buckets + split);
    at = next;
  }
  return numbers;
}

function sameShapes(a: RingState, b: RingState): boolean {
  const shapes = (state: RingState) => generationsOf(state).map(({ build }) => [build.buckets, build.split]);
  return JSON.stringify(shapes(a)) === JSON.stringify(shapes(b));
}
