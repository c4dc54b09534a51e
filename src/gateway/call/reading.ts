// Reads the value of an interface from an answer, or from an item of its list, as the profile describes it: verified or not, a
// status, a volume in megabytes. Used by answer.ts, which knows the card of the answer. Pure.
import type { Reading } from '../../domain/gateway/gateway-config.ts';
import {
  type DataUnit,
  dataUnitIn,
  isNothingAt,
  parseValuePath,
  roundedMb,
  type UnitWords,
  type ValuePath,
  valueAt,
} from '../../domain/gateway/profile-syntax.ts';
import { volumeIn } from '../../domain/gateway/volume.ts';
import type { AnswerKind } from '../../domain/gateway-interface.ts';
import { GatewayError } from '../gateway.ts';

const MAX_STATUS_CHARS = 64;

export type AnswerValue = boolean | number | string;

/**
 * Where a value may be absent and still have the meaning of missing_value. `anywhere`: its container may be absent, too.
 * `inside`: its container must be there. With an error: nowhere; `error` is the sign of the error.
 */
export type Absence = 'inside' | 'anywhere' | { readonly error: string };

/** @param absenceIn called when there is no value at its places. */
export type ReadValue = (item: unknown, absenceIn: (item: unknown) => Absence) => AnswerValue;

/** A place in the answer, and its name in messages. */
export interface Place {
  readonly name: string;
  readonly path: ValuePath;
}

export function placeOf(text: string): Place {
  return { name: text, path: parseValuePath(text) ?? [] };
}

/** The places that hold the value of a reading. */
export function valuePlaces(reading: Reading): readonly Place[] {
  return (reading.kind === 'remainder' ? [reading.total, reading.remaining] : [reading.value]).map(placeOf);
}

export function valueReader(reading: Reading, stoppedStatuses: readonly string[]): ReadValue {
  const read = readerOf(reading, stoppedStatuses);
  const meaning = meaningOfMissing(reading);
  const places = valuePlaces(reading);
  return (item, absenceIn) => {
    if (!places.every(({ path }) => isNothingAt(item, path))) return read(item);
    const absence = absenceIn(item);
    if (typeof absence === 'object') {
      const names = places.map(({ name }) => name).join(' and ');
      throw new GatewayError(
        'malformed',
        `${names} has no value, and the answer reports an error: ${absence.error}`,
      );
    }
    const mayBeAbsent = absence === 'anywhere' || places.every(({ path }) => holderIsThere(item, path));
    return meaning !== null && mayBeAbsent ? meaning : read(item);
  };
}

/** null: no meaning, so a missing value is an error. */
function meaningOfMissing(reading: Reading): AnswerValue | null {
  const { missing = null } = reading;
  if (missing === null) return null;
  switch (reading.kind) {
    case 'status':
      return String(missing);
    case 'verified':
      return reading.trueValues.includes(missing);
    case 'megabytes':
    case 'remainder':
      return volumeIn(missing, reading.unit, reading.unitWords) as number;
  }
}

function holderIsThere(item: unknown, path: ValuePath): boolean {
  if (typeof item !== 'object' || item === null) return path.length === 0;
  return (
    Array.isArray(item) || Object.keys(item).length === 0 || valueAt(item, path.slice(0, 1)) !== undefined
  );
}

