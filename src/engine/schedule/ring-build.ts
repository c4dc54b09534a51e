// Reads from the state of a ring how far its build is. Used by the initialiser.
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import { type RingState, ringKey } from '../../store/ports/live/rings.ts';
import { ringOf } from './scheduler.ts';

export function isLoading(ring: RingState): boolean {
  return ring.building !== null || !ring.loaded;
}

/** Every ring stores the selection of cards for which it was built; a build in progress counts. */
export function isBuiltFor(ring: RingState, matcher: ConfigMatcher): boolean {
  const build = ring.building ?? ring;
  return build.generation > 0 && build.selection === selectionOf(ring, matcher);
}

export function selectionOf(ring: RingState, matcher: ConfigMatcher): string {
  const config = matcher.configs.find((one) => ringKey(ringOf(one)) === ringKey(ring));
  return config === undefined ? '' : matcher.selectionOf(config);
}
