// The exit codes as the manual explains them. The binary shows none of this.
import {
  EXIT_BAD_DATA,
  EXIT_BUG,
  EXIT_IO,
  EXIT_NEGATIVE,
  EXIT_OK,
  EXIT_SIGHUP,
  EXIT_SIGINT,
  EXIT_SIGTERM,
  EXIT_UNKNOWN,
  exitCodeOf,
} from '../../src/platform/exit-codes.ts';

export const EXIT_STATUS: readonly (readonly [number, string])[] = [
  [EXIT_OK, 'success'],
  [EXIT_NEGATIVE, 'success, and the answer is no: nothing found, a check failed, the thing does not exist'],
  [EXIT_UNKNOWN, 'a check could not run (`doctor`), or a file could not be read completely (`logs`)'],
  [exitCodeOf('usage'), 'the command line is wrong'],
  [EXIT_BAD_DATA, 'input data is wrong'],
  [exitCodeOf('input_missing'), 'an input file is missing'],
  [exitCodeOf('unavailable'), 'the daemon or a store cannot be reached'],
  [EXIT_BUG, 'a bug in cardpoll'],
  [EXIT_IO, 'a file or the output cannot be written'],
  [exitCodeOf('busy'), 'not now, for example because another run is active; try again later'],
  [exitCodeOf('auth'), 'not authorised'],
  [exitCodeOf('config'), 'the configuration is invalid'],
  [EXIT_SIGHUP, 'ended by SIGHUP'],
  [EXIT_SIGINT, 'ended by SIGINT'],
  [EXIT_SIGTERM, 'ended by SIGTERM'],
];
