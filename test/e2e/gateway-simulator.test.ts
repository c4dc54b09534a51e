// `cardpoll gateway simulate` as an operator runs it: the built binary, plain HTTP, signals.
import { describe, expect, it } from 'vitest';
import { cliHere } from '../support/cli-here.ts';
import { freePort } from '../support/free-port.ts';
import { type RunningCli, runCli, spawnCli, waitFor } from '../support/processes.ts';

interface Stats {
  readonly requests: number;
  readonly in_flight: number;
  readonly max_in_flight: number;
  readonly rejected: number;
  readonly stops: Readonly<Record<string, number>>;
}

async function simulate(
  ...options: string[]
): Promise<{ readonly url: string; readonly process: RunningCli }> {
  const address = `127.0.0.1:${await freePort()}`;
  const process = spawnCli(['gateway', 'simulate', '--listen', address, ...options]);
  const url = `http://${address}`;
  await waitFor(() => statsOf(url), { what: 'the simulator to answer' });
  return { url, process };
}

async function statsOf(url: string): Promise<Stats> {
  return (await (await fetch(`${url}/stats`)).json()) as Stats;
}

function post(url: string, path: string, iccid: string): Promise<Response> {
  return fetch(url + path, { method: 'POST', body: JSON.stringify({ iccid }) });
}

describe('cardpoll gateway simulate', () => {
  it('serves the profile and its counts, and ends on SIGTERM with 0', async () => {
    const { url, process } = await simulate('--cards', '2');
    const answers: unknown[] = [];
    for (const [path, iccid] of [
      ['/card/stop', '1'],
      ['/card/status', '1'],
      ['/card/status', '2'],
      ['/card/status', '3'],
    ] as const) {
      answers.push(await (await post(url, path, iccid)).json());
    }
    expect(answers).toMatchObject([
      { code: 200 },
      { code: 200, data: { cardStatus: 'stopped' } },
      { code: 200, data: { cardStatus: 'active' } },
      { code: 404, msg: 'unknown card' },
    ]);
    expect(await statsOf(url)).toMatchObject({ requests: 4, in_flight: 0, stops: { 1: 1 } });
    expect(await process.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  });

  it('takes its time, holds its bound, and sees clients go', async () => {
    const { url } = await simulate('--latency-ms', '30000', '--max-concurrency', '2');
    const client = new AbortController();
    const calls = [1, 2].map((n) =>
      fetch(`${url}/card/flow`, { method: 'POST', body: `{"iccid":"${n}"}`, signal: client.signal }).catch(
        (error: Error) => error.name,
      ),
    );
    await waitFor(async () => (await statsOf(url)).in_flight === 2, { what: 'two calls in flight' });
    expect((await post(url, '/card/flow', '3')).status).toBe(429);
    client.abort();
    expect(await Promise.all(calls)).toEqual(['AbortError', 'AbortError']);
    await waitFor(async () => (await statsOf(url)).in_flight === 0, { what: 'the calls to be counted out' });
    expect(await statsOf(url)).toMatchObject({ requests: 3, rejected: 1, max_in_flight: 2 });
  });

  it('ends on a signal while calls are in flight', async () => {
    const { url, process } = await simulate('--latency-ms', '30000');
    const call = post(url, '/card/flow', '1').catch(() => 'cut');
    await waitFor(async () => (await statsOf(url)).in_flight === 1, { what: 'a call in flight' });
    expect(await process.stop('SIGTERM')).toMatchObject({ code: 0 });
    expect(await call).toBe('cut');
  });

  it('refuses what cannot be', async () => {
    const listen = ['--listen', '127.0.0.1:1'];
    expect((await cliHere(['gateway', 'simulate'])).code).toBe(64);
    expect((await runCli(['gateway', 'simulate', ...listen, '--failure-rate', '2'])).code).toBe(64);
    const { url } = await simulate();
    const taken = await runCli(['gateway', 'simulate', '--listen', new URL(url).host]);
    expect(taken.code).toBe(69);
    expect(taken.stderr).toContain('cannot listen');
  });
});
