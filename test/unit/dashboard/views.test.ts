// What the screen holds: it fits every terminal from 60x15 on, whatever the daemon says, and says what it must.
import { describe, expect, it } from 'vitest';
import { inLocale } from '../../../src/cli/output/style.ts';
import { loadWidths, widthOf } from '../../../src/cli/output/width.ts';
import { renderLines } from '../../../src/dashboard/frames.tsx';
import { KEYMAP } from '../../../src/dashboard/keymap.ts';
import type { Line } from '../../../src/dashboard/layout.ts';
import { type Bodies, type State, VIEWS } from '../../../src/dashboard/state.ts';
import { frameLines, stillLines } from '../../../src/dashboard/views/frame.ts';
import { alertText } from '../../../src/dashboard/views/lists.ts';
import { CARD } from '../cli/bodies.ts';
import {
  ALERT,
  calmState,
  emptyState,
  HISTORY,
  HOSTILE,
  keys,
  received,
  STOP,
  stateAfter,
  stopsBody,
  troubledState,
  typing,
} from './states.ts';

await loadWidths();

const SIZES = [
  [60, 15],
  [80, 24],
  [120, 40],
  [200, 60],
] as const;
const STATES: readonly (readonly [string, (given: Partial<State>) => State])[] = [
  ['nothing known', emptyState],
  ['a calm fleet', calmState],
  ['everything wrong', troubledState],
];

/** What others have named stays as it is. */
const NAMES = /[\p{L}\p{M}\p{Extended_Pictographic}]/gu;
const textOf = (line: Line) => line.map(({ text }) => text).join('');
const screenOf = (state: State) => frameLines(state).map(textOf).join('\n');

it.each([
  ['instances', 'a late heartbeat', /ago$/],
  ['configs', 'an interval that is not kept', /^1h$/],
] as const)('the list of %s shows %s in yellow', (view, _, shown) => {
  const { data } = troubledState({});
  const [config] = data.configs.body?.items ?? [];
  const state = stateAfter(
    troubledState({ view, columns: 200, rows: 60 }),
    received('configs', { items: [{ ...config, achieved_interval_seconds: 3_600 }] } as Bodies['configs']),
  );
  const cells = frameLines(state).flat();
  expect(cells.some(({ text, tone }) => tone === 'yellow' && shown.test(text))).toBe(true);
});

describe('the view of a card', () => {
  const view = (card: object) => {
    const state = calmState({ columns: 200, rows: 60, view: 'card' });
    const { body, ...rest } = troubledState({}).data.card;
    if (body === null) throw new Error('the state has no card');
    const shown = { ...body, card: { ...body.card, ...card } };
    return screenOf({ ...state, data: { ...state.data, card: { ...rest, body: shown } } });
  };

  // When a card was polled and is due is said of each task.
  const shown = Object.entries(CARD).filter(([field]) => !/^(last_polled|next_due)_at$/.test(field));
  it.each(shown)('shows %s', (field, value) => {
    const others: Record<string, unknown> = {
      boolean: !value,
      string: `1${value}`,
      number: Number(value) + 1,
      object: 1,
    };
    expect(view({ [field]: others[typeof value] })).not.toBe(view({ [field]: value }));
  });

  it('marks the task type that keys act on, and says more of it', () => {
    const { body, ...rest } = troubledState({}).data.card;
    const tasks = (body?.tasks ?? []).map((task) => ({ ...task, text: 'is due in 58 s', command: null }));
    const state = calmState({ view: 'card', taskType: 'carddata', columns: 200 });
    const card = { ...rest, body: { ...body, tasks } } as State['data']['card'];
    const screen = screenOf({ ...state, data: { ...state.data, card } });
    expect(screen).toMatch(
      /^ {2}▲ realname is due in 58 s *\n {4}config 1 [^▸]*\n▸ ▲ carddata is due in 58 s *\n/m,
    );
    expect(screen.match(/last failure 5s ago, 99 in a row: timeout after 30000 ms/g)).toHaveLength(1);
  });
});

