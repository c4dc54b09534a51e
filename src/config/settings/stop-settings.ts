// Settings of the stops of cards. Part of the settings table (settings.ts).
import { STOP_MODES, type StopLimit, type StopMode } from '../../domain/stops/stop.ts';
import { type Kind, kindOf, ON_OFF, oneOf, textOf } from '../kinds.ts';
import { optional, section, withDefault } from './setting.ts';

const ACCEPTS = 'number of cards, share of the fleet (2%), or none';
const MOST_CARDS = 1_000_000_000;

/** `500`, `2%` or `none`. 0 holds every stop until an operator releases it. */
const STOP_LIMIT: Kind<StopLimit> = kindOf(
  ACCEPTS,
  (raw) => {
    const text = textOf(raw).trim();
    if (text === 'none') return { unit: 'none' };
    const [, digits, share] = /^(\d{1,10}(?:\.\d{1,6})?)\s*(%)?$/.exec(text) ?? [];
    const value = Number(digits);
    const isCount = share === undefined && Number.isInteger(value) && value <= MOST_CARDS;
    if (isCount) return { unit: 'cards', cards: value };
    return share !== undefined && value > 0 && value <= 100 ? { unit: 'percent', percent: value } : null;
  },
  `is not a ${ACCEPTS}, more than 0% and up to 100%`,
);

export const STOPS = section('stops.', 'STOPS_', {
  mode: withDefault<StopMode>({
    kind: oneOf(STOP_MODES),
    default: 'enforce',
    doc: 'enforce: cards over their package are stopped; observe: cardpoll only records which cards it would stop. Applies until the mode is set at run time, with cardpoll stops mode.',
  }),
  maxPerHour: optional({
    kind: STOP_LIMIT,
    defaultText: '1%, or 100 where that is more, and 5% at most',
    doc: 'Stops that the whole fleet may make in one hour. Further stops are held, and judged again an hour later if a reading is still over; 0 holds all until an operator releases them.',
  }),
  maxPerDay: optional({
    kind: STOP_LIMIT,
    defaultText: '5%',
    doc: 'Stops that the whole fleet may make in one day. Further stops are held until an operator releases them.',
  }),
  resumeAtMonthStart: withDefault<boolean>({
    kind: ON_OFF,
    default: false,
    doc: 'Whether cards that cardpoll stopped by itself last month, and that are still stopped, are resumed when a month begins: once, spread over four hours. To take effect, it must be on at some time in the first 24 hours of the month.',
  }),
  resumeWithin: withDefault<boolean>({
    kind: ON_OFF,
    default: false,
    doc: 'Whether cards that cardpoll stopped by itself, and that are within their package by now, are resumed: after a reading that was taken after the change and confirms it. A new month counts as a change. A resume that failed is tried again after an hour.',
  }),
});
