// The state of a ring: reads it, and parses it as the scripts return it. Used by rings.ts and the other ring-*.ts files.
import { type RingGeneration, type RingId, type RingState, ringUnknown } from '../../ports/live/rings.ts';
import { pairsOf, type RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

/** The hash of the ring: field, value, field, value ... */
export type StateReply = string[];

export function ringReader(client: RedisClient, keys: Keys) {
  async function read(ring: RingId): Promise<RingState | null> {
    const reply = (await client.command('HGETALL', keys.ring(ring))) as StateReply;
    return reply.length === 0 ? null : stateOf(ring, reply);
  }

  /** @throws CardpollError `not_found` for an unknown ring. */
  async function require(ring: RingId): Promise<RingState> {
    const state = await read(ring);
    if (state === null) throw ringUnknown(ring);
    return state;
  }

  return { read, require };
}

export function stateOf(ring: RingId, reply: StateReply): RingState {
  const fields = pairsOf(reply);
  const text = (name: string): string => fields.get(name) ?? '';
  const field = (name: string): number => Number(text(name));
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
    joinedAfterId: field('joined_after_id'),
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
