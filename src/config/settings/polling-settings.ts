// Settings of polling: leases, queues, retries, initialisation, and the limits on readings. Part of the settings table
// (settings.ts).
import type { JumpFactor } from '../../domain/results/usage-growth.ts';
import { duration, fraction, integer, type Kind, kindOf, ON_OFF, refuse } from '../kinds.ts';
import { section, withDefault } from './setting.ts';

export const POLLING = section('polling.', '', {
  leaseMs: withDefault({
    kind: duration('ms', { min: 1_000, max: 600_000 }),
    default: 15_000,
    doc: 'How long a worker holds a claimed card; at least one second more than twice the gateway timeout.',
  }),
  claimBatch: withDefault({
    kind: integer({ min: 1, max: 2_000 }),
    default: 200,
    doc: 'Maximum number of cards claimed in one step.',
  }),
  queueCap: withDefault({
    kind: integer({ min: 1_000, max: 10_000_000 }),
    default: 200_000,
    doc: 'Queue length per task type above which no due cards are added; the schedule then lags.',
  }),
  adaptiveConcurrency: withDefault({
    kind: ON_OFF,
    default: true,
    doc: 'Lower the concurrency limits automatically while the gateway refuses calls or slows down under load.',
  }),
  writeBuffer: withDefault({
    kind: integer({ min: 100, max: 1_000_000 }),
    default: 20_000,
    doc: 'Maximum number of results that wait for the database; claiming stops when the buffer is full.',
  }),
  retryBaseMs: withDefault({
    kind: duration('ms', { min: 10, max: 600_000 }),
    default: 1_000,
    doc: 'Pause before the first retry of a failed poll; it doubles with each further failure.',
  }),
  cardCacheTtlSeconds: withDefault({
    kind: duration('s', { min: 1, max: 86_400 }),
    default: 300,
    doc: 'How long card data stays cached.',
  }),
  initBatch: withDefault({
    kind: integer({ min: 100, max: 1_000_000 }),
    default: 100_000,
    doc: 'Cards per batch of the progressive initialisation.',
  }),
  initPauseMs: withDefault({
    kind: duration('ms', { min: 0, max: 600_000 }),
    default: 1_000,
    doc: 'Pause between two batches of the progressive initialisation.',
  }),
  drainTimeoutMs: withDefault({
    kind: duration('ms', { min: 0, max: 600_000 }),
    default: 30_000,
    doc: 'How long a stopping daemon waits for its work in flight.',
  }),
});

const FACTOR = { min: 2, max: 1_000 };

/** `20` or `off`. Below 2 the usual fluctuations of a day would hold stops; above 1000 no confusion of KB and MB would. */
const JUMP_FACTOR: Kind<JumpFactor> = kindOf(`number, ${FACTOR.min} to ${FACTOR.max}, or off`, (raw) => {
  if (raw === false || raw === 'off' || raw === 'false') return 'off';
  const factor = Number(raw);
  if (factor < FACTOR.min)
    return refuse(`must be at least ${FACTOR.min}: growth doubles and halves in the course of any day`);
  if (factor > FACTOR.max)
    return refuse(
      `must be at most ${FACTOR.max}, or KB that are taken for MB would pass; off turns the watch off`,
    );
  return fraction(FACTOR).parse(raw);
});

/** The readings of usage. */
export const USAGE = section('usage.', 'USAGE_', {
  maxMbitPerSecond: withDefault({
    kind: fraction({ min: 0.001, max: 1_000_000 }),
    default: 150,
    doc: 'The most a card can transfer. A reading that grew faster counts only when enough time has passed.',
  }),
  jumpFactor: withDefault<JumpFactor>({
    kind: JUMP_FACTOR,
    default: 20,
    doc: 'Stops are held while the readings of the whole fleet grow more than so many times as fast as in the hour before, and as at this time of the last seven days. off: never, whatever the readings show.',
  }),
});
