// Some hundred drawn requests against a real daemon. A failure names the seed that shows it again.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fuzzApi, judge, type Operation } from '../support/api-fuzz.ts';
import { Fleet } from '../support/fleet.ts';

const REQUESTS = 250;
const SEED = 20_261_122;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start();
  await fleet.startDaemon({
    CARDPOLL_API_RATE_LIMIT_PER_MINUTE: '0',
    CARDPOLL_API_REFUSAL_LIMIT_PER_MINUTE: '0',
  });
  await fleet.importCards(3);
});
afterAll(() => fleet.close());

it('no drawn request makes the API fail, hang or accept what it forbids', async () => {
  const url = fleet.daemons[0]?.url ?? '';
  const { statuses, failure } = await fuzzApi({ url, seed: SEED, requests: REQUESTS });
  expect(failure).toBeNull();
  // The requests are of all kinds.
  for (const status of ['200', '400', '404', '422']) expect(Object.keys(statuses)).toContain(status);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

it('would say what is wrong', () => {
  const operation: Operation = {
    method: 'PUT',
    path: '/x',
    parameters: [{ in: 'query', name: 'page', schema: { type: 'integer', minimum: 1 } }],
    body: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    responses: { 200: { content: { 'application/json': { schema: { type: 'object', required: ['n'] } } } } },
  };
  const drawn = (json: unknown, query = {}) => ({
    operation,
    url: '/x',
    headers: {},
    body: '',
    meaning: { json, query },
  });
  const json = 'application/json';
  const said = (one: ReturnType<typeof drawn>, status: number, type: string, text: string) =>
    judge(one, { status, type, text });
  expect(said(drawn({ n: 1 }), 500, json, '')).toContain('failed');
  expect(said(drawn({ n: 1 }), 404, 'text/html', 'no')).toContain('no problem');
  expect(said(drawn({ n: '1' }), 200, json, '{"n": 1}')).toContain('accepted');
  expect(said(drawn({ n: 1 }, { page: '0' }), 200, json, '{"n": 1}')).toContain('page');
  expect(said(drawn({ n: 1 }), 200, json, '{}')).toContain('otherwise');
  expect(said(drawn({ n: 1 }, { page: '2' }), 200, json, '{"n": 1}')).toBeNull();
});
