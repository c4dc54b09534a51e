// The kinds of value of a setting: each parses the value of a flag, a variable or YAML, and describes the accepted values. Used
// by the settings table and by command options. Does not know the source of a value.
import { type AddressRange, parseAddressRange } from '../platform/addresses.ts';

export interface Kind<T> {
  /** The accepted values, for help and documentation: `host:port`, `milliseconds, 1000 to 600000`. */
  readonly accepts: string;
  /** All accepted words, when there are few. */
  readonly choices?: readonly string[];
  /** @param raw text from a flag or a variable, or any YAML value. @throws BadValue */
  parse(raw: unknown): T;
}

/** Why a value is not accepted. The message continues the name of the setting. */
export class BadValue extends Error {}

export function refuse(problem: string): never {
  throw new BadValue(problem);
}

/** @param toError makes the error when `parse` does not accept a value. */
export function parseOr<T>(parse: () => T, toError: (problem: string) => Error): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof BadValue ? toError(error.message) : error;
  }
}

/** Parses a part of a value. @param where names the part in messages. */
export function within<T>(where: string, parse: () => T): T {
  return parseOr(parse, (problem) => new BadValue(`${where} ${problem}`));
}

const MAX_PROBLEMS = 10;

/**
 * Runs all checks of a value with several parts, even if some fail.
 * @returns the result of each check. @throws BadValue that names the problems of all of them.
 */
export function all<const Checks extends ReadonlyArray<() => unknown>>(
  ...checks: Checks
): { -readonly [At in keyof Checks]: ReturnType<Checks[At]> } {
  const problems = new Set<string>();
  const results = checks.map((check) => {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      problems.add(error.message);
      return undefined;
    }
  });
  if (problems.size > MAX_PROBLEMS)
    refuse(
      `${[...problems].slice(0, MAX_PROBLEMS).join('; ')}; and ${problems.size - MAX_PROBLEMS} more problems`,
    );
  if (problems.size > 0) refuse([...problems].join('; '));
  return results as { -readonly [At in keyof Checks]: ReturnType<Checks[At]> };
}

export interface HostPort {
  /** Without the brackets of an IPv6 literal. */
  readonly host: string;
  /** 0 lets the system choose a free port. */
  readonly port: number;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

const SHOWN_CHARS = 100;

/** Quotes a value in a message. */
export function shown(raw: unknown): string {
  const text = JSON.stringify(raw) ?? String(raw);
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}

/** A value as text; empty for a YAML list or map, which `String` would convert: [5] to `5`. */
export function textOf(raw: unknown): string {
  return typeof raw === 'object' ? '' : String(raw);
}

/**
 * A kind that is read in one step. Messages quote the value.
 * @param read returns null for a value that is not accepted. @param problem follows that value in the message.
 */
export function kindOf<T>(
  accepts: string,
  read: (raw: unknown) => T | null,
  problem = `is not a ${accepts}`,
): Kind<T> {
  return { accepts, parse: (raw) => read(raw) ?? refuse(`${shown(raw)} ${problem}`) };
}

/** Any non-empty text. */
export function text(accepts: string): Kind<string> {
  const read = (raw: unknown) =>
    typeof raw === 'string' || typeof raw === 'number' ? String(raw).trim() || null : null;
  return kindOf(accepts, read, `is not ${accepts}`);
}

/** Text of a given form. @param problem message about any other text. */
export function formed(accepts: string, pattern: RegExp, problem?: string): Kind<string> {
  return kindOf(accepts, (raw) => (typeof raw === 'string' && pattern.test(raw) ? raw : null), problem);
}

/** An address to listen on. IPv6 literals need brackets. */
export const HOST_PORT: Kind<HostPort> = kindOf(
  'host:port',
  (raw) => {
    const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]\s/]+)):(\d{1,5})$/i.exec(typeof raw === 'string' ? raw : '');
    const port = Number(match?.[3]);
    return match === null || port > 65_535 ? null : { host: match[1] ?? match[2] ?? '', port };
  },
  'is not host:port (for example 127.0.0.1:7480 or [::1]:7480)',
);

/** A URL of one of the given schemes, without a trailing slash. The value is never quoted: it may contain a password. */
export function url(...schemes: readonly string[]): Kind<string> {
  const accepts = acceptsSchemes(schemes);
  return {
    accepts,
    parse: (raw) => {
      const value = typeof raw === 'string' && URL.canParse(raw) ? raw.trim() : '';
      const scheme = /^([a-z+]+):\/\//i.exec(value)?.[1] ?? '';
      return schemes.includes(scheme.toLowerCase())
        ? value.replace(/\/+$/, '')
        : refuse(`is not a ${accepts}`);
    },
  };
}

const HTTP_URL = url('http', 'https');

