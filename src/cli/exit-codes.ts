// Exit codes (contract, "Exit codes"; the numbers are those of sysexits.h). The only place that turns an error kind
// into one.
import type { ErrorKind } from '../platform/errors.ts';

export const EXIT_OK = 0;
/** The command worked; its answer is "no". */
export const EXIT_NEGATIVE = 1;
/** The command worked; it could not tell. */
export const EXIT_UNKNOWN = 2;
export const EXIT_BAD_DATA = 65;
export const EXIT_BUG = 70;
/** A file, or what stdout leads to, cannot be written. */
export const EXIT_IO = 74;
export const EXIT_SIGHUP = 129;
export const EXIT_SIGINT = 130;
export const EXIT_SIGTERM = 143;

const CODES: Record<ErrorKind, number> = {
  usage: 64,
  invalid: EXIT_BAD_DATA,
  bad_data: EXIT_BAD_DATA,
  input_missing: 66,
  not_found: EXIT_NEGATIVE,
  unavailable: 69,
  internal: EXIT_BUG,
  io: EXIT_IO,
  busy: 75,
  conflict: 75,
  auth: 77,
  config: 78,
};

export function exitCodeOf(kind: ErrorKind): number {
  return CODES[kind];
}

/** All of them with their meaning, for the manual. */
export const EXIT_STATUS: readonly (readonly [number, string])[] = [
  [EXIT_OK, 'it worked'],
  [EXIT_NEGATIVE, 'it worked, and the answer is no: nothing found, a check failed, the thing does not exist'],
  [EXIT_UNKNOWN, 'it could not tell (`doctor`), or something could not be read whole (`logs`)'],
  [CODES.usage, 'the command line is wrong'],
  [EXIT_BAD_DATA, 'input data is wrong'],
  [CODES.input_missing, 'an input file is missing'],
  [CODES.unavailable, 'the daemon or a store cannot be reached'],
  [EXIT_BUG, 'a bug in cardpoll'],
  [EXIT_IO, 'something cannot be written'],
  [CODES.busy, 'not now: another run is at it, or a lock is held; try again later'],
  [CODES.auth, 'not authorised'],
  [CODES.config, 'the configuration cannot work'],
  [EXIT_SIGHUP, 'ended by SIGHUP'],
  [EXIT_SIGINT, 'ended by SIGINT'],
  [EXIT_SIGTERM, 'ended by SIGTERM'],
];
