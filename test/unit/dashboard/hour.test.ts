// The strip of the last hour: what has a mark, how keys lead through the marks, what each opens, and what is not known.
import { expect, it } from 'vitest';
import { type Bodies, type State, sourcesOf } from '../../../src/dashboard/state.ts';
import { loadWidths } from '../../../src/terminal/width.ts';
import { screenOf } from './screen.ts';
import { ALERT, CALM, calmState, keys, received, STOP, stateAfter, stopsBody } from './states.ts';

await loadWidths();

const NOW = Date.parse(CALM.generated_at);
const at = (minutesAgo: number) => new Date(NOW - minutesAgo * 60_000).toISOString();
const page = <Item>(...items: Item[]) => ({ items, page: 1, page_size: 100, total: items.length });

const CHANGE: Bodies['audit']['items'][number] = {
  id: 7,
  at: at(50),
  actor: 'anna',
  role: 'operator',
  address: null,
  request_id: null,
  action: 'concurrency.set',
  object: 'task_type carddata',
  before: { max_concurrency: 100 },
  after: { max_concurrency: 150 },
};
const OVER = { ...ALERT, rule_name: 'Backlog', fired_at: at(30), resolved_at: at(28) };
const OUTAGE = {
  ...OVER,
  id: 9,
  rule_id: 0,
  fired_at: at(40),
  cause: { text: 'PostgreSQL is away' } as never,
};

/** An outage, an alert, two stops at a time and a change, from left to right: change, outage, alert, stops. */
function eventful(given: Partial<State> = {}): State {
  return stateAfter(
    calmState({ columns: 120, rows: 40, ...given }),
    received('alerts', page({ ...OVER, id: 5 }, OUTAGE) as Bodies['alerts']),
    received('latest', stopsBody(null, ...[1, 2].map((card_id) => ({ card_id, requested_at: at(10) })))),
    received('audit', page(CHANGE, { ...CHANGE, id: 3, at: at(61) })),
  );
}

const stripOf = (state: State) => {
  const lines = screenOf(state).split('\n');
  const from = lines.findIndex((line) => line.startsWith('last hour'));
  return from === -1 ? null : lines.slice(from, from + 2).map((line) => line.trimEnd());
};

it('has a mark for each on one axis, with a count where several share it, and says how many there are', () => {
  const [marks, axis] = stripOf(eventful()) ?? [];
  expect(marks).toMatch(/^last hour +─+◆─+▼─+✖─+■2─+$/);
  expect(axis).toMatch(/^ +60 min ago +▼ 1 outage {2}✖ 1 alert {2}■ 2 stops {2}◆ 1 change +now$/);
});

it('puts a mark where its time is', () => {
  const [marks = ''] = stripOf(eventful()) ?? [];
  const share = (symbol: string) => (marks.indexOf(symbol) - 11) / (120 - 11);
  expect(share('◆')).toBeCloseTo(10 / 60, 1);
  expect(share('✖')).toBeCloseTo(30 / 60, 1);
  expect(share('■')).toBeCloseTo(50 / 60, 1);
});

it('marks the start of an instance, and a time that is ahead of the daemon at its right end', () => {
  const overview = { ...CALM, workers: CALM.workers.map((one) => ({ ...one, started_at: at(-1) })) };
  expect(stripOf(stateAfter(eventful(), received('overview', overview)))?.[0]).toMatch(/─↑─$/);
});

it.each([
  ['the latest', [], /■ stop of card 1 by cardpoll: held, 1,024 MB used, 10m ago {2}↑↓ 1 of 2$/],
  ['another that shares its mark', ['down'], /■ stop of card 2 .*↑↓ 2 of 2$/],
  ['no further down', ['j', 'j', 'j'], /■ stop of card 2 /],
  ['the mark before', ['left'], /✖ alert Backlog \(carddata\): .*, over after 2m, 30m ago$/],
  ['an outage', ['left', 'h'], /▼ outage PostgreSQL is away, over after 12m, 40m ago$/],
  [
    'who changed what',
    ['h', 'h', 'h'],
    /◆ change by anna: concurrency.set task_type carddata: max_concurrency 100 -> 150, 50m ago$/,
  ],
  ['no further left', ['h', 'h', 'h', 'h'], /◆ change by anna/],
  ['the next mark again', ['h', 'h', 'l'], /✖ alert Backlog/],
] as const)('e and the arrows say of a mark when, what and who: %s', (_, names, said) => {
  expect(stripOf(stateAfter(eventful(), ...keys('e', ...names)))?.[1]).toMatch(said);
});

