// Exit codes (contract, "Exit codes"; the numbers come from sysexits.h). The only place that maps an error kind to an exit
// code.
import type { ErrorKind } from '../platform/errors.ts';

export const EXIT_OK = 0;
/** The command succeeded, and its answer is "no". */
export const EXIT_NEGATIVE = 1;
/** The command succeeded, but a check could not run or a file could not be read completely. */
export const EXIT_UNKNOWN = 2;
export const EXIT_BAD_DATA = 65;
export const EXIT_BUG = 70;
/** A file or stdout cannot be written. */
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

/** All exit codes with their meaning, for the manual. */
export const EXIT_STATUS: readonly (readonly [number, string])[] = [
  [EXIT_OK, 'success'],
  [EXIT_NEGATIVE, 'success, and the answer is no: nothing found, a check failed, the thing does not exist'],
  [EXIT_UNKNOWN, 'a check could not run (`doctor`), or a file could not be read completely (`logs`)'],
  [CODES.usage, 'the command line is wrong'],
  [EXIT_BAD_DATA, 'input data is wrong'],
  [CODES.input_missing, 'an input file is missing'],
  [CODES.unavailable, 'the daemon or a store cannot be reached'],
  [EXIT_BUG, 'a bug in cardpoll'],
  [EXIT_IO, 'a file or the output cannot be written'],
  [CODES.busy, 'not now, for example because another run is active; try again later'],
  [CODES.auth, 'not authorised'],
  [CODES.config, 'the configuration is invalid'],
  [EXIT_SIGHUP, 'ended by SIGHUP'],
  [EXIT_SIGINT, 'ended by SIGINT'],
  [EXIT_SIGTERM, 'ended by SIGTERM'],
];
