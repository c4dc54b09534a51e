// Exit codes (contract, "Exit codes"; the numbers come from sysexits.h). The only place that maps an error kind to an exit
// code.
import type { ErrorKind } from './errors.ts';

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
