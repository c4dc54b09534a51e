// Grants of gateway calls in Redis: one key, because a limit may count the calls of all task types, which have different hash
// slots in a cluster. pace-take.lua has the rules.
import { INTERFACE_NAMES } from '../../../domain/gateway-interface.ts';
import type { LiveStore } from '../../ports/live/live-store.ts';
import {
  isAwaited,
  LIMIT_KEPT_MS,
  type Pace,
  type PaceLimit,
  type PaceParticipant,
  type PaceState,
  type PaceTurn,
} from '../../ports/live/pace.ts';
import { pairsOf, type RedisArgument, type RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

const EVERY_INTERFACE = '*';

/** A limit as pace-take.lua stores it. */
interface StoredLimit {
  readonly interfaces: string;
  readonly rate: number;
  readonly burst: number;
  readonly taken: number;
  readonly seen: number;
  readonly by: Readonly<Partial<Record<PaceParticipant, PaceTurn>>>;
}

export function redisPace(client: RedisClient, keys: Keys, now: LiveStore['now']): Pace {
  /** The highest count of grants that this instance has seen, by limit: a lower one in the store shows that it lost grants. */
  const known = new Map<string, number>();

  function argumentsOf({ id, interfaces, perSecond, burst }: PaceLimit): RedisArgument[] {
    return [id, interfaces?.join(',') ?? EVERY_INTERFACE, perSecond, burst, known.get(id) ?? 0];
  }

  return {
    async take({ participant, interfaceName, calls, limits }) {
      const args = [participant, interfaceName, calls, 0, limits.length, ...limits.flatMap(argumentsOf)];
      const reply = await client.script('paceTake', [keys.pace], args);
      const [granted, waitMs, lifeMs, ...receipt] = reply as [number, number, number, ...string[]];
      for (const [id, taken] of pairsOf(receipt)) {
        known.set(id, Math.max(Number(taken), known.get(id) ?? 0));
      }
      return { calls: granted, waitMs, lifeMs, receipt };
    },

    async giveBack({ participant }, { receipt }, calls) {
      await client.script('paceTake', [keys.pace], [participant, '', 0, calls, 0, ...receipt]);
    },

    async states() {
      const [stored, nowMs] = await Promise.all([client.hash(keys.pace), now()]);
      return [...stored]
        .map(([id, text]): [string, StoredLimit] => [id, JSON.parse(text)])
        .filter(([, { seen }]) => Math.abs(nowMs - seen) <= LIMIT_KEPT_MS)
        .map(([id, limit]) => stateOf(id, limit, nowMs))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
    },
  };
}

function stateOf(id: string, stored: StoredLimit, nowMs: number): PaceState {
  const { interfaces, rate, burst, taken, by } = stored;
  const waiting = Object.entries(by).filter(([, turn]) => isAwaited(turn, nowMs));
  return {
    id,
    interfaces:
      interfaces === EVERY_INTERFACE
        ? null
        : INTERFACE_NAMES.filter((name) => interfaces.split(',').includes(name)),
    perSecond: rate,
    burst,
    granted: taken,
    waiting: waiting.map(([name]) => name as PaceParticipant).sort(),
  };
}
