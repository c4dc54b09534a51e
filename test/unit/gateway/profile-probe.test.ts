// Whether a gateway speaks the profile: gateways that do, real sockets that do not. And what the doctor advises.
import { afterEach, describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../src/domain/cards/usage-month.ts';
import { gatewayRemedy, probeProfile } from '../../../src/gateway/profile-probe.ts';
import { startSimulator } from '../../../src/gateway/simulator.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { answer, type BadGateway, startBadGateway } from '../../support/bad-gateway.ts';
import { gatewayConfig } from '../../support/gateway-config.ts';

const CARDS = [1, 2].map((cardId) => ({ cardId, iccid: `898600000000000000${cardId}`, carrierId: 0 }));
const CALENDAR = new MonthCalendar('Asia/Shanghai');
const GOOD = [200, '{"code":200,"data":{"realStatus":true,"used":1,"cardStatus":"active"}}'] as const;
const BROKEN = [500, ''] as const;
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function probe(url: string, cards = CARDS) {
  const results = await probeProfile(gatewayConfig({ url }), cards, systemClock, CALENDAR);
  expect(results.map(({ interface: name }) => name)).toEqual(['realname', 'flow', 'card_status']);
  return { outcomes: [...new Set(results.map(({ outcome }) => outcome))], results };
}

async function bad(status: number, body: string): Promise<BadGateway> {
  const gateway = await startBadGateway(answer(status, body));
  open.push(gateway);
  return gateway;
}

it('a gateway that speaks it; nothing is stopped', async () => {
  const simulator = await startSimulator({ host: '127.0.0.1', port: 0 });
  open.push(simulator);
  const { outcomes, results } = await probe(simulator.url);
  expect(outcomes).toEqual(['answers']);
  expect(results[1]?.detail).toMatch(/^POST http:\/\/127\.0\.0\.1:\d+\/card\/flow: answers in [\d.]+ ms$/);
  const stats = (await (await fetch(`${simulator.url}/stats`)).json()) as Record<string, unknown>;
  expect(stats).toMatchObject({ requests: 3, stops: {}, by_interface: { stop: 0, start: 0 } });
});

it('a gateway that does not know the first card is asked about the next', async () => {
  const gateway = await startBadGateway((socket, request) =>
    answer(
      200,
      request.body.includes('"8986000000000000001"')
        ? '{"code":404,"msg":"no such card"}'
        : '{"code":200,"data":{"realStatus":true,"used":1,"cardStatus":"active"}}',
    )(socket, request),
  );
  open.push(gateway);
  expect((await probe(gateway.url)).outcomes).toEqual(['answers']);
});

it.each([
  [404, '<html>', 'fails', 'unclear'],
  [200, '<html>', 'fails', 'fails'],
  [401, '', 'fails', 'fails'],
  [503, '', 'refused', 'refused'],
  [200, '{"code":404,"msg":"no such card"}', 'refused', 'answers'],
])('HTTP %i %j: %s for cards of the fleet, %s before there are any', async (status, body, known, unknown) => {
  const { url } = await bad(status, body);
  expect((await probe(url)).outcomes).toEqual([known]);
  expect((await probe(url, [])).outcomes).toEqual([unknown]);
});

it('nothing that listens', async () => {
  const { url, close } = await startBadGateway(answer(200, ''));
  await close();
  const { outcomes, results } = await probe(url);
  expect(outcomes).toEqual(['fails']);
  expect(results[0]).toMatchObject({
    failure: 'connect',
    detail: expect.stringMatching(/: connect ECONNREFUSED/),
  });
});

/** Answers with what is next in the list for each interface, the last of it again and again. */
async function inTurn(...answers: readonly (readonly [number, string])[]) {
  const calls = new Map<string, number>();
  const gateway = await startBadGateway((socket, request) => {
    const count = calls.get(request.path) ?? 0;
    calls.set(request.path, count + 1);
    const [status, body] = answers[Math.min(count, answers.length - 1)] ?? [500, ''];
    answer(status, body)(socket, request);
  });
  open.push(gateway);
  return { url: gateway.url, calls };
}

it.each([
  ['one failed call', [BROKEN, GOOD], 'sometimes', /: 1 of 4 calls failed: .*500/, 4],
  ['two of five', [BROKEN, GOOD, BROKEN, GOOD], 'sometimes', /: 2 of 5 calls failed: .*500/, 5],
  ['three failed calls', [BROKEN, GOOD, BROKEN, BROKEN], 'fails', /card_?\/?\w*: .*500/, 4],
  ['one good call', [GOOD], 'answers', /answers in/, 1],
] as const)('after %s the verdict is made by most calls', async (_, answers, outcome, detail, count) => {
  const { url, calls } = await inTurn(...answers);
  const { outcomes, results } = await probe(url);
  expect(outcomes).toEqual([outcome]);
  expect(results[0]?.detail).toMatch(detail);
  expect([...calls.values()]).toEqual([count, count, count]);
});

it('tells why the calls failed', async () => {
  const { url } = await bad(401, '');
  expect((await probe(url)).results[0]?.failure).toBe('auth');
});

describe('the advice', () => {
  const url = 'http://gateway:8080';

  it('for a connection that is refused is no matter of credentials', () => {
    const { hint, command } = gatewayRemedy('connect', url);
    expect(hint).toMatch(/is the gateway running/);
    expect(hint).not.toMatch(/credential/);
    expect(command).toBe(`curl -siv ${url}`);
  });

  it('names credentials when they are refused', () => {
    expect(gatewayRemedy('auth', url).hint).toMatch(/credentials/);
  });

  it('for calls that take too long leads to the limits', () => {
    expect(gatewayRemedy('timeout', url).command).toBe('cardpoll concurrency advise');
  });

  it('for answers in another form leads to the profile', () => {
    expect(gatewayRemedy('malformed', url)).toEqual(gatewayRemedy(null, url));
    expect(gatewayRemedy(null, url).hint).toMatch(/gateway\.interfaces/);
  });
});
