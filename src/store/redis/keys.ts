// Builds every Redis key name of cardpoll. Used only by the adapters of this folder.
//
// Operations interface, section 1.1, names the keys that operators inspect; standalone and Sentinel deployments use
// exactly these names. In a cluster the task type is in braces, so that all keys of one type share a hash slot and one
// script may use them.
import type { HistoryStep } from '../../domain/stats/history.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { RingId } from '../ports/live/rings.ts';
import * as SCRIPTS from './scripts.ts';

export type ScriptName = keyof typeof SCRIPTS;

export type Keys = ReturnType<typeof redisKeys>;

export function redisKeys(isCluster: boolean) {
  const tag = (taskType: TaskType) => (isCluster ? `{${taskType}}` : taskType);
  const ofType = (prefix: string) => (taskType: TaskType) => `${prefix}:${tag(taskType)}`;

  const ofTaskType = {
    /**
     * Sorted set: card id -> when it is due (whole ms), or the lease token (never whole) of a running claim.
     */
    queue: ofType('polling:queue'),
    /** List of `<card_id>` or `<card_id>:<trigger_id>`; the head is claimed next. */
    manual: ofType('polling:manual'),
    /** Sorted set: manual entry -> lease token. */
    manualLeases: ofType('polling:manual:leases'),
    runningCount: ofType('polling:concurrency:current'),
    limit: ofType('polling:concurrency:config'),
    /** The run id of the server in which the limits and pauses of record were put into force (prelude.lua). */
    inForce: ofType('polling:in-force'),
    /** The limit in force while the leader has lowered the configured one; absent otherwise. */
    effectiveLimit: ofType('polling:concurrency:effective'),
    /** JSON: the leader's record of the limit of the type, with the reason for its value. */
    limitRecord: ofType('polling:concurrency:record'),
    /** Sorted set: card id, or `m` + manual entry, then `@` and the lease token -> lease token. */
    slots: ofType('polling:concurrency:slots'),
    /**
     * Sorted set: failing card id -> when it is due for a retry (whole ms). A card is here or in the queue, never in
     * both.
     */
    retry: ofType('polling:retry'),
    /** Sorted set: the slots that retries hold, as above. */
    retrySlots: ofType('polling:concurrency:retry-slots'),
    /**
     * Hash: worker id -> "<claim number> <token>" of its last claim. `#` counts claims; `#orders_until` is until when orders wait for
     * slots; `#other_at` is when work other
     * than retries was last claimed; `#retry_credit` is the fraction of a slot that work-claim.lua grants retries;
     * `#seen_ms` and `#set_back` are the state of work-follow-clock.lua.
     */
    claims: ofType('polling:claims'),
    /** Hash: card id -> failures in a row. */
    failures: ofType('polling:failures'),
    /** Hash: card id -> its last failure as JSON. */
    failureNotes: ofType('polling:failure-notes'),
    /** Sorted set: card id -> when its last failure was noted (ms). */
    failureTimes: ofType('polling:failure-times'),
    /** Hash: source of the pause (`gateway`, `operator`) -> "<since ms> <until ms> <details as JSON>". */
    pauses: ofType('polling:pauses'),
    /** Channel: a message signals that work was added. */
    workChannel: ofType('polling:work'),
    stats: ofType('polling:stats'),
    /** Hash: index of a ten-second slot -> its counts (stats.ts). */
    statsWindow: ofType('polling:stats-window'),
    /** Hash: worker id -> number of its last flush of statistics. */
    statsFlushes: ofType('polling:stats-flushes'),
    /** Hash: index of a slot of ten minutes -> `<carrier>:<polls>:<failed>:<timed>:<late>`, ... (domain/stats/carrier-slots.ts) */
    carrierSlots: ofType('polling:carrier-slots'),
    /** Hash: number of a minute since the epoch -> how fast readings of usage grew, as `<bucket>=<how many>`, ... */
    usageGrowth: ofType('polling:usage-growth'),
    /** Hash: number of an hour since the epoch, modulo the number of kept hours -> the fastest growth in it (stats.ts). */
    usagePeaks: ofType('polling:usage-peaks'),
    /** Set of the config ids that have a ring. */
    rings: ofType('polling:rings'),
    /** Hash: config id -> last generation number; never reused, so that emptying the trash cannot remove new buckets. */
    ringGenerations: ofType('polling:ring-generations'),
    /** Hash: `<config id>:<generation>` of an abandoned generation -> a number above those of all its buckets. */
    ringTrash: ofType('polling:ring-trash'),
  };

  const namesIn = new Map(Object.entries(SCRIPTS).map(([name, script]) => [name, keyNamesIn(script)]));

  return {
    ...ofTaskType,
    /** The keys of a script whose line KEYS has names of ofTaskType. */
    ofScript: (name: ScriptName, taskType: TaskType): string[] =>
      (namesIn.get(name) ?? []).map((key) => ofTaskType[key as keyof typeof ofTaskType](taskType)),
    /** Matches every key. */
    all: 'polling:*',
    /** "<fleet id> <name>" */
    fleet: 'polling:fleet',
    initProgress: 'polling:init:progress',
    /** Hash: name of a problem -> since when it exists, and until when it was noted (health-note.lua). */
    health: 'polling:health',
    /** Hash: the state of the comparison of rings and cards (coordination.ts). */
    reconciliation: 'polling:reconciliation',
    /** Hash: id of a rate limit -> its state as JSON (pace-take.lua). */
    pace: 'polling:pace',
    /** Hash: worker id -> "<expiry ms> <details as JSON>". */
    workers: 'polling:workers',
    /** Hash: position of the sample -> sample as JSON. */
    history: (step: HistoryStep) => `polling:history:${step}`,
    /** Hash: the state of a ring. */
    ring: (ring: RingId) => `polling:ring:${tag(ring.taskType)}:${ring.configId}`,
    /** Set of card ids, at most 512, so that Redis keeps it as an intset. */
    bucket: (ring: RingId, generation: number, number: number) =>
      `polling:ring:${tag(ring.taskType)}:${ring.configId}:${generation}:${number}`,
    /** Hash: holder, fence, expires_ms. */
    lease: (name: string) => `polling:lease:${name}`,
    /** Hash: card id -> packed card. */
    cardCache: (part: number) => `polling:card-cache:${part}`,
  };
}

/** @returns `queue` and `manual` of a script with the line `-- KEYS: 1 queue, 2 manual`, which may go on in the next one. */
function keyNamesIn(script: string): string[] {
  const list = /^-- KEYS: .*(?:\n-- {2}.*)*/m.exec(script)?.[0] ?? '';
  return [...list.matchAll(/\d (\w+)/g)].map(([, name = '']) => name);
}
