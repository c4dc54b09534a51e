// Builds every Redis key name of cardpoll. Used only by the adapters of this folder.
//
// Operations interface, section 1.1, names the keys that operators inspect; standalone and Sentinel deployments use
// exactly these names. In a cluster the task type is in braces, so that all keys of one type share a hash slot and one
// script may use them.
import type { HistoryStep } from '../../domain/stats/history.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { RingId } from '../ports/live/rings.ts';

export class Keys {
  /** Matches every key. */
  readonly all = 'polling:*';
  /** "<fleet id> <name>" */
  readonly fleet = 'polling:fleet';
  readonly initProgress = 'polling:init:progress';
  /** Hash: name of a problem -> since when it exists, and until when it was noted (health-note.lua). */
  readonly health = 'polling:health';
  /** Hash: the state of the comparison of rings and cards (coordination.ts). */
  readonly reconciliation = 'polling:reconciliation';
  /** Hash: id of a rate limit -> its state as JSON (pace-take.lua). */
  readonly pace = 'polling:pace';
  /** Hash: worker id -> "<expiry ms> <details as JSON>". */
  readonly workers = 'polling:workers';

  constructor(private readonly cluster: boolean) {}

  /** Sorted set: card id -> when it is due (whole ms), or the lease token (never whole) of a running claim. */
  queue(taskType: TaskType): string {
    return `polling:queue:${this.#tag(taskType)}`;
  }

  /** List of `<card_id>` or `<card_id>:<trigger_id>`; the head is claimed next. */
  manual(taskType: TaskType): string {
    return `polling:manual:${this.#tag(taskType)}`;
  }

  /** Sorted set: manual entry -> lease token. */
  manualLeases(taskType: TaskType): string {
    return `polling:manual:leases:${this.#tag(taskType)}`;
  }

  runningCount(taskType: TaskType): string {
    return `polling:concurrency:current:${this.#tag(taskType)}`;
  }

  limit(taskType: TaskType): string {
    return `polling:concurrency:config:${this.#tag(taskType)}`;
  }

  /** The limit in force while the leader has lowered the configured one; absent otherwise. */
  effectiveLimit(taskType: TaskType): string {
    return `polling:concurrency:effective:${this.#tag(taskType)}`;
  }

  /** JSON: what the leader knows about the limit of the type, and why it has its value. */
  limitRecord(taskType: TaskType): string {
    return `polling:concurrency:record:${this.#tag(taskType)}`;
  }

  /** Sorted set: card id, or `m` + manual entry -> lease token. */
  slots(taskType: TaskType): string {
    return `polling:concurrency:slots:${this.#tag(taskType)}`;
  }

  /**
   * Sorted set: failing card id -> when it is due for a retry (whole ms). A card is here or in the queue, never in
   * both.
   */
  retry(taskType: TaskType): string {
    return `polling:retry:${this.#tag(taskType)}`;
  }

  /** Sorted set: card id -> lease token, for the slots that retries hold. */
  retrySlots(taskType: TaskType): string {
    return `polling:concurrency:retry-slots:${this.#tag(taskType)}`;
  }

  /**
   * Hash: worker id -> "<claim number> <token>" of its last claim. `#` counts claims; `#other_at` is when work other
   * than retries was last claimed; `#retry_credit` is the fraction of a slot that work-claim.lua grants retries;
   * `#seen_ms` and `#set_back` are the state of work-follow-clock.lua.
   */
  claims(taskType: TaskType): string {
    return `polling:claims:${this.#tag(taskType)}`;
  }

  /** Hash: card id -> failures in a row. */
  failures(taskType: TaskType): string {
    return `polling:failures:${this.#tag(taskType)}`;
  }

  /** Hash: card id -> its last failure as JSON. */
  failureNotes(taskType: TaskType): string {
    return `polling:failure-notes:${this.#tag(taskType)}`;
  }

  /** Sorted set: card id -> when its last failure was noted (ms). */
  failureTimes(taskType: TaskType): string {
    return `polling:failure-times:${this.#tag(taskType)}`;
  }

  /** Hash: position of the sample -> sample as JSON. */
  history(step: HistoryStep): string {
    return `polling:history:${step}`;
  }

  /** Hash: source of the pause (`gateway`, `operator`) -> "<since ms> <until ms> <details as JSON>". */
  pauses(taskType: TaskType): string {
    return `polling:pauses:${this.#tag(taskType)}`;
  }

  /** Channel: a message signals that work was added. */
  workChannel(taskType: TaskType): string {
    return `polling:work:${this.#tag(taskType)}`;
  }

  stats(taskType: TaskType): string {
    return `polling:stats:${this.#tag(taskType)}`;
  }

  /** Hash: index of a ten-second slot -> its counts (stats.ts). */
  statsWindow(taskType: TaskType): string {
    return `polling:stats-window:${this.#tag(taskType)}`;
  }

  /** Hash: worker id -> number of its last flush of statistics. */
  statsFlushes(taskType: TaskType): string {
    return `polling:stats-flushes:${this.#tag(taskType)}`;
  }

  /** Hash: number of a minute since the epoch -> how fast readings of usage grew, as `<bucket>=<how many>`, ... */
  usageGrowth(taskType: TaskType): string {
    return `polling:usage-growth:${this.#tag(taskType)}`;
  }

  /** Set of the config ids that have a ring. */
  rings(taskType: TaskType): string {
    return `polling:rings:${this.#tag(taskType)}`;
  }

  /** Hash: config id -> last generation number; never reused, so that emptying the trash cannot remove new buckets. */
  ringGenerations(taskType: TaskType): string {
    return `polling:ring-generations:${this.#tag(taskType)}`;
  }

  /** Hash: `<config id>:<generation>` of an abandoned generation -> a number above those of all its buckets. */
  ringTrash(taskType: TaskType): string {
    return `polling:ring-trash:${this.#tag(taskType)}`;
  }

  /** Hash: the state of a ring. */
  ring(ring: RingId): string {
    return `polling:ring:${this.#tag(ring.taskType)}:${ring.configId}`;
  }

  /** Set of card ids, at most 512, so that Redis keeps it as an intset. */
  bucket(ring: RingId, generation: number, number: number): string {
    return `polling:ring:${this.#tag(ring.taskType)}:${ring.configId}:${generation}:${number}`;
  }

  /** Hash: holder, fence, expires_ms. */
  lease(name: string): string {
    return `polling:lease:${name}`;
  }

  /** Hash: attempt and fingerprint, and status and body once the request is answered. */
  request(key: string): string {
    return `polling:request:${key}`;
  }

  /** Hash: card id -> packed card. */
  cardCache(part: number): string {
    return `polling:card-cache:${part}`;
  }

  #tag(taskType: TaskType): string {
    return this.cluster ? `{${taskType}}` : taskType;
  }
}
