// Parses the state of a ring as the scripts return it. Used by the ring-*.ts files; pure.
import type { RingGeneration, RingId, RingState } from '../../ports/live/rings.ts';

export type StateReply = Array<string | null>;

/** The fields in the order in which ring_state() in ring-prelude.lua returns them. */
export const STATE_FIELDS = [
  'generation',
  'buckets',
  'split',
  'members',
  'selection',
  'loaded',
  'building_generation',
  'building_buckets',
  'building_split',
  'building_members',
  'building_selection',
  'interval_ms',
  'anchor_ms',
  'cursor',
  'enabled',
  'skipped_revolutions',
  'achieved_ms',
  'lap_started_ms',
] as const;

export function stateOf(ring: RingId, reply: StateReply): RingState {
  const text = (name: (typeof STATE_FIELDS)[number]): string => reply[STATE_FIELDS.indexOf(name)] ?? '';
  const field = (name: (typeof STATE_FIELDS)[number]): number => Number(text(name));
  const generationOf = (prefix: '' | 'building_'): RingGeneration => ({
    generation: field(`${prefix}generation`),
    buckets: field(`${prefix}buckets`),
    split: field(`${prefix}split`),
    members: field(`${prefix}members`),
    selection: text(`${prefix}selection`),
  });
  return {
    configId: ring.configId,
    taskType: ring.taskType,
    ...generationOf(''),
    loaded: field('loaded') === 1,
    building: field('building_generation') === 0 ? null : generationOf('building_'),
    intervalMs: field('interval_ms'),
    anchorMs: field('anchor_ms'),
    cursor: field('cursor'),
    enabled: field('enabled') === 1,
    skippedRevolutions: field('skipped_revolutions'),
    achievedIntervalMs: field('achieved_ms') || null,
    lapStartedAtMs: field('lap_started_ms') || null,
  };
}

/** @returns the generations of a ring that take cards, with the prefix of their fields in the ring's hash. */
export function generationsOf(state: RingState): Array<{ prefix: '' | 'building_'; build: RingGeneration }> {
  return [
    ...(state.generation === 0 ? [] : [{ prefix: '' as const, build: state }]),
    ...(state.building === null ? [] : [{ prefix: 'building_' as const, build: state.building }]),
  ];
}
