// Rules of stops for tests that are not about them.
import type { StopRules } from '../../src/domain/stops/stop.ts';

export const UNLIMITED: StopRules = { mode: 'enforce', maxPerHour: null, maxPerDay: null };
