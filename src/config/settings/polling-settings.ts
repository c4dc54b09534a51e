// Settings of polling: leases, queues, retries, initialisation, and what counts of a reading. Part of the settings table (settings.ts).
import { duration, fraction, integer, ON_OFF } from '../kinds.ts';
import { withDefault } from './setting.ts';

export const POLLING = {
  leaseMs: withDefault({
    env: 'CARDPOLL_LEASE_MS',
    yaml: 'polling.lease_ms',
    kind: duration('ms', { min: 1_000, max: 600_000 }),
    default: 15_000,
    doc: 'How long a worker holds a claimed card; at least one second more than twice the gateway timeout.',
  }),
  claimBatch: withDefault({
    env: 'CARDPOLL_CLAIM_BATCH',
    yaml: 'polling.claim_batch',
    kind: integer({ min: 1, max: 2_000 }),
    default: 200,
    doc: 'Maximum number of cards claimed in one step.',
  }),
  queueCap: withDefault({
    env: 'CARDPOLL_QUEUE_CAP',
    yaml: 'polling.queue_cap',
    kind: integer({ min: 1_000, max: 10_000_000 }),
    default: 200_000,
    doc: 'Queue length per task type above which no due cards are added; the schedule then lags.',
  }),
  adaptiveConcurrency: withDefault({
    env: 'CARDPOLL_ADAPTIVE_CONCURRENCY',
    yaml: 'polling.adaptive_concurrency',
    kind: ON_OFF,
    default: true,
    doc: 'Lower the concurrency limits automatically while the gateway refuses calls or slows down under load.',
  }),
  writeBuffer: withDefault({
    env: 'CARDPOLL_WRITE_BUFFER',
    yaml: 'polling.write_buffer',
    kind: integer({ min: 100, max: 1_000_000 }),
    default: 20_000,
    doc: 'Maximum number of results that wait for the database; claiming stops when the buffer is full.',
  }),
  retryBaseMs: withDefault({
    env: 'CARDPOLL_RETRY_BASE_MS',
    yaml: 'polling.retry_base_ms',
    kind: duration('ms', { min: 10, max: 600_000 }),
    default: 1_000,
    doc: 'Pause before the first retry of a failed poll; it doubles with each further failure.',
  }),
  cardCacheTtlSeconds: withDefault({
    env: 'CARDPOLL_CARD_CACHE_TTL_SECONDS',
    yaml: 'polling.card_cache_ttl_seconds',
    kind: duration('s', { min: 1, max: 86_400 }),
    default: 300,
    doc: 'How long card data stays cached.',
  }),
  initBatch: withDefault({
    env: 'CARDPOLL_INIT_BATCH',
    yaml: 'polling.init_batch',
    kind: integer({ min: 100, max: 1_000_000 }),
    default: 100_000,
    doc: 'Cards per batch of the progressive initialisation.',
  }),
  initPauseMs: withDefault({
    env: 'CARDPOLL_INIT_PAUSE_MS',
    yaml: 'polling.init_pause_ms',
    kind: duration('ms', { min: 0, max: 600_000 }),
    default: 1_000,
    doc: 'Pause between two batches of the progressive initialisation.',
  }),
  drainTimeoutMs: withDefault({
    env: 'CARDPOLL_DRAIN_TIMEOUT_MS',
    yaml: 'polling.drain_timeout_ms',
    kind: duration('ms', { min: 0, max: 600_000 }),
    default: 30_000,
    doc: 'How long a stopping daemon waits for its work in flight.',
  }),
} as const;

/** The readings of usage. */
export const USAGE = {
  maxMbitPerSecond: withDefault({
    env: 'CARDPOLL_USAGE_MAX_MBIT_PER_SECOND',
    yaml: 'usage.max_mbit_per_second',
    kind: fraction({ min: 0.001, max: 1_000_000 }),
    default: 150,
    doc: 'The most a card can transfer. A reading that grew faster counts only when enough time has passed.',
  }),
} as const;