/** An HTTP base URL, to which paths are added. Messages quote it, so it must not contain a password. */
export const BASE_URL: Kind<string> = {
  accepts: HTTP_URL.accepts,
  parse: (raw) => {
    const value = HTTP_URL.parse(raw);
    const { username, password } = new URL(value);
    return username + password === '' && !/[?#]/.test(value)
      ? value
      : refuse('must have no credentials, query or fragment');
  },
};

/**
 * The URL of one or several servers (`scheme://host:port,host:port/...`). Only the scheme is checked here; the client that
 * connects checks the rest. The value is never quoted: it may contain a password.
 */
export function connectionUrl(...schemes: readonly string[]): Kind<string> {
  const accepts = acceptsSchemes(schemes);
  return {
    accepts,
    parse: (raw) => {
      const scheme = typeof raw === 'string' ? /^([a-z-]+):\/\/[^\s/]\S*$/.exec(raw)?.[1] : undefined;
      return schemes.includes(scheme ?? '') ? String(raw) : refuse(`is not a ${accepts}`);
    },
  };
}

function acceptsSchemes(schemes: readonly string[]): string {
  return `URL starting with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
}

function bounded(value: number, bounds: Bounds, unit: string): number {
  if (value >= bounds.min && value <= bounds.max) return value;
  return refuse(`${value}${unit} is out of bounds (${bounds.min} to ${bounds.max})`);
}

/** A whole number within bounds, both ends included. */
export const integer = (bounds: Bounds): Kind<number> =>
  numeric('whole number', /^-?\d+$/, Number.isSafeInteger, bounds);

/** A number within bounds, both ends included. */
export const fraction = (bounds: Bounds): Kind<number> =>
  numeric('number', /^\d*\.?\d+$/, (value) => typeof value === 'number', bounds);

function numeric(
  what: string,
  form: RegExp,
  isOne: (value: unknown) => boolean,
  bounds: Bounds,
): Kind<number> {
  return kindOf(`${what}, ${bounds.min} to ${bounds.max}`, (raw) => {
    const value = typeof raw === 'string' && form.test(raw) ? Number(raw) : raw;
    return isOne(value) ? bounded(value as number, bounds, '') : null;
  });
}

const MS_PER_UNIT: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A duration: a plain number counts `unit`s; 500ms, 15s, 5m and 1h are accepted everywhere. Yields `unit`s. */
export function duration(unit: 'ms' | 's', bounds: Bounds): Kind<number> {
  const word = unit === 'ms' ? 'milliseconds' : 'seconds';
  const accepts = `${word}, ${bounds.min} to ${bounds.max}`;
  const read = (raw: unknown) => {
    const match = /^(\d+)\s*(ms|s|m|h)?$/.exec(textOf(raw));
    if (match === null) return null;
    const factor = (MS_PER_UNIT[match[2] ?? unit] ?? 1) / (MS_PER_UNIT[unit] ?? 1);
    const value = Number(match[1]) * factor;
    if (!Number.isInteger(value)) refuse(`${shown(raw)} is not a whole number of ${word}`);
    return bounded(value, bounds, ` ${word}`);
  };
  return kindOf(accepts, read, `is not a duration (${accepts}, or 500ms, 15s, 5m, 1h)`);
}

/** A switch. */
export const ON_OFF: Kind<boolean> = {
  accepts: 'on or off',
  choices: ['on', 'off'],
  parse: (raw) => {
    if (raw === true || raw === 'on' || raw === 'true') return true;
    if (raw === false || raw === 'off' || raw === 'false') return false;
    return refuse(`${shown(raw)} is neither on nor off`);
  },
};

/** One of a few words. */
export function oneOf<T extends string>(values: readonly T[]): Kind<T> {
  const words = values.join(', ');
  return {
    accepts: `one of ${words}`,
    choices: values,
    parse: (raw) => values.find((word) => word === raw) ?? refuse(`${shown(raw)} is none of ${words}`),
  };
}

/** A list of values of one kind: comma-separated text or a YAML list. At least one value; duplicates count once. */
export function listOf<T>(item: Kind<T>): Kind<readonly T[]> {
  return {
    accepts: `list of: ${item.accepts}`,
    parse: (raw) => {
      const parts: unknown[] = Array.isArray(raw) ? raw : textOf(raw).split(',');
      const values = parts.map((part) => item.parse(typeof part === 'string' ? part.trim() : part));
      return values.length > 0 ? [...new Set(values)] : refuse('the list is empty');
    },
  };
}

/** An address range, `10.0.0.0/8`, or a single address. */
export const ADDRESS_RANGE: Kind<AddressRange> = kindOf(
  'address range like 10.0.0.0/8, or an address',
  (raw) => parseAddressRange(textOf(raw)),
  'is not an address range like 10.0.0.0/8, or an address',
);

/** A time zone of the IANA database. */
export const TIME_ZONE: Kind<string> = kindOf(
  'IANA time zone, for example Asia/Shanghai',
  (raw) => {
    try {
      new Intl.DateTimeFormat('en', { timeZone: textOf(raw) });
      return textOf(raw);
    } catch {
      return null;
    }
  },
  'is not an IANA time zone (for example Asia/Shanghai or UTC)',
);
