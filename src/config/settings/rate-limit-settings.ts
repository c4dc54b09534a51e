// Settings of the pace of the gateway: how many calls it allows (docs/scaling.md). Part of the settings table
// (settings.ts); rate-limits.ts reads the list.
import type { RateLimit } from '../../domain/limits/rate-limit.ts';
import { callsPer, rateLimits } from '../gateway/rate-limits.ts';
import { optional, withDefault } from './setting.ts';

export const RATE_LIMITS = {
  rateLimitPerSecond: optional({
    env: 'CARDPOLL_GATEWAY_RATE_LIMIT_PER_SECOND',
    yaml: 'gateway.rate_limit_per_second',
    kind: callsPer('second'),
    doc: 'Calls per second that the gateway allows, from all instances together; set the same on every instance. The burst is two fifths of it, at least 4. If gateway.rate_limits also has a limit per second for all calls, the stricter is in force.',
  }),
  rateLimits: withDefault<readonly RateLimit[]>({
    yaml: 'gateway.rate_limits',
    kind: rateLimits(),
    default: [],
    defaultText: 'none',
    doc: 'What the gateway allows, from all instances together: calls per second, minute or hour, of all interfaces or of some, and how often one card may be polled. Set the same on every instance.',
  }),
} as const;
