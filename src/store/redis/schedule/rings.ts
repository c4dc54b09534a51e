// Rings in Redis: each ring has one hash for its state and many small sets of card ids. The scripts ring-*.lua change
// them. This file creates, builds and drops rings; ring-members.ts handles their cards. docs/architecture.md explains
// the idea.
//
// A script gets the generation and the numbers of its buckets. If these have changed meanwhile, it does nothing, and
// the call is repeated with the current state.
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import type { AdvanceResult, RingId, RingSettings, RingState, Rings } from '../../ports/live/rings.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';
import { RingAdvancer } from './ring-advancer.ts';
import { RingMembers } from './ring-members.ts';
import { missingRing, RingReader } from './ring-reader.ts';
import { RingResizer } from './ring-resizer.ts';
import { type StateReply, stateOf } from './ring-state.ts';

export class RedisRings implements Rings {
  readonly #reader: RingReader;
  readonly #resizer: RingResizer;
  readonly #members: RingMembers;
  readonly #advancer: RingAdvancer;
  readonly #trash: RingTrash;

  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {
    this.#reader = new RingReader(client, keys);
    this.#resizer = new RingResizer(client, keys);
    this.#members = new RingMembers(client, keys, { reader: this.#reader, resizer: this.#resizer });
    this.#advancer = new RingAdvancer(client, keys, this.#reader);
    this.#trash = new RingTrash(client, keys);
  }

  async list(): Promise<RingState[]> {
    const found = await Promise.all(
      TASK_TYPES.map(async (taskType) => {
        const ids = (await this.client.command('SMEMBERS', this.keys.rings(taskType))) as string[];
        const rings = ids.map(Number).sort((a, b) => a - b);
        return Promise.all(rings.map((configId) => this.#reader.read({ configId, taskType })));
      }),
    );
    return found.flat().filter((ring) => ring !== null);
  }

  async configure(ring: RingId, settings: RingSettings): Promise<RingState> {
    const { taskType } = ring;
    const keys = [this.keys.ring(ring), this.keys.rings(taskType), this.keys.ringTrash(taskType)];
    const args = [ring.configId, settings.intervalMs, settings.enabled ? 1 : 0, settings.staggerMs ?? 0];
    return stateOf(ring, (await this.client.script('ringConfigure', keys, args)) as StateReply);
  }

  async startGeneration(
    ring: RingId,
    buckets: number,
    options: { activate: boolean; selection?: string },
  ): Promise<RingState> {
    const seen = await this.#reader.require(ring);
    const { taskType } = ring;
    const keys = [this.keys.ring(ring), this.keys.ringGenerations(taskType), this.keys.ringTrash(taskType)];
    const args = [
      ring.configId,
      buckets,
      options.activate ? 1 : 0,
      seen.generation,
      seen.building?.generation ?? 0,
      options.selection ?? '',
    ];
    const reply = (await this.client.script('ringStartGeneration', keys, args)) as StateReply | null;
    await this.#trash.empty(taskType);
    return stateOf(ring, reply ?? missingRing(ring));
  }

  async activate(ring: RingId): Promise<RingState> {
    const keys = [this.keys.ring(ring), this.keys.ringTrash(ring.taskType)];
    const reply = (await this.client.script('ringActivate', keys, [ring.configId])) as StateReply | null;
    await this.#trash.empty(ring.taskType);
    return stateOf(ring, reply ?? missingRing(ring));
  }

  async drop(ring: RingId): Promise<void> {
    const { taskType } = ring;
    const keys = [this.keys.ring(ring), this.keys.rings(taskType), this.keys.ringTrash(taskType)];
    await this.client.script('ringDrop', keys, [ring.configId]);
    await this.#trash.empty(taskType);
  }

  async resize(ring: RingId, maxSteps: number): Promise<boolean> {
    const state = await this.#reader.read(ring);
    return state !== null && this.#resizer.resize(state, maxSteps);
  }

  add(ring: RingId, cardIds: readonly number[]): Promise<number> {
    return this.#members.add(ring, cardIds);
  }

  remove(ring: RingId, cardIds: readonly number[]): Promise<number> {
    return this.#members.remove(ring, cardIds);
  }

  contains(ring: RingId, cardIds: readonly number[]): Promise<boolean[]> {
    return this.#members.contains(ring, cardIds);
  }

  page(ring: RingId, fromPhase: number, maxBuckets: number) {
    return this.#members.page(ring, fromPhase, maxBuckets);
  }

  recount(ring: RingId): Promise<number> {
    return this.#members.recount(ring);
  }

  advance(
    ring: RingId,
    limits: { maxBuckets: number; queueCap: number; fence: number },
  ): Promise<AdvanceResult> {
    return this.#advancer.advance(ring, limits);
  }
}

const KEYS_PER_UNLINK = 512;

/** The buckets of abandoned generations, which the scripts ring-*.lua put into the trash. */
class RingTrash {
  constructor(
    private readonly client: RedisClient,
    private readonly keys: Keys,
  ) {}

  /** Removes the buckets; the next call continues after a crash. */
  async empty(taskType: TaskType): Promise<void> {
    const trash = (await this.client.command('HGETALL', this.keys.ringTrash(taskType))) as string[];
    for (let i = 0; i < trash.length; i += 2) {
      const [configId = 0, generation = 0] = (trash[i] as string).split(':').map(Number);
      const end = Number(trash[i + 1]);
      for (let from = 0; from < end; from += KEYS_PER_UNLINK) {
        const count = Math.min(KEYS_PER_UNLINK, end - from);
        const names = Array.from({ length: count }, (_, b) =>
          this.keys.bucket({ configId, taskType }, generation, from + b),
        );
        await this.client.command('UNLINK', ...names);
      }
      await this.client.command('HDEL', this.keys.ringTrash(taskType), trash[i] as string);
    }
  }
}
