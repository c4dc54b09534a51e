// What the dashboard asks the daemon for, and when: against a server that stands for the daemon, by real time.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { type ApiClient, apiClient } from '../../../src/api/client/client.ts';
import { cleanupChange } from '../../../src/changes/cleanup.ts';
import { intervalChange, switchChange } from '../../../src/changes/configs.ts';
import { limitChange, pauseChange, resetChange, resumeChange } from '../../../src/changes/limits.ts';
import type { PlannedChange } from '../../../src/changes/planned-change.ts';
import { cancelChange, pollChange } from '../../../src/changes/triggers.ts';
import { SnapshotFeed, type Wish } from '../../../src/dashboard/snapshot-feed.ts';
import type { Event, Proposal } from '../../../src/dashboard/state.ts';
import { decisionQuestion, modeQuestion, releaseAllQuestion } from '../../../src/dashboard/stop-questions.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { VERSION_HEADER } from '../../../src/resources/endpoints.ts';
import { waitFor } from '../../support/wait-for.ts';
import { CONFIG } from '../cli/bodies.ts';
import { CALM, HISTORY, STOP, stopsBody, TRIGGER, troubledState } from './states.ts';

type Answer = (url: string, response: ServerResponse) => void;

const BODIES: readonly (readonly [RegExp, unknown])[] = [
  [/\/history/, HISTORY],
  [/\/polling-stats$/, CALM],
  [/\/explain$/, troubledState().data.card.body],
];
const answers: Answer = (url, response) => {
  const [, body] = BODIES.find(([pattern]) => pattern.test(url)) ?? [];
  response.end(JSON.stringify(body ?? { items: [] }));
};

/** A feed that reads what is wished for until the test ends. */
async function feedOf(wish: Wish, answer: () => Answer) {
  const seen: string[] = [];
  const events: Event[] = [];
  const { client } = await clientOf((url, response) => {
    seen.push(url.replace('/api/admin/', ''));
    answer()(url, response);
  });
  const feed = new SnapshotFeed({ client, clock: systemClock, emit: (event) => events.push(event) });
  onTestFinished(() => feed.stop());
  feed.want(wish);
  feed.start();
  const ticks = (n: number) => waitFor(() => events.filter(({ type }) => type === 'tick').length >= n);
  return { feed, seen, events, ticks };
}

async function clientOf(
  answer: (url: string, response: ServerResponse, method: string, body: string) => void,
) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.setHeader(VERSION_HEADER, '0.3.0');
    answer(request.url ?? '', response, request.method ?? '', body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const signal = new AbortController().signal;
  return {
    client: apiClient({
      url,
      token: null,
      tokenFrom: null,
      timeoutMs: 60_000,
      signal,
      clock: systemClock,
    }),
  };
}

const received = (events: readonly Event[], source: string) =>
  events.filter((event) => event.type === 'received' && event.reading.source === source);

it('reads all of the history once, then its last minute, and the overview again and again', async () => {
  const { seen, events, ticks } = await feedOf(
    { sources: ['overview', 'history'], card: null },
    () => answers,
  );
  await ticks(4);
  await waitFor(() => received(events, 'history').length >= 2);
  const histories = seen.filter((url) => url.includes('history'));
  expect(histories[0]).toBe('polling-stats/history?minutes=15');
  expect(new Set(histories.slice(1))).toEqual(new Set(['polling-stats/history?minutes=1']));
  expect(seen.filter((url) => url === 'polling-stats').length).toBeGreaterThan(histories.length);
});

it('says that a source failed and when it is tried again, and goes on by itself', async () => {
  let isBroken = true;
  const { events } = await feedOf({ sources: ['overview'], card: null }, () => (url, response) => {
    if (isBroken) response.writeHead(503).end();
    else answers(url, response);
  });
  const failures = () => events.filter((event) => event.type === 'failed');
  await waitFor(() => failures().length >= 2);
  const [first, second] = failures();
  expect(first).toMatchObject({ source: 'overview', problem: expect.stringContaining('503') });
  expect(second?.nextTryAtMs).toBeGreaterThan((first?.nextTryAtMs ?? 0) + 1_000);
  isBroken = false;
  await waitFor(() => received(events, 'overview').length > 0);
});

it('never asks a slow daemon twice at a time', async () => {
  const { seen, ticks } = await feedOf({ sources: ['overview'], card: null }, () => () => {});
  await ticks(3);
  expect(seen).toEqual(['polling-stats']);
});

it('asks at once for what is wished for newly, and keeps an answer about another card to itself', async () => {
  const held: ServerResponse[] = [];
  const { feed, seen, events } = await feedOf({ sources: ['card'], card: '1' }, () => (url, response) => {
    if (url.includes('/cards/1/')) held.push(response);
    else answers(url, response);
  });
  await waitFor(() => held.length === 1);
  feed.want({ sources: ['card'], card: '2' });
  for (const response of held) answers('/cards/1/explain', response);
  await waitFor(() => received(events, 'card').length === 1);
  expect(seen).toEqual(['cards/1/explain', 'cards/2/explain']);
});

