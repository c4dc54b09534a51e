// Rules of stops for tests that are not about them.
import type { StopRules, StopSettings } from '../../src/domain/stops/stop.ts';

export const UNLIMITED: StopRules = { mode: 'enforce', maxPerHour: null, maxPerDay: null };

export const DEFAULT_STOPS: StopSettings = { mode: 'enforce', maxPerHour: null, maxPerDay: null };

/** A jump of the readings of the whole fleet, by its growth. */
export const OF_FLEET = { carrierId: null, isStep: false } as const;
