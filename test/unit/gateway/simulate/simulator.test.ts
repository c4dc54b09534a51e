import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { demoIccid } from '../../../../src/gateway/simulate/simulated-fleet.ts';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../../../src/gateway/simulate/simulator.ts';

const ICCID = '89860000000000000018';
const opened: Array<() => Promise<void> | void> = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function start(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const simulator = await startSimulator({ host: '127.0.0.1', port: 0, ...options });
  opened.push(() => simulator.close());
  return simulator;
}

async function post(simulator: Simulator, path: string, iccid = ICCID) {
  const response = await fetch(simulator.url + path, { method: 'POST', body: JSON.stringify({ iccid }) });
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
}

/** A client that sends these bytes and never reads the answer's meaning. */
async function rawClient(simulator: Simulator, bytes: string): Promise<Socket> {
  const socket = connect(Number(new URL(simulator.url).port), '127.0.0.1');
  opened.push(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

function stopRequest(iccid: string): string {
  const body = JSON.stringify({ iccid });
  return `POST /card/stop HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

describe('the default profile', () => {
  it('answers every interface with its field', async () => {
    const simulator = await start();
    const answers = new Map<string, unknown>();
    for (const path of [
      '/card/realname',
      '/card/flow',
      '/card/status',
      '/card/stop',
      '/card/status',
      '/card/start',
    ]) {
      const { status, body } = await post(simulator, path);
      expect(status).toBe(200);
      answers.set(`${path} ${answers.size}`, body);
    }
    expect(Object.fromEntries(answers)).toEqual({
      '/card/realname 0': { code: 200, msg: 'ok', data: { realStatus: expect.any(Boolean) } },
      '/card/flow 1': { code: 200, msg: 'ok', data: { used: expect.any(Number) } },
      '/card/status 2': { code: 200, msg: 'ok', data: { cardStatus: 'active' } },
      '/card/stop 3': { code: 200, msg: 'ok', data: {} },
      '/card/status 4': { code: 200, msg: 'ok', data: { cardStatus: 'stopped' } },
      '/card/start 5': { code: 200, msg: 'ok', data: {} },
    });
  });

  it('shows its counts at GET /stats, which is not counted itself', async () => {
    const simulator = await start();
    await post(simulator, '/card/flow');
    await post(simulator, '/card/stop');
    await post(simulator, '/card/start');
    const stats = await (await fetch(`${simulator.url}/stats`)).json();
    expect(stats).toEqual({
      requests: 3,
      by_interface: { realname: 0, flow: 1, card_status: 0, stop: 1, start: 1 },
      in_flight: 0,
      max_in_flight: 1,
      max_in_flight_by_interface: { realname: 0, flow: 1, card_status: 0, stop: 1, start: 1 },
      rejected: 0,
      failed: 0,
      stops: { [ICCID]: 1 },
      starts: { [ICCID]: 1 },
    });
  });

  it('answers what it does not understand', async () => {
    const simulator = await start();
    expect((await post(simulator, '/card/nothing')).status).toBe(404);
    expect((await fetch(`${simulator.url}/card/flow`)).status).toBe(404);
    for (const body of ['', 'null', '{"iccid":5}', '{"iccid":"12ab"}', 'x'.repeat(200_000)]) {
      const response = await fetch(`${simulator.url}/card/flow`, { method: 'POST', body });
      expect([body.slice(0, 20), response.status]).toEqual([body.slice(0, 20), 400]);
    }
    expect(simulator.stats().inFlight).toBe(0);
  });

  it('knows only as many cards as it was given', async () => {
    const simulator = await start({ cards: 1 });
    expect((await post(simulator, '/card/flow', '1')).body).toMatchObject({ code: 200 });
    expect((await post(simulator, '/card/flow', '2')).body).toMatchObject({ code: 404, msg: 'unknown card' });
    await post(simulator, '/card/stop', '2');
    expect(simulator.stats().stops).toEqual({});
  });
});

describe('simulated trouble', () => {
  it('answers after the latency', async () => {
    const simulator = await start({ latencyMs: 80 });
    const startedAt = performance.now();
    await Promise.all(['/card/flow', '/card/flow', '/card/stop'].map((path) => post(simulator, path)));
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(79);
    expect(simulator.stats()).toMatchObject({
      maxInFlight: 3,
      maxInFlightByInterface: { realname: 0, flow: 2, card_status: 0, stop: 1, start: 0 },
    });
  });

  it('fails a share of the calls, the same ones for the same seed, without carrying them out', async () => {
    const outcomes = async (seed: number) => {
      const simulator = await start({ failureRate: 0.3, seed });
      const statuses: number[] = [];
      for (let i = 0; i < 50; i += 1) statuses.push((await post(simulator, '/card/stop')).status);
      const failed = statuses.filter((status) => status === 500).length;
      expect(simulator.stats()).toMatchObject({ failed, stops: { [ICCID]: 50 - failed } });
      return statuses;
    };
    const statuses = await outcomes(7);
    expect(await outcomes(7)).toEqual(statuses);
    expect(await outcomes(8)).not.toEqual(statuses);
    const failed = statuses.filter((status) => status === 500).length;
    expect(failed).toBeGreaterThan(5);
    expect(failed).toBeLessThan(25);
  });

  it('has cards that always fail and cards that are always slow', async () => {
    const simulator = await start({ latencyMs: 10, failingOneIn: 4, slowOneIn: 3 });
    const iccids = Array.from({ length: 60 }, (_, i) => demoIccid(i + 1));
    const round = () =>
      Promise.all(
        iccids.map(async (iccid) => {
          const startedAt = performance.now();
          const { status } = await post(simulator, '/card/flow', iccid);
          return { status, ms: performance.now() - startedAt };
        }),
      );
    const first = await round();
    const failing = first.map(({ status }) => status === 500);
    expect(failing.filter(Boolean).length).toBeGreaterThan(5);
    expect(failing.filter(Boolean).length).toBeLessThan(30);
    expect((await round()).map(({ status }) => status === 500)).toEqual(failing);
    expect(first.filter(({ ms }) => ms >= 99).length).toBeGreaterThan(5);
  });

  it('turns calls above its bound away and never carries them out', async () => {
    const simulator = await start({ latencyMs: 200, maxConcurrency: 3 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(simulator, '/card/stop')));
    const rejected = answers.filter(({ status }) => status === 429);
    expect(rejected).toHaveLength(5);
    expect(rejected[0]?.headers.get('retry-after')).toBe('1');
    expect(simulator.stats()).toMatchObject({
      requests: 8,
      rejected: 5,
      inFlight: 0,
      maxInFlight: 3,
      stops: { [ICCID]: 3 },
    });
  });
});

describe('clients that vanish', () => {
  async function inFlight(simulator: Simulator, expected: number): Promise<void> {
    await expect.poll(() => simulator.stats().inFlight, { interval: 5 }).toBe(expected);
  }

  it.each([
    ['hang up', (socket: Socket) => void socket.end()],
    ['reset', (socket: Socket) => void socket.resetAndDestroy()],
  ])('free their place at once when they %s, and what they asked for is done', async (_, leave) => {
    const simulator = await start({ latencyMs: 60_000 });
    const socket = await rawClient(simulator, stopRequest('11'));
    await rawClient(simulator, stopRequest('22'));
    await inFlight(simulator, 2);
    leave(socket);
    await inFlight(simulator, 1);
    expect(simulator.stats()).toMatchObject({ maxInFlight: 2, stops: { 11: 1, 22: 1 } });
  });

  it('free all places of a pipelined connection', async () => {
    const simulator = await start({ latencyMs: 60_000 });
    const socket = await rawClient(simulator, stopRequest('1') + stopRequest('2') + stopRequest('3'));
    await inFlight(simulator, 3);
    socket.destroy();
    await inFlight(simulator, 0);
  });

  it('are in flight while their body is on its way, and have done nothing when it never ends', async () => {
    const simulator = await start();
    const socket = await rawClient(simulator, stopRequest('1').slice(0, -3));
    await inFlight(simulator, 1);
    socket.destroy();
    await inFlight(simulator, 0);
    expect(simulator.stats()).toMatchObject({ requests: 1, stops: {} });
  });

  it('are not counted twice when they leave after the answer', async () => {
    const simulator = await start();
    const socket = await rawClient(simulator, stopRequest('1'));
    await once(socket, 'data');
    socket.resetAndDestroy();
    await post(simulator, '/card/flow');
    expect(simulator.stats()).toMatchObject({ inFlight: 0, requests: 2 });
  });
});

describe('starting', () => {
  it('says when the address is taken', async () => {
    const { url } = await start();
    const error = await start({ port: Number(new URL(url).port) }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'unavailable', code: 'listen_failed' });
  });

  it('close cuts calls that are in flight', async () => {
    const simulator = await start({ latencyMs: 60_000 });
    const call = post(simulator, '/card/flow').catch(() => 'cut');
    await expect.poll(() => simulator.stats().inFlight, { interval: 5 }).toBe(1);
    await simulator.close();
    expect(await call).toBe('cut');
  });
});

describe('a capacity', () => {
  /** How the calls of a burst are answered: status and, in order of the answers, their place in the burst. */
  async function burst(simulator: Simulator, calls: number) {
    const statuses: number[] = [];
    const order: number[] = [];
    const sent = Array.from({ length: calls }, async (_, i) => {
      const { status } = await post(simulator, '/card/flow', String(i));
      statuses.push(status);
      if (status === 200) order.push(i);
    });
    await Promise.all(sent);
    return { served: order, refused: statuses.filter((status) => status === 429).length };
  }

  // The calls of a burst must all arrive while the first is answered, also on a busy machine: hence a second.
  it('refuses what comes beyond twice of it, and serves the rest', async () => {
    const simulator = await start({ capacity: 4, latencyMs: 1_000 });
    const { served, refused } = await burst(simulator, 11);
    expect([served.length, refused]).toEqual([8, 3]);
    expect(simulator.stats()).toMatchObject({ rejected: 3, maxInFlight: 8, inFlight: 0 });
  });

  it('makes calls beyond it take longer: in this order, with the load each found', async () => {
    const simulator = await start({ capacity: 2, latencyMs: 100 });
    const took = async () => {
      const from = performance.now();
      await post(simulator, '/card/flow');
      return performance.now() - from;
    };
    const durations = await Promise.all([took(), took(), took(), took()]);
    // 100, 100, 150 and 200 ms, and whatever the machine adds.
    expect(Math.max(...durations)).toBeGreaterThanOrEqual(195);
    expect(durations.filter((one) => one >= 145).length).toBeGreaterThanOrEqual(2);
  });

  it('can change while it runs, and go', async () => {
    const simulator = await start({ capacity: 1, latencyMs: 1_000 });
    expect((await burst(simulator, 8)).refused).toBe(6);
    simulator.setCapacity(4);
    expect((await burst(simulator, 8)).refused).toBe(0);
    simulator.setCapacity(null);
    expect((await burst(simulator, 20)).refused).toBe(0);
  });
});
