// Whether anything answers at the gateway's address. Used by the doctor; polls no card and shows no credentials.
import { request } from 'undici';
import { CardpollError, messageOf } from '../platform/errors.ts';

/** @returns what answered, one phrase; any HTTP answer counts. Throws `unavailable`. */
export async function reachGateway(url: string, timeoutMs: number): Promise<string> {
  try {
    const answer = await request(url, {
      method: 'HEAD',
      signal: AbortSignal.timeout(timeoutMs),
      reset: true,
    });
    await answer.body.dump();
    return `answers (HEAD ${url}: ${answer.statusCode})`;
  } catch (error) {
    throw new CardpollError(
      'unavailable',
      'gateway_unreachable',
      `nothing answers at ${url}: ${messageOf(error)}`,
      {
        hint: 'check gateway.url and that this machine may connect there',
        cause: error,
      },
    );
  }
}
