// Warns of a token that would cross a network in clear text. Used by run.ts.
import type { ClientConfig } from '../../config/load-config.ts';
import { isLoopback } from '../../platform/loopback.ts';
import type { Io } from '../command.ts';
import { plainText } from './line.ts';

/** @returns a check that warns once, however many requests a command sends. */
export function plainHttpWarning(io: Io): (config: ClientConfig) => void {
  let hasWarned = false;
  return ({ url, token }) => {
    const { protocol, hostname, host } = new URL(url);
    if (hasWarned || token === null || protocol !== 'http:' || isLoopback(hostname.replace(/^\[|\]$/g, '')))
      return;
    hasWarned = true;
    io.stderr.write(
      `cardpoll: warning: the token is sent to ${plainText(host)} over plain HTTP; use https://\n`,
    );
  };
}
