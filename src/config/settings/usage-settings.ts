// Settings about the readings of usage. Part of the settings table (settings.ts).
import { fraction } from '../kinds.ts';
import { withDefault } from './setting.ts';

export const USAGE = {
  maxMbitPerSecond: withDefault({
    env: 'CARDPOLL_USAGE_MAX_MBIT_PER_SECOND',
    yaml: 'usage.max_mbit_per_second',
    kind: fraction({ min: 0.001, max: 1_000_000 }),
    default: 150,
    doc: 'The most a card can transfer. A reading that grew faster counts only when enough time has passed.',
  }),
} as const;
