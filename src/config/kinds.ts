// The kinds of value a setting can have: each parses the value of a flag, a variable or YAML, and describes in words
// what it accepts. Used by the settings table and by command options. Does not know the source of a value.
import { type AddressRange, parseAddressRange } from '../platform/ssrf-guard.ts';

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

export interface Kind<T> {
  /** The accepted values, for help and documentation: `host:port`, `milliseconds, 1000 to 600000`. */
  readonly accepts: string;
  /** All accepted words, when there are few. */
  readonly choices?: readonly string[];
  /** @param raw text from a flag or a variable, or any YAML value. */
  parse(raw: unknown): Parsed<T>;
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

/** What a kind answers. */
export const good = <T>(value: T): Parsed<T> => ({ ok: true, value });
export const bad = (problem: string): Parsed<never> => ({ ok: false, problem });
const shown = (raw: unknown): string => JSON.stringify(raw) ?? String(raw);

/** Any non-empty text. */
export function text(accepts: string): Kind<string> {
  return {
    accepts,
    parse: (raw) => {
      const value = typeof raw === 'number' ? String(raw) : raw;
      return typeof value === 'string' && value.trim() !== ''
        ? good(value.trim())
        : bad(`${shown(raw)} is not ${accepts}`);
    },
  };
}

/** Text of a form. @param what what any other text is not, in messages. */
export function formed(accepts: string, pattern: RegExp, what = `a ${accepts}`): Kind<string> {
  return {
    accepts,
    parse: (raw) =>
      typeof raw === 'string' && pattern.test(raw) ? good(raw) : bad(`${shown(raw)} is not ${what}`),
  };
}

/** An address to listen on. IPv6 literals need brackets. */
export const HOST_PORT: Kind<HostPort> = {
  accepts: 'host:port',
  parse: (raw) => {
    const match =
      typeof raw === 'string' ? /^(?:\[([0-9a-f:.]+)\]|([^:[\]\s/]+)):(\d{1,5})$/i.exec(raw) : null;
    const port = Number(match?.[3]);
    if (match === null || port > 65_535) {
      return bad(`${shown(raw)} is not host:port (for example 127.0.0.1:7480 or [::1]:7480)`);
    }
    return good({ host: match[1] ?? match[2] ?? '', port });
  },
};

/** A URL of one of the given schemes, without a trailing slash. The value is never quoted: it may hold a password. */
export function url(...schemes: readonly string[]): Kind<string> {
  const accepts = `URL starting with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  return {
    accepts,
    parse: (raw) => {
      const parsed = typeof raw === 'string' && URL.canParse(raw) ? new URL(raw) : null;
      if (
        parsed === null ||
        !schemes.includes(parsed.protocol.slice(0, -1)) ||
        !/^[a-z+]+:\/\//i.test(String(raw))
      ) {
        return bad(`is not a ${accepts}`);
      }
      return good(String(raw).replace(/\/+$/, ''));
    },
  };
}

const HTTP_URL = url('http', 'https');

/** An HTTP base URL, to which paths are added. Messages quote it, so it may not hold a password. */
export const BASE_URL: Kind<string> = {
  accepts: HTTP_URL.accepts,
  parse: (raw) => {
    const parsed = HTTP_URL.parse(raw);
    if (!parsed.ok) return parsed;
    const { username, password, search, hash } = new URL(parsed.value);
    return username + password + search + hash === ''
      ? parsed
      : bad('must have no credentials, query or fragment');
  },
};

/**
 * The URL of one or several servers (`scheme://host:port,host:port/...`). Only the scheme is checked here; the client
 * that connects checks the rest. The value is never quoted: it may hold a password.
 */
export function connectionUrl(...schemes: readonly string[]): Kind<string> {
  const accepts = `URL starting with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  return {
    accepts,
    parse: (raw) => {
      const scheme = typeof raw === 'string' ? /^([a-z-]+):\/\/[^\s/]\S*$/.exec(raw)?.[1] : undefined;
      return scheme !== undefined && schemes.includes(scheme)
        ? good(raw as string)
        : bad(`is not a ${accepts}`);
    },
  };
}

function bounded(value: number, bounds: Bounds, unit: string): Parsed<number> {
  return value >= bounds.min && value <= bounds.max
    ? good(value)
    : bad(`${value}${unit} is out of bounds (${bounds.min} to ${bounds.max})`);
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
  const accepts = `${what}, ${bounds.min} to ${bounds.max}`;
  return {
    accepts,
    parse: (raw) => {
      const value = typeof raw === 'string' && form.test(raw) ? Number(raw) : raw;
      return isOne(value) ? bounded(value as number, bounds, '') : bad(`${shown(raw)} is not a ${accepts}`);
    },
  };
}

const MS_PER_UNIT: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A duration: a plain number counts `unit`s; 500ms, 15s, 5m and 1h are accepted everywhere. Yields `unit`s. */
export function duration(unit: 'ms' | 's', bounds: Bounds): Kind<number> {
  const word = unit === 'ms' ? 'milliseconds' : 'seconds';
  const accepts = `${word}, ${bounds.min} to ${bounds.max}`;
  return {
    accepts,
    parse: (raw) => {
      const match = /^(\d+)\s*(ms|s|m|h)?$/.exec(String(raw));
      if (match === null) return bad(`${shown(raw)} is not a duration (${accepts}, or 500ms, 15s, 5m, 1h)`);
      const factor = (MS_PER_UNIT[match[2] ?? unit] ?? 1) / (MS_PER_UNIT[unit] ?? 1);
      const value = Number(match[1]) * factor;
      if (!Number.isInteger(value)) return bad(`${shown(raw)} is not a whole number of ${word}`);
      return bounded(value, bounds, ` ${word}`);
    },
  };
}

/** A switch. */
export const ON_OFF: Kind<boolean> = {
  accepts: 'on or off',
  choices: ['on', 'off'],
  parse: (raw) => {
    if (raw === true || raw === 'on' || raw === 'true') return good(true);
    if (raw === false || raw === 'off' || raw === 'false') return good(false);
    return bad(`${shown(raw)} is neither on nor off`);
  },
};

/** One of a few words. */
export function oneOf<T extends string>(values: readonly T[]): Kind<T> {
  const accepts = values.join(', ');
  return {
    accepts: `one of ${accepts}`,
    choices: values,
    parse: (raw) => {
      const value = values.find((candidate) => candidate === raw);
      return value === undefined ? bad(`${shown(raw)} is none of ${accepts}`) : good(value);
    },
  };
}

/** A list of values of one kind: comma-separated text or a YAML list. At least one value; duplicates count once. */
export function listOf<T>(item: Kind<T>): Kind<readonly T[]> {
  return {
    accepts: `list of: ${item.accepts}`,
    parse: (raw) => {
      const parts = Array.isArray(raw) ? raw : String(raw).split(',');
      const values = new Set<T>();
      for (const part of parts) {
        const parsed = item.parse(typeof part === 'string' ? part.trim() : part);
        if (!parsed.ok) return parsed;
        values.add(parsed.value);
      }
      return values.size > 0 ? good([...values]) : bad('the list is empty');
    },
  };
}

/** An address range, `10.0.0.0/8`, or a single address. */
export const ADDRESS_RANGE: Kind<AddressRange> = {
  accepts: 'address range like 10.0.0.0/8, or an address',
  parse: (raw) => {
    const value = parseAddressRange(String(raw));
    return value === null ? bad(`${shown(raw)} is not an ${ADDRESS_RANGE.accepts}`) : good(value);
  },
};

/** A time zone of the IANA database. */
export const TIME_ZONE: Kind<string> = {
  accepts: 'IANA time zone, for example Asia/Shanghai',
  parse: (raw) => {
    try {
      new Intl.DateTimeFormat('en', { timeZone: String(raw) });
    } catch {
      return bad(`${shown(raw)} is not an IANA time zone (for example Asia/Shanghai or UTC)`);
    }
    return good(String(raw));
  },
};
