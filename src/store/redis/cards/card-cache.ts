// The card cache in Redis: 65,536 small hashes. The high bits of a card's phase select the hash, so the cards of one ring bucket,
// which are claimed together, mostly share a hash, and a claim is read with few commands. With a hundred million cards a hash
// would hold 1,500, so one command reads all requested cards.

import type { Card } from '../../../domain/cards/card.ts';
import type { ReadingJump, UsageMonth } from '../../../domain/cards/usage-month.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { phaseHash } from '../../../domain/schedule/phase.ts';
import type { CardCache } from '../../ports/live/live-store.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

const PART_SHIFT = 16;

const VERIFIED = 1;
const STOPPED = 2;
const OF_FORMER_ICCID = 8;
/** Every change of the fields needs a new letter. */
const LAYOUT = 'F';
const SEPARATOR = ';';

export function redisCardCache(client: RedisClient, keys: Keys): CardCache {
  async function perPart<T>(
    values: readonly T[],
    idOf: (value: T) => number,
    send: (key: string, part: readonly T[]) => Promise<void>,
  ): Promise<void> {
    const parts = groupBy(values, (value) => phaseHash(idOf(value)) >>> PART_SHIFT);
    await Promise.all([...parts].map(([part, list]) => send(keys.cardCache(part), list)));
  }

  return {
    async get(cardIds) {
      const cards = new Map<number, Card>();
      await perPart(cardIds, Number, async (key, ids) => {
        const packed = (await client.command('HMGET', key, ...ids)) as Array<string | null>;
        for (const [i, text] of packed.entries()) {
          const card = text === null ? null : unpackCard(ids[i] as number, text);
          if (card !== null) cards.set(card.cardId, card);
        }
      });
      return cards;
    },

    async put(cards, ttlMs) {
      const send = async (key: string, part: readonly Card[]) => {
        const fields = part.flatMap((card) => [card.cardId, packCard(card)]);
        await client.script('cardCachePut', [key], [Math.ceil(ttlMs), ...fields]);
      };
      await perPart(cards, (card) => card.cardId, send);
    },

    async drop(cardIds) {
      await perPart(cardIds, Number, async (key, ids) => {
        await client.command('HDEL', key, ...ids);
      });
    },
  };
}

/**
 * Packs a card into a short text: at most 64 bytes for usual cards, so that Redis keeps the hash of a cache part as a listpack.
 * The format is private and may change with any version.
 *
 * A letter names the layout. The fields follow it, split by semicolons: iccid (a 1 in front keeps its leading zeros), carrier,
 * status, flags (1 verified, 2 stopped, 8 usage of a former ICCID), allowance (- for unlimited), vendor id (empty: none), then
 * month, used MB, last reading (empty: same as used), read at; these four are missing before the first reading. The next is the
 * suspected reading (empty: none), and three more the jump: reading before, used MB before (empty: same, - for an earlier month),
 * and by how many ms it is older than read at. Empty fields at the end are left out. Whole numbers are base 36.
 *
 * During an upgrade instances of two versions share the cache. Each treats an entry of another layout as a missing card. Releases
 * before the letter split by commas; they find too few fields in an entry of this one.
 */
export function packCard(card: Card): string {
  const flags =
    (card.realNameVerified ? VERIFIED : 0) +
    (card.stopped ? STOPPED : 0) +
    (card.usage?.ofFormerIccid ? OF_FORMER_ICCID : 0);
  const fields = [
    BigInt(`1${card.iccid}`).toString(36),
    card.carrierId.toString(36),
    card.status.toString(36),
    flags,
    card.allowanceMb ?? '-',
  ];
  if (card.vendorId !== null || card.usage !== null) fields.push(encodeURIComponent(card.vendorId ?? ''));
  const { usage } = card;
  if (usage !== null) {
    const reading = usage.lastReadingMb === usage.usedMb ? '' : usage.lastReadingMb;
    fields.push(packMonth(usage.month), usage.usedMb, reading, usage.readAtMs.toString(36));
    if (usage.suspectedMb !== null || usage.jump !== null) fields.push(usage.suspectedMb ?? '');
    if (usage.jump !== null) fields.push(...packJump(usage.jump, usage.readAtMs));
  }
  return LAYOUT + fields.join(SEPARATOR);
}

/** @returns null for a text of another layout. */
export function unpackCard(cardId: number, packed: string): Card | null {
  if (!packed.startsWith(LAYOUT)) return null;
  const fields = packed.slice(LAYOUT.length).split(SEPARATOR);
  const [iccid, carrier, status, flags, allowance, vendorId = ''] = fields;
  if (iccid === undefined || carrier === undefined || status === undefined || allowance === undefined)
    return null;
  return {
    cardId,
    iccid: unpackIccid(iccid),
    carrierId: Number.parseInt(carrier, 36),
    status: Number.parseInt(status, 36),
    realNameVerified: (Number(flags) & VERIFIED) !== 0,
    stopped: (Number(flags) & STOPPED) !== 0,
    allowanceMb: allowance === '-' ? null : Number(allowance),
    vendorId: vendorId === '' ? null : decodeURIComponent(vendorId),
    usage: unpackUsage(fields.slice(6), (Number(flags) & OF_FORMER_ICCID) !== 0),
  };
}

function packJump({ fromMb, fromUsedMb, atMs }: ReadingJump, readAtMs: number): Array<string | number> {
  const fromUsed = fromUsedMb === fromMb ? '' : (fromUsedMb ?? '-');
  return [fromMb, fromUsed, (readAtMs - atMs).toString(36)];
}

function unpackJump([from, fromUsed, before]: string[], readAtMs: number): ReadingJump | null {
  if (from === undefined || before === undefined) return null;
  const fromUsedMb = fromUsed === '-' ? null : Number(fromUsed === '' ? from : fromUsed);
  return { fromMb: Number(from), fromUsedMb, atMs: readAtMs - Number.parseInt(before, 36) };
}

function unpackUsage(
  [month, used, reading, readAt, suspected = '', ...jump]: string[],
  ofFormerIccid: boolean,
): UsageMonth | null {
  if (month === undefined || used === undefined || readAt === undefined) return null;
  const readAtMs = Number.parseInt(readAt, 36);
  return {
    month: unpackMonth(month),
    usedMb: Number(used),
    lastReadingMb: Number(reading === '' ? used : reading),
    suspectedMb: suspected === '' ? null : Number(suspected),
    jump: unpackJump(jump, readAtMs),
    readAtMs,
    ...(ofFormerIccid ? { ofFormerIccid } : {}),
  };
}

/** Base 36 to decimal in two halves, each small enough for an exact double. */
function unpackIccid(packed: string): string {
  const split = packed.length - 8;
  const high = BigInt(Number.parseInt(packed.slice(0, split), 36)) * 2_821_109_907_456n;
  return (high + BigInt(Number.parseInt(packed.slice(split), 36))).toString().slice(1);
}

function packMonth(month: string): string {
  const [year = 0, ofYear = 1] = month.split('-').map(Number);
  return (year * 12 + ofYear - 1).toString(36);
}

function unpackMonth(packed: string): string {
  const months = Number.parseInt(packed, 36);
  return `${String(Math.floor(months / 12)).padStart(4, '0')}-${String((months % 12) + 1).padStart(2, '0')}`;
}