it.each([
  ['held', ['held'], 'held'],
  ['observed', ['held', 'observed'], 'observed'],
  ['done', ['held', 'observed', null], null],
] as const)('lists held stops, else observed ones, else the latest: %s', async (state, asked, listed) => {
  const { seen, events } = await feedOf({ sources: ['stops'], card: null }, () => (url, response) => {
    const only = new URL(url, 'http://daemon').searchParams.get('state');
    const matching = only === null || only === state ? [{ state }] : [];
    response.end(JSON.stringify(stopsBody(null, ...matching)));
  });
  await waitFor(() => received(events, 'stops').length > 0);
  const only = (path: string) => new URL(path, 'http://daemon').searchParams.get('state');
  expect(seen.slice(0, asked.length).map(only)).toEqual(asked);
  expect(received(events, 'stops')[0]).toMatchObject({
    reading: { body: { state: listed, items: [{ card_id: STOP.card_id, state }] } },
  });
});

const [task] = CALM.tasks;
if (task === undefined) throw new Error('the fixture has task types');

const pauses = (troubledState().data.overview.body?.pauses ?? []).filter(
  ({ task_type }) => task_type === 'realname',
);
const PAUSE = { taskType: 'realname', cards: null, seconds: 90, reason: '' } as const;

it('says that less is in force only where it is', () => {
  const reduced = { ...task, effective_concurrency: 50 };
  const effectsOf = (to: number) => limitChange(reduced, to).effects.join(' ');
  expect(effectsOf(150)).toContain('The limit in force is 50 now');
  expect(effectsOf(50)).not.toContain('in force is');
  expect(effectsOf(20)).not.toContain('in force is');
});

/** The change that is proposed, with a reason if it asks for one. */
function changeOf(proposal: Proposal): PlannedChange {
  if (typeof proposal === 'string') throw new Error(proposal);
  if (!('answer' in proposal)) return proposal;
  const answer = proposal.answer('checked');
  if (!('perform' in answer)) throw new Error('the reason is refused');
  return answer;
}

async function outcomeOf(change: PlannedChange, client: ApiClient): Promise<string> {
  return change.said((await change.perform(client)).body);
}

it.each<[Proposal, string, unknown]>([
  [limitChange(task, 150), 'PUT /polling-concurrency/realname', { max_concurrency: 150 }],
  [resetChange('realname', 3), 'POST /polling-concurrency/reset', { task_type: 'realname' }],
  [pauseChange(PAUSE, [], 0), 'POST /polling-pauses', { task_type: 'realname', seconds: 90, reason: '' }],
  [resumeChange(task, pauses, 0), 'DELETE /polling-pauses?task_type=realname', null],
  [switchChange(CONFIG, false), 'PUT /polling-configs/3', { status: 0 }],
  [switchChange({ ...CONFIG, status: 0 }, true), 'PUT /polling-configs/3', { status: 1 }],
  [intervalChange(CONFIG, 900), 'PUT /polling-configs/3', { interval_seconds: 900 }],
  [cancelChange(TRIGGER), 'POST /polling-manual-trigger/cancel', { trigger_id: TRIGGER.trigger_id }],
  [pollChange('package', 42), 'POST /polling-manual-trigger/single', { card_id: 42, task_type: 'package' }],
  [cleanupChange({ items: [], total_rows: 0 }), 'POST /data-cleanup/trigger', null],
  [modeQuestion(CALM), 'PUT /stops/mode', { mode: 'observe', reason: 'checked' }],
  [decisionQuestion('release')(STOP), 'POST /stops/release', { card_ids: [STOP.card_id], reason: 'checked' }],
  [decisionQuestion('dismiss')(STOP), 'POST /stops/dismiss', { card_ids: [STOP.card_id], reason: 'checked' }],
  [releaseAllQuestion(stopsBody('held', STOP)), 'POST /stops/release', { all: true, reason: 'checked' }],
])('%j is carried out by %s', async (proposal, line, body) => {
  const seen: [string, unknown][] = [];
  const { client } = await clientOf((url, response, method, sent) => {
    seen.push([`${method} ${url.replace('/api/admin', '')}`, sent === '' ? null : JSON.parse(sent)]);
    const whole = {
      ...task,
      ...CONFIG,
      ...TRIGGER,
      items: [],
      previous: 1,
      current: 0,
      max_concurrency: 150,
      run_id: 'r',
      ...{ mode: 'observe', released: 1, dismissed: 0 },
    };
    response.end(JSON.stringify(whole));
  });
  expect(await outcomeOf(changeOf(proposal), client)).toMatch(/\w+/);
  expect(seen).toEqual([[line, body]]);
});

it('says that a stop was decided about meanwhile', async () => {
  const { client } = await clientOf((_, response) => response.end('{"dismissed": 0, "not_held": [42]}'));
  const change = changeOf(decisionQuestion('dismiss')(STOP));
  expect(await outcomeOf(change, client)).toBe(
    'the stop of card 42 was not dismissed: it was called, or is gone',
  );
});
