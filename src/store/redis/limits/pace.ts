// Grants of gateway calls in Redis: one key, because a limit may count the calls of all task types, which have different
// hash slots in a cluster. pace-take.lua has the rules.
import { INTERFACE_NAMES } from '../../../domain/gateway-interface.ts';
import {
  LIMIT_KEPT_MS,
  type Pace,
  type PaceInForce,
  type PaceLimit,
  type PaceParticipant,
  type PaceState,
} from '../../ports/live/pace.ts';
import type { RedisArgument, RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

const EVERY_INTERFACE = '*';
/** Values that pace-take.lua returns for each limit. */
const PER_LIMIT = 4;

/** A limit as pace-take.lua stores it. */
interface StoredLimit {
  readonly interfaces: string;
  readonly rate: number;
  readonly burst: number;
  readonly taken: number;
  readonly seen: number;
  readonly by: Readonly<Partial<Record<PaceParticipant, { readonly want: number; readonly till: number }>>>;
}

export function redisPace(client: RedisClient, keys: Keys): Pace {
  /** The highest count of grants that this instance has seen, by limit: shows that the store lost grants. */
  const known = new Map<string, number>();

  function argumentsOf({ id, interfaces, perSecond, burst }: PaceLimit): RedisArgument[] {
    return [id, interfaces?.join(',') ?? EVERY_INTERFACE, perSecond, burst, known.get(id) ?? 0];
  }

  return {
    async take({ participant, interfaceName, calls, limits }) {
      const args = [participant, interfaceName, calls, 0, limits.length, ...limits.flatMap(argumentsOf)];
      const reply = await client.script('paceTake', [keys.pace], args);
      const [granted, waitMs, lifeMs, ...rest] = reply as [number, number, number, ...string[]];
      const inForce: PaceInForce[] = [];
      const receipt: string[] = [];
      for (let i = 0; i < rest.length; i += PER_LIMIT) {
        const [id = '', taken = '', perSecond, burst] = rest.slice(i, i + PER_LIMIT);
        known.set(id, Math.max(Number(taken), known.get(id) ?? 0));
        inForce.push({ id, perSecond: Number(perSecond), burst: Number(burst) });
        receipt.push(id, taken);
      }
      return { calls: granted, waitMs, lifeMs, inForce, receipt };
    },

    async giveBack({ participant }, { receipt }, calls) {
      await client.script('paceTake', [keys.pace], [participant, '', 0, calls, 0, ...receipt]);
    },

    async states() {
      const [stored, time] = await Promise.all([
        client.hash(keys.pace),
        client.command('TIME') as Promise<[string, string]>,
      ]);
      const nowMs = Number(time[0]) * 1_000;
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
  const waiting = Object.entries(by).filter(([, { want, till }]) => want > 0 && till > nowMs);
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
