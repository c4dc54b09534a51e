// Reads the state of a ring. Used by rings.ts and the other ring-*.ts files.
import { CardpollError } from '../../../platform/errors.ts';
import type { RingId, RingState } from '../../ports/live/rings.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';
import { STATE_FIELDS, type StateReply, stateOf } from './ring-state.ts';

export class RingReader {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  async read(ring: RingId): Promise<RingState | null> {
    const reply = (await this.client.command('HMGET', this.keys.ring(ring), ...STATE_FIELDS)) as StateReply;
    return reply[0] === null ? null : stateOf(ring, reply);
  }

  /** @throws CardpollError `not_found` for an unknown ring. */
  async require(ring: RingId): Promise<RingState> {
    return (await this.read(ring)) ?? missingRing(ring);
  }
}

export function missingRing(ring: RingId): never {
  throw new CardpollError(
    'not_found',
    'ring_unknown',
    `config ${ring.configId} has no ring for ${ring.taskType}`,
  );
}