function readerOf(reading: Reading, stoppedStatuses: readonly string[]): (item: unknown) => AnswerValue {
  switch (reading.kind) {
    case 'verified': {
      const { trueValues } = reading;
      const kinds = [...new Set(trueValues.map((value) => typeof value))];
      const expected = `a ${kinds.join(' or ')}`;
      return checked(placeOf(reading.value), expected, (raw) =>
        kinds.some((kind) => kind === typeof raw) ? trueValues.some((value) => value === raw) : null,
      );
    }
    case 'status': {
      // If the statuses that mean stopped are numbers or booleans, other numbers or booleans are statuses too.
      const isOther = (raw: unknown) =>
        (Number.isSafeInteger(raw) && stoppedStatuses.some((status) => /^\d+$/.test(status))) ||
        (typeof raw === 'boolean' && stoppedStatuses.some((status) => /^(true|false)$/.test(status)));
      return checked(placeOf(reading.value), STATUS, (raw) => statusOf(isOther(raw) ? String(raw) : raw));
    }
    case 'megabytes': {
      const unitOf = unitReader(reading);
      const used = volumeReader(reading.value, 0, reading.unitWords);
      return (item) => used(item, unitOf(item));
    }
    case 'remainder': {
      const unitOf = unitReader(reading);
      const total = volumeReader(reading.total, 0, reading.unitWords);
      // A card that used more than its total has a negative rest.
      const remaining = volumeReader(reading.remaining, Number.NEGATIVE_INFINITY, reading.unitWords);
      return (item) => {
        const unit = unitOf(item);
        const used = roundedMb(total(item, unit) - remaining(item, unit));
        if (used >= 0) return used;
        throw new GatewayError('malformed', `${reading.remaining} is more than ${reading.total}`);
      };
    }
  }
}

type VolumeReading = Extract<Reading, { kind: 'megabytes' | 'remainder' }>;

/** @returns null: the profile gives no unit, so the volume may be followed by one. */
function unitReader({
  unit,
  unitValue = null,
  unitWords,
}: VolumeReading): (item: unknown) => DataUnit | null {
  if (unitValue === null) return () => unit;
  return checked(placeOf(unitValue), 'a unit of data volume', (raw) => dataUnitIn(raw, unitWords));
}

/** @param least smallest valid volume, megabytes */
function volumeReader(
  place: string,
  least: number,
  words?: UnitWords,
): (item: unknown, unit: DataUnit | null) => number {
  const { name, path } = placeOf(place);
  return (item, unit) => {
    const raw = valueAt(item, path);
    const volume = volumeIn(raw, unit, words);
    if (typeof volume !== 'number') throw new GatewayError('malformed', `${name} is ${volume.problem}`);
    // Turns -0 into 0.
    if (volume >= least) return volume + 0;
    const what = `a number of ${unit ?? 'MB'}`;
    throw unexpected(name, raw, least === 0 ? `${what}, 0 or more` : what);
  };
}

const STATUS = `a text of 1 to ${MAX_STATUS_CHARS} characters`;

/** @param read null: the value is not of the expected form. */
function checked<V extends AnswerValue>(
  { name, path }: Place,
  expected: string,
  read: (raw: unknown) => V | null,
): (item: unknown) => V {
  return (item) => {
    const raw = valueAt(item, path);
    const value = read(raw);
    if (value !== null) return value;
    throw unexpected(name, raw, expected);
  };
}

function unexpected(name: string, raw: unknown, expected: string): GatewayError {
  const problem = raw === undefined ? 'missing' : `not ${expected}: ${shown(raw)}`;
  return new GatewayError('malformed', `${name} is ${problem}`);
}

/** Neither cut nor escaped: the user of the message masks secrets first and cuts afterwards. */
function shown(raw: unknown): string {
  if (typeof raw === 'object' && raw !== null) return Array.isArray(raw) ? 'a list' : 'an object';
  return typeof raw === 'string' ? `"${raw}"` : String(raw);
}

/** Checks a value that a module read. @throws Error that names the expected form. */
export function checkedValue(kind: AnswerKind | undefined, value: unknown): AnswerValue | null {
  const [isGood, expected] =
    kind === 'verified'
      ? [typeof value === 'boolean', 'true or false']
      : kind === 'megabytes'
        ? [
            typeof value === 'number' && Number(volumeIn(value, 'MB')) >= 0,
            'a number of megabytes, 0 or more',
          ]
        : kind === 'status'
          ? [statusOf(value) !== null, STATUS]
          : [value === null, 'null'];
  if (isGood) return value as AnswerValue | null;
  throw new Error(`the value is not ${expected}`);
}

function statusOf(raw: unknown): string | null {
  return typeof raw === 'string' && raw.trim() !== '' && raw.length <= MAX_STATUS_CHARS ? raw : null;
}
