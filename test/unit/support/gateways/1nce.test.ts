import { afterEach, beforeEach, expect, it } from 'vitest';
import { ONCE_CREDENTIALS, type OnceGateway, startOnce } from '../../../support/gateways/1nce.ts';
import { waitFor } from '../../../support/wait-for.ts';

let once: OnceGateway;
const basic = `Basic ${btoa(`${ONCE_CREDENTIALS.clientId}:${ONCE_CREDENTIALS.clientSecret}`)}`;

interface Grant {
  readonly access_token: string;
  readonly expires_in: number;
}

function ask(init: RequestInit = {}): Promise<Response> {
  return fetch(`${once.gateway.url}/management-api/oauth/token`, {
    method: 'POST',
    headers: { authorization: basic, 'content-type': 'application/json' },
    body: '{"grant_type":"client_credentials"}',
    ...init,
  });
}

const token = async () => ((await (await ask()).json()) as Grant).access_token;

function sims(path: string, bearer: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${bearer}` };
  return fetch(`${once.gateway.url}/management-api/v1/sims/${path}`, { headers, ...init });
}

beforeEach(async () => {
  once = await startOnce();
});
afterEach(() => once.gateway.close());

it('tells what remains of the total, in megabytes', async () => {
  once.gateway.growBytes = 12_500_000;
  const bearer = await token();
  const quota = await (await sims('1/quota/data', bearer)).json();
  expect(quota).toMatchObject({ volume: 487.5, total_volume: 500 });
  expect(await (await sims('1/quota/data', bearer)).json()).toMatchObject({ volume: 475 });
});

it('stops and resumes a card by its status', async () => {
  const bearer = await token();
  const put = (status: string) =>
    sims('1', bearer, { method: 'PUT', body: JSON.stringify({ iccid: '1', status }) });
  expect((await put('Disabled')).status).toBe(200);
  expect(await (await sims('1', bearer)).json()).toMatchObject({ status: 'Disabled' });
  await put('Enabled');
  expect(await (await sims('1', bearer)).json()).toMatchObject({ status: 'Enabled' });
  expect(once.gateway.stats()).toMatchObject({ stops: { 1: 1 }, starts: { 1: 1 } });
});

it('grants tokens that end', async () => {
  once.tokens.seconds = 0.2;
  const bearer = await token();
  await waitFor(async () => (await sims('1', bearer)).status === 401, { what: 'the token to end' });
  expect(once.gateway.stats().calls.token).toBe(1);
});

it('revokes all tokens at once', async () => {
  const bearer = await token();
  expect((await sims('1', bearer)).status).toBe(200);
  once.tokens.revoke();
  expect((await sims('1', bearer)).status).toBe(401);
  expect((await sims('1', 'made-up')).status).toBe(401);
  expect(once.gateway.stats().unauthorized).toBe(2);
});

it('grants nothing for wrong credentials, another grant or another type of body', async () => {
  const headers = { authorization: 'Basic bm8=', 'content-type': 'application/json' };
  expect(await (await ask({ headers })).json()).toMatchObject({ errorCode: 'BadCredentials' });
  expect(await (await ask({ body: '{}' })).json()).toMatchObject({ errorCode: 'BodyValidationError' });
  const type = { authorization: basic, 'content-type': 'text/plain' };
  expect(await (await ask({ headers: type })).json()).toMatchObject({
    errorCode: 'UnsupportedContentTypeError',
  });
});

it('takes a form for a token unless it is told not to', async () => {
  const form = {
    headers: { authorization: basic },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  };
  expect((await ask(form)).status).toBe(200);
  once.tokens.acceptsForm = false;
  expect((await ask(form)).status).toBe(400);
  expect(once.gateway.stats().misunderstood).toHaveLength(1);
});

it('answers requests for a token with what a test puts in their place', async () => {
  once.tokens.instead = { body: { expires_in: 'soon' } };
  expect(await (await ask()).json()).toEqual({ expires_in: 'soon' });
});

it('does not know every card, throttles with 429, and refuses what the description does not mention', async () => {
  const bearer = await token();
  once.gateway.unknown.add('7');
  expect((await sims('7/quota/data', bearer)).status).toBe(404);
  const body = '{"status":"Disabled"}';
  expect((await sims('1', bearer, { method: 'PUT', body })).status).toBe(422);
  expect((await sims('1/usage', bearer)).status).toBe(404);
  expect(once.gateway.stats().misunderstood).toEqual([body, 'GET /management-api/v1/sims/1/usage']);
  once.gateway.troubles.limit = { calls: 0, withinMs: 1_000 };
  const throttled = await sims('1', bearer);
  expect([throttled.status, throttled.headers.get('retry-after')]).toEqual([429, '1']);
});