describe.each(SIZES)('on %i columns and %i lines', (columns, rows) => {
  describe.each(STATES)('%s', (_, make) => {
    it.each(VIEWS)('%s fits', (view) => {
      for (const help of [false, true]) {
        const state = make({ columns, rows, view, help });
        const lines = frameLines(state);
        expect(lines).toHaveLength(rows - 1);
        for (const line of lines) {
          expect(widthOf(textOf(line))).toBeLessThanOrEqual(columns);
          expect(textOf(line)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        }
      }
    });
  });

  it.each(VIEWS)('%s is ASCII in the locale C, in as many columns', (view) => {
    for (const make of [calmState, troubledState])
      for (const help of [false, true]) {
        const lines = frameLines(make({ columns, rows, view, help })).map(textOf);
        for (const line of lines) {
          const shown = inLocale(line, { env: { LC_ALL: 'C' } });
          expect(widthOf(shown)).toBe(widthOf(line));
          expect(shown.replace(NAMES, '')).toMatch(/^[ -~]*$/);
          expect(inLocale(line, { env: { LC_ALL: 'C.UTF-8' } })).toBe(line);
        }
      }
  });

  it.each([
    ['overview', 'L'],
    ['overview', 'P'],
    ['configs', 'I'],
    ['alerts', 'S'],
  ] as const)('a question in %s after %s fits', (view, key) => {
    const { prompt, ...state } = stateAfter(troubledState({ columns, rows, view }), ...keys(key));
    if (prompt === null) throw new Error('there is no question');
    expectToFit(frameLines({ ...state, prompt: { ...prompt, text: '1'.repeat(40), problem: HOSTILE } }));
  });

  it('a plan fits', () => expectToFit(frameLines(withPlan(troubledState({ columns, rows })))));

  function expectToFit(lines: readonly Line[]): void {
    expect(lines).toHaveLength(rows - 1);
    for (const line of lines) expect(widthOf(textOf(line))).toBeLessThanOrEqual(columns);
  }

  it('is painted by Ink as it was laid out', () => {
    const lines = frameLines(calmState({ columns, rows }));
    const painted = renderLines(lines, columns);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken out
    const shown = painted.map((line) => line.replace(/\x1b\[[\d;]*m/g, '').trimEnd());
    expect(shown).toEqual(lines.map((line) => textOf(line).trimEnd()));
  });
});

function withPlan(state: State): State {
  const effects = Array.from({ length: 8 }, () => `usage: ${HOSTILE} rows`);
  const plan = { title: HOSTILE, effects, command: 'cardpoll cleanup run' };
  return { ...state, confirm: { ...plan, perform: async () => 'done' } };
}

describe('the overview', () => {
  it('says health, its reason and the command before everything else', () => {
    const [, health, ...rest] = screenOf(troubledState()).split('\n');
    expect(health).toMatch(/^✖ alert {2}carddata: /);
    expect(rest.slice(0, 4).join('\n')).toContain('-> cardpoll concurrency set carddata 100000');
    const wide = screenOf(troubledState({ columns: 200, rows: 60 }));
    expect(wide).toContain('(for 2h)');
  });

  it('draws what the picked task type did where a tall terminal leaves room', () => {
    const [low, tall] = [24, 40].map((rows) =>
      screenOf(calmState({ columns: 120, rows, taskType: 'carddata' })),
    );
    expect(tall).toMatch(/^carddata {2}Enter opens it/m);
    expect(tall).toMatch(/polls .*\/s .*success .* %/);
    expect(low).not.toMatch(/opens it/);
  });

  it('does not show the rates of a small fleet as 0', () => {
    const calm = calmState({ columns: 120, rows: 40 });
    const { body } = calm.data.overview;
    const tasks = body?.tasks.map((one) => ({
      ...one,
      rate_per_second_10s: 0.03,
      capacity: { ...one.capacity, demand_per_second: 0.4 },
    }));
    const overview = { ...calm.data.overview, body: { ...body, tasks } as Bodies['overview'] };
    const screen = screenOf({ ...calm, data: { ...calm.data, overview } });
    expect(screen).toMatch(/^capacity +realname 0\.4\/s of /m);
    expect(screen).toMatch(/realname +normal +0\.03 /);
  });

  it('rounds the success of the chart down', () => {
    const items = HISTORY.items.map((sample) => ({
      ...sample,
      tasks: sample.tasks.map((one) => ({ ...one, success_rate: 99.96 })),
    }));
    const calm = calmState({ columns: 120, rows: 40 });
    const history = { ...calm.data.history, body: { ...HISTORY, items } };
    const screen = screenOf({ ...calm, data: { ...calm.data, history } });
    expect(screen).toMatch(/success {2}99\.9 % {2}min 99\.9 {2}max 99\.9/);
  });

  it.each([
    ['the queue in its parts', /DUE +RUNNING +BACKOFF +MANUAL/],
    ['a task type with what waits', /realname +12,000 +60 +7 +5 +1M +1m 30s +1h/],
    ['rate, bars, success, durations, gauge', /realname +normal +50 +[▁-█ ]+ +99\.0 +\S+ +[█░]+ 60\/100/],
    ['capacity', /capacity +realname 278\/s of 833\/s \(66 % free\), no backlog/],
    ['breakers', /gateway +● up, 24 ms, 100 % ok/],
    ['pauses', /pauses +none/],
    ['stops', /stops +enforce, 12 of 100 in 1 h, 340 of 500 in 24 h *$/m],
    ['the initialisation', /init +completed 1m ago, 1,000,000 cards/],
    ['instances', /instances +1 {2}worker-1\/4000001 100k running/],
    ['alerts', /alerts +none fires/],
    ['cleanup', /cleanup +has never run/],
    ['the age of the data and whose they are', /http:\/\/127\.0\.0\.1:7480 +0\.1\.0 +● live, 0s old/],
    ['the keys', /q quit {2}\? help .* L limit/],
  ])('at 80x24 shows %s', (_, pattern) => {
    expect(screenOf(calmState())).toMatch(pattern);
  });

  it.each([
    ['breakers', /gateway +✖ gateway open {2}since 1m 30s, next probe in 53s, 64 instances/],
    ['pauses', /pauses +■ realname 7d left {2}by the gateway/],
    [
      'stops',
      /stops +observe, no card is stopped, 100k\+ would have been, 100k\+ held, 100k\+ resumed in 24 h/,
    ],
    ['initialisation', /init +stuck [█░]+ 25 % {2}12M of 50M/],
    ['mixed versions', /▲ versions /],
    ['alerts', /alerts +✖ /],
    ['a backlog that never drains', /backlog gone: never, raise realname to 100000/],
    ['a limit that is not in force', /60\/99,999 of 100k/],
  ])('tells trouble with %s', (_, pattern) => {
    expect(screenOf(troubledState({ columns: 200, rows: 60 }))).toMatch(pattern);
  });

  it('does not round the value of an alert to its threshold', () => {
    const alert = { ...ALERT, rule_name: 'Success', comparison: '<', threshold: 90, value: 89.996 } as const;
    const firing = { items: [alert], page: 1, page_size: 100, total: 1 };
    const state = stateAfter(calmState({ columns: 120, rows: 40 }), received('firing', firing));
    expect(screenOf(state)).toContain('✖ Success (carddata): 89.99 < 90  for');
  });

  it('lets what is calm go first where there is no room', () => {
    const screen = screenOf(troubledState({ columns: 60, rows: 15 }));
    expect(screen).not.toContain('has never run');
    expect(screen).toMatch(/gateway +✖/);
  });
});

it('an alert is shown with the threshold that it has', () => {
  const rare = { ...ALERT, value: 99.994, comparison: '<', threshold: 99.995 } as const;
  expect(alertText(rare)).toMatch(/: 99\.99 < 99\.995$/);
});

describe('the view of stops', () => {
  const viewOf = (over: Partial<Bodies['overview']['stops']>, reasons: readonly string[] = []) => {
    const { overview } = calmState().data;
    const [first] = troubledState().data.overview.body?.health_reasons ?? [];
    const health_reasons = reasons.map((code) => ({
      ...first,
      code,
      severity: 'warning',
      text: `about ${code}`,
    }));
    const body = {
      ...overview.body,
      health_reasons,
      stops: { ...overview.body?.stops, ...over },
    } as unknown as Bodies['overview'];
    return screenOf(stateAfter(calmState({ view: 'stops' }), received('overview', body)));
  };

  it('shows mode, budget and what waits, with the command that stops the bleeding', () => {
    const screen = viewOf({});
    expect(screen).toMatch(/^● normal {2}no stop waits *$/m);
    expect(screen).toMatch(/^mode +● enforce {2}cards over their package are stopped *$/m);
    expect(screen).toMatch(/^ +-> cardpoll stops mode observe --reason \.\.\. *$/m);
    expect(screen).toMatch(/^last hour +█+░+ 12 of 100 *$/m);
    expect(screen).toMatch(/^last 24 h +█+░+ 340 of 500 *$/m);
    expect(screen).toMatch(/^held +0, 0 wait until an operator decides *$/m);
    expect(screen).toContain('No card was stopped yet.');
  });

  it('shows what waits and what was observed, and the reasons of health about stops', () => {
    const screen = viewOf({ mode: 'observe', held: 28, held_for_operator: 28, observed: 1_200 }, [
      'paused',
      'stops_held',
    ]);
    expect(screen).toContain('▲ warning  about stops_held');
    expect(screen).not.toContain('about paused');
    expect(screen).toMatch(/^mode +▲ observe {2}no card is stopped/m);
    expect(screen).toContain('-> cardpoll stops mode enforce --reason ...');
    expect(screen).toMatch(/^held +28, 28 wait until an operator decides *$/m);
    expect(screen).toMatch(/^observed +1,200 would have been made *$/m);
  });

  it('says that more wait than were counted', () => {
    const screen = viewOf({ held: 1, held_for_operator: 1, observed: 100_000, unconfirmed: 10_000 });
    expect(screen).toMatch(/^held +1, 1 waits until an operator decides *$/m);
    expect(screen).toMatch(/^observed +100k\+ would have been made *$/m);
    expect(screen).toMatch(/^no effect +10,000\+ acknowledged/m);
  });

  it('shows a budget that is used up, one of 0, and none', () => {
    const screen = viewOf({ done_hour: 100, budget_day: 0, done_day: 0 });
    expect(screen).toMatch(/^last hour +█{20} 100 of 100, used up: further stops are held *$/m);
    expect(screen).toMatch(/^last 24 h +█{20} 0 of 0, used up: further stops are held *$/m);
    expect(viewOf({ budget_hour: null })).toMatch(/^last hour +12 cards stopped, no limit *$/m);
  });

  it('says that nothing is known while the database does not answer', () => {
    expect(viewOf({ mode: null })).toContain('nothing is known of stops');
  });
});

describe('the list of stops', () => {
  const listOf = (body: Bodies['stops'], given: Partial<State> = {}) =>
    screenOf(stateAfter(calmState({ view: 'stops', ...given }), received('stops', body)));
  const two = stopsBody('held', STOP, { card_id: 4_711, allowance_mb: null, held_by: 'usage_jump' });

  it('shows held stops with usage, since when and why, and the keys that decide about them, at 80x24', () => {
    const screen = listOf(two, { picked: 1 });
    expect(screen).toMatch(/^the latest 2 of 2 held stops *$/m);
    expect(screen).toMatch(/^ {2}CARD +STATE +USED MB +ALLOWANCE MB +REQUESTED +HELD BY +BY +REASON *$/m);
    expect(screen).toMatch(/^ {4}42 +held +1,024\.25 +1,000 +5m ago +budget_hour +- +- *$/m);
    expect(screen).toMatch(/^▸ 4711 +held +1,024\.25 +- +5m ago +usage_jump +- +- *$/m);
    expect(screen).toMatch(/M mode {2}R release {2}D dismiss {2}A release all *$/);
  });

  it('shows observed stops, else the latest, without the keys for held ones', () => {
    const observed = listOf(stopsBody('observed', { held_by: null }));
    expect(observed).toMatch(/^the latest 1 of 1 observed stop *$/m);
    expect(observed).not.toMatch(/R release/);
    const latest = listOf(
      stopsBody(null, { state: 'dismissed', ordered_by: 'anna', reason: 'a test card' }),
      {
        columns: 120,
        rows: 40,
      },
    );
    expect(latest).toMatch(/^the latest 1 of 1 stop *$/m);
    expect(latest).toMatch(/^▸ +42 +\d+ +dismissed .* anna +a test card *$/m);
  });

  it.each(SIZES)('keeps the picked stop on the screen, on %i columns and %i lines', (columns, rows) => {
    const screen = screenOf(troubledState({ view: 'stops', columns, rows, picked: 57 }));
    expect(screen).toMatch(new RegExp(`^▸ ${Number.MAX_SAFE_INTEGER - 57} .*held`, 'm'));
    expect(screen).toMatch(/^mode +▲ observe/m);
  });

  it('shows the end of a long reason while it is typed', () => {
    const state = stateAfter(
      calmState({ view: 'stops' }),
      received('stops', two),
      ...keys('R'),
      ...typing(`${'long '.repeat(40)}end`),
    );
    expect(screenOf(state)).toMatch(/^Reason to release card 42: ….*long end▏$/m);
  });

  it('says why it is missing', () => {
    const failed = { type: 'failed', source: 'stops', problem: 'gone', nextTryAtMs: 9 } as const;
    const { data } = emptyState();
    const state = calmState({ view: 'stops', data: { ...calmState().data, stops: data.stops } });
    expect(screenOf(stateAfter(state, failed))).toMatch(/^list: gone *$/m);
  });
});

it('lists every key on the help page at 80x24', () => {
  const screen = screenOf(calmState({ help: true }));
  for (const { shown, label } of KEYMAP.filter(({ mode = 'anywhere' }) => mode === 'anywhere'))
    expect(screen).toMatch(new RegExp(`${shown.replace('?', '\\?')}(, .+)? +${label}`));
});

describe('the line of stops', () => {
  const stopsOf = (over: Partial<Bodies['overview']['stops']>, size: { columns: number; rows: number }) => {
    const { overview } = calmState().data;
    const body = { ...overview.body, stops: { ...overview.body?.stops, ...over } } as Bodies['overview'];
    const lines = frameLines(stateAfter(calmState(size), received('overview', body)));
    return lines.find((line) => textOf(line).startsWith('stops')) ?? [];
  };
  const toneOf = (line: Line) => line.at(1)?.tone;

  it.each(SIZES.slice(1))('stays while it is not calm, on %i columns and %i lines', (columns, rows) => {
    const size = { columns, rows };
    const held = stopsOf({ held: 28 }, size);
    expect(textOf(held)).toMatch(/^stops +enforce, 12 of 100 in 1 h, 340 of 500 in 24 h, 28 held *$/);
    expect(toneOf(held)).toBe('yellow');
    const observe = stopsOf({ mode: 'observe', observed: 1_200 }, size);
    expect(textOf(observe)).toMatch(/^stops +observe, no card is stopped, 1,200 would have been *$/);
    expect(toneOf(observe)).toBe('yellow');
  });

  it('shows no budget where there is none, and nothing that is not known', () => {
    const size = { columns: 80, rows: 24 };
    const free = stopsOf({ budget_hour: null, budget_day: null, resumed_day: 3 }, size);
    expect(textOf(free)).toMatch(/^stops +enforce, 12 in 1 h, 340 in 24 h, 3 resumed in 24 h *$/);
    expect(toneOf(free)).toBeUndefined();
    expect(textOf(stopsOf({ mode: null, held: null, done_hour: null }, size))).toMatch(
      /^stops +not known *$/,
    );
  });
});

it.each([
  ['not known while nothing was measured', null, null, /not known *$/m],
  ['never where the demand exceeds the capacity', 100, null, /never *$/m],
  ['held while a breaker is open', null, 'the gateway is dead', /held *$/m],
])('the table of task types says of a backlog: %s', (_, capacity_per_second, held_by, pattern) => {
  const { overview } = calmState().data;
  const tasks = (overview.body?.tasks ?? []).map((task) => ({
    ...task,
    capacity: { ...task.capacity, capacity_per_second, held_by, drain_seconds: null },
  }));
  const body = { ...overview.body, tasks } as Bodies['overview'];
  const state = stateAfter(calmState({ columns: 200, rows: 60 }), received('overview', body));
  expect(screenOf(state)).toMatch(pattern);
});

describe('the view of a task type', () => {
  it.each(SIZES)('marks the failing card the keys act on, on %i columns and %i lines', (columns, rows) => {
    const state = stateAfter(
      troubledState({ view: 'task', columns, rows }),
      ...keys(...Array.from({ length: 12 }, () => 'down')),
    );
    const marked = screenOf(state)
      .split('\n')
      .filter((line) => line.includes('▸'));
    expect(marked).toEqual([expect.stringContaining(String(Number.MAX_SAFE_INTEGER - 12))]);
  });

  it('offers its keys where there is a card to open', () => {
    const wide = { view: 'task', columns: 120 } as const;
    expect(screenOf(troubledState(wide))).toMatch(/Enter open .*T poll now/);
    expect(screenOf(calmState(wide))).not.toMatch(/Enter open|T poll now/);
  });
});

describe('frozen data', () => {
  const old = { nowMs: 12_000 };

  it('is called stale, dimmed all over, and told with the next try', () => {
    const state = { ...calmState(old), nextTryAtMs: 15_000 };
    const lines = frameLines(state);
    expect(textOf(lines[0] ?? [])).toMatch(/✖ STALE, 12s old, next try in 3s$/);
    const body = lines.slice(1, -2).flat();
    expect(body.filter(({ text, tone }) => text.trim() !== '' && tone !== 'dim')).toEqual([]);
    expect(screenOf(state)).toContain('init       completed 1m ago');
  });

  it('says why', () => {
    const state = stateAfter(calmState(old), {
      type: 'failed',
      source: 'overview',
      problem: 'cannot reach the daemon: ECONNREFUSED',
      nextTryAtMs: 15_000,
    });
    expect(screenOf(state).split('\n')[1]).toBe('cannot reach the daemon: ECONNREFUSED');
  });

  it('is stale while an answer is still waited for', () => {
    expect(screenOf(calmState({ nowMs: 3_900 }))).toContain('● live, 3s old');
    expect(screenOf(calmState({ nowMs: 4_000 }))).toContain('✖ STALE, 4s old');
  });
});

describe('a confirmation', () => {
  it('shows old -> new, how many cards, and the same as a command', () => {
    const asked = stateAfter(calmState(), ...keys('L', '1', '5', '0', 'return'));
    const lines = screenOf(asked).split('\n');
    expect(lines.slice(-4)).toEqual([
      'Limit of realname: 100 -> 150',
      'For 1,000,000 cards, on every instance within a second.',
      'same as: cardpoll concurrency set realname 150',
      'y do it  n Esc leave it',
    ]);
  });
});

describe('keys that change something', () => {
  const toneOf = (state: State, key: string) =>
    frameLines(state)
      .at(-1)
      ?.find(({ text }) => text === key)?.tone;

  it('are grey for a token that only reads, and it says so', () => {
    expect(toneOf(calmState(), 'L')).toBe('accent');
    expect(toneOf(calmState({ readOnly: true }), 'L')).toBe('dim');
    expect(screenOf(calmState({ readOnly: true }))).toContain('this token may only read');
  });
});

describe('the view of health', () => {
  const reasons = Array.from({ length: 9 }, (_, i) => ({
    code: 'overloaded' as const,
    severity: 'warning' as const,
    text: `reason ${i + 1} of the gateway that is too slow for the fleet`,
    command: `cardpoll pause ${i + 1}`,
    task_type: null,
    caused_by: null,
    since: '2026-11-21T09:55:00.000Z',
  }));
  const troubled = (given: Partial<State>) => {
    const state = calmState({ columns: 80, rows: 24, ...given });
    const overview = state.data.overview.body as Bodies['overview'];
    return stateAfter(
      state,
      received('overview', { ...overview, health: 'warning', health_reasons: reasons }),
    );
  };

  it('is named by the overview where that has no room for all reasons', () => {
    const screen = screenOf(troubled({}));
    expect(screen).toMatch(/\(\d more: key 8\)/);
    expect(screen.split('\n').at(-1)).toContain('8 health');
  });

  it('keeps its words apart where the overview cuts a long sentence', () => {
    const text = 'the readings of the fleet grow '.repeat(9).trim();
    const state = calmState({ columns: 80, rows: 24 });
    const overview = state.data.overview.body as Bodies['overview'];
    const health_reasons = reasons.slice(0, 1).map((reason) => ({ ...reason, text }));
    const cut = stateAfter(state, received('overview', { ...overview, health: 'warning', health_reasons }));
    const [, first = '', second = ''] = screenOf(cut).split('\n');
    const said = `${first.replace(/^. warning/, '').trim()} ${second.replace(/…$/, '').trim()}`;
    expect(text.startsWith(said), said).toBe(true);
  });

  it('shows every reason with its age and its command, around the marked one', () => {
    const first = screenOf(troubled({ view: 'health' }));
    expect(first).toContain('9 reasons, the worst first');
    expect(first).toMatch(/▸ reason 1 of .*\(for 5m\)\n +-> cardpoll pause 1/);
    const last = screenOf(stateAfter(troubled({ view: 'health' }), ...keys(...Array(9).fill('down'))));
    expect(last).toMatch(/▸ reason 9 of .*\n +-> cardpoll pause 9/);
  });

  it('says so where nothing is wrong', () => {
    expect(screenOf(calmState({ view: 'health' }))).toContain('everything as configured');
  });
});

it('asks for a larger terminal where it has too little room', () => {
  expect(screenOf(calmState({ columns: 59, rows: 24 }))).toMatch(/^need 60x15, this is 59x24\n/);
  expect(screenOf(calmState({ columns: 60, rows: 14 }))).toMatch(/^need 60x15, this is 60x14\n/);
  expect(frameLines(calmState({ columns: 10, rows: 2 })).map(textOf)).toEqual(['need 60x1…']);
});

it('as text tells of when it is, and has no keys and no empty end', () => {
  const lines = stillLines(calmState({ columns: 80, rows: 24 })).map(textOf);
  expect(lines[0]).toMatch(/ 2026-11-21T10:00:00Z$/);
  expect(lines.at(-1)).toMatch(/^cleanup/);
});

it.each(['overview', 'task'] as const)('%s says of calm cards that they are still being loaded', (view) => {
  const calm = calmState({ view });
  const overview = calm.data.overview.body as Bodies['overview'];
  const init = { ...overview.init, status: 'running' as const, percent: 0, loaded: 0 };
  const loading = stateAfter(calm, received('overview', { ...overview, init }));
  expect(screenOf(calm)).toMatch(/normal .*cards, everything as configured/);
  expect(screenOf(loading)).toMatch(/normal .*cards, still being loaded: cardpoll init/);
  expect(screenOf(loading)).not.toContain('everything as configured');
});