it.each([
  ['a stop', [], { view: 'card', card: '1' }],
  ['an alert', ['left'], { view: 'alerts', picked: 0 }],
  ['an outage', ['left', 'left'], { view: 'alerts', picked: 1 }],
  ['a change', ['left', 'left', 'left'], { view: 'task', taskType: 'carddata' }],
] as const)('Enter opens %s, and Esc leads back to its mark', (_, names, place) => {
  const picked = stateAfter(eventful(), ...keys('e', ...names));
  const opened = stateAfter(picked, ...keys('return'));
  expect(opened).toMatchObject(place);
  const back = stateAfter(opened, ...keys('escape'));
  expect(back).toMatchObject({ view: 'overview', mark: picked.mark });
  expect(stateAfter(back, ...keys('escape'))).toMatchObject({ view: 'overview', mark: null });
});

it('picks the row of what was changed as soon as its list is there', () => {
  const of = (object: string) =>
    stateAfter(eventful(), received('audit', page({ ...CHANGE, at: at(1), object })), ...keys('e', 'return'));
  const [config] = calmState().data.configs.body?.items ?? [];
  const items = [1, 2, 3].map((id) => ({ ...config, id })) as Bodies['configs']['items'];
  const configs = stateAfter(of('config 3'), received('configs', { items }));
  expect(configs).toMatchObject({ view: 'configs', picked: 2 });
  expect(of('cleanup_config 2')).toMatchObject({ view: 'overview', notice: { text: /audit --object/ } });
});

it('leaves the keys of the view as they are', () => {
  const picked = stateAfter(eventful(), ...keys('e'));
  expect(stateAfter(picked, ...keys('3'))).toMatchObject({ view: 'alerts', mark: null });
  expect(stateAfter(picked, ...keys('q')).exit).toBe('quit');
  expect(screenOf(picked)).toMatch(/mark {2}Enter open {2}Esc back {2}q quit/);
});

it.each([
  ['what was not answered yet', {}, /alerts: asking \.\.\. .*stops: asking \.\.\. .*changes: asking/],
  ['why', { audit: 'a token is needed' }, /changes not known: a token is needed/],
] as const)('says what is not known, never that nothing happened: %s', (_, problems, said) => {
  const failed = Object.entries(problems).map(([source, problem]) => {
    return { type: 'failed', source: source as 'audit', problem, nextTryAtMs: 9 } as const;
  });
  const known = 'audit' in problems ? [received('alerts', page()), received('latest', stopsBody(null))] : [];
  const [, axis] =
    stripOf(stateAfter(calmState({ columns: 160, rows: 40, data: CLEAN }), ...known, ...failed)) ?? [];
  expect(axis).toMatch(said);
  expect(axis).not.toContain('nothing happened');
});

const CLEAN = { ...calmState().data, alerts: { body: null, atMs: null, problem: null } };

it('says that more happened than one page has', () => {
  const all = stopsBody(null, { requested_at: at(1) }, { card_id: 9, requested_at: at(20) });
  const cut = stripOf(stateAfter(eventful(), received('latest', { ...all, total: 340 })));
  expect(cut?.[1]).toContain('only the latest 2 stops');
  // All of the hour is on the page.
  const older = { ...all, items: [...all.items, { ...STOP, requested_at: at(90) }], total: 340 };
  expect(stripOf(stateAfter(eventful(), received('latest', older)))?.[1]).not.toContain('only');
});

it('says that nothing happened where all is known', () => {
  const quiet = stateAfter(
    calmState({ columns: 120, rows: 40 }),
    received('latest', stopsBody(null)),
    received('audit', page()),
  );
  expect(stripOf(quiet)?.[1]).toContain('nothing happened');
  expect(stateAfter(quiet, ...keys('e'))).toMatchObject({ mark: null, notice: { text: /nothing happened/ } });
});

it.each([
  [120, 40, true],
  [200, 60, true],
  [100, 30, false],
  [80, 24, false],
] as const)('on %ix%i it is there, and asked for: %s', (columns, rows, isThere) => {
  const state = eventful({ columns, rows });
  expect(stripOf(state) !== null).toBe(isThere);
  expect(sourcesOf(state).includes('audit')).toBe(isThere);
});
