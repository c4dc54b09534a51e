// What the screen holds: it fits every terminal from 60x15 on, whatever the daemon says, and says what it must.
import { describe, expect, it } from 'vitest';
import { KEYMAP } from '../../../src/dashboard/keymap.ts';
import { type Bodies, type State, VIEWS } from '../../../src/dashboard/state.ts';
import { renderFrame } from '../../../src/dashboard/views/frame.tsx';
import { TASK_TYPES } from '../../../src/domain/task-type.ts';
import { alertText } from '../../../src/terminal/reports/alert-tables.ts';
import { inLocale } from '../../../src/terminal/style.ts';
import { loadWidths, widthOf } from '../../../src/terminal/width.ts';
import { CARD } from '../cli/bodies.ts';
import { ACCENT, BACKGROUNDS, DIM, linesOf, plain, screenOf, stillOf, YELLOW } from './screen.ts';
import {
  ALERT,
  at,
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
  [100, 30],
  [120, 40],
  [160, 50],
  [200, 60],
] as const;
/** Those of views that have no layout of their own at 100 and 160 columns, as the overview has. */
const FEWER_SIZES = SIZES.filter(([columns]) => columns !== 100 && columns !== 160);
const STATES: readonly (readonly [string, (given: Partial<State>) => State])[] = [
  ['nothing known', emptyState],
  ['a calm fleet', calmState],
  ['everything wrong', troubledState],
];

/** What others have named stays as it is. */
const NAMES = /[\p{L}\p{M}\p{Extended_Pictographic}]/gu;

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
  const yellow = renderFrame(state).flatMap((line) => line.split(YELLOW).slice(1));
  expect(yellow.some((text) => shown.test(text.split('\x1b')[0] ?? ''))).toBe(true);
});

it('shows usual figures whole on the smallest screen', () => {
  const screen = screenOf(calmState({ columns: 60, rows: 15 }));
  expect(screen).toMatch(/ LAG$/m);
  expect(screen).toMatch(/60\/100 +12,000 +1m 30s$/m);
});

it.each([
  [0, 'alert', '31'],
  [93, 'warning', '33'],
  [0, 'normal', null],
])(
  'success of %i percent has a colour where the health is %s, not where it is normal',
  (percentOk, health, colour) => {
    const state = calmState({ columns: 80, rows: 24 });
    const { body } = state.data.overview;
    const tasks = body?.tasks.map((task) => ({ ...task, health, success_rate_10s: percentOk }));
    const shown = renderFrame(
      stateAfter(state, received('overview', { ...body, tasks } as Bodies['overview'])),
    );
    const row = shown.find((line) => line.includes('carddata') && line.includes('60/100')) ?? '';
    const coloured = new RegExp(`\\x1b\\[${colour ?? 3}\\d?m *${percentOk}(\\.0)?[\\x1b ]`);
    expect([row, coloured.test(row)]).toEqual([row, colour !== null]);
  },
);

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
  const hasAll = FEWER_SIZES.some(([size]) => size === columns);
  it.each(VIEWS.filter((view) => hasAll || view === 'overview'))(
    '%s fits, and is ASCII in the locale C, in as many columns',
    (view) => {
      for (const [state, make] of STATES) {
        const lines = linesOf(make({ columns, rows, view }));
        const widths = expectToFit(lines);
        expect(lines.join(''), state).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        const shown = lines.map((line) => inLocale(line, { env: { LC_ALL: 'C' } }));
        expect(shown.map(widthOf)).toEqual(widths);
        expect(shown.join('').replace(NAMES, '')).toMatch(/^[ -~]*$/);
        expect(lines.map((line) => inLocale(line, { env: { LC_ALL: 'C.UTF-8' } }))).toEqual(lines);
      }
    },
  );

  it('the help fits', () => void expectToFit(linesOf(troubledState({ columns, rows, help: true }))));

  it('a question fits', () => {
    const { prompt, ...state } = stateAfter(troubledState({ columns, rows, view: 'configs' }), ...keys('I'));
    if (prompt === null) throw new Error('there is no question');
    expectToFit(linesOf({ ...state, prompt: { ...prompt, text: '1'.repeat(40), problem: HOSTILE } }));
  });

  it('a plan fits', () => void expectToFit(linesOf(withPlan(troubledState({ columns, rows })))));

  function expectToFit(lines: readonly string[]): number[] {
    expect(lines).toHaveLength(rows - 1);
    const widths = lines.map(widthOf);
    expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
    return widths;
  }
});

function withPlan(state: State): State {
  const effects = Array.from({ length: 8 }, () => `usage: ${HOSTILE} rows`);
  const plan = { title: HOSTILE, effects, command: 'cardpoll cleanup run' };
  return {
    ...state,
    confirm: { ...plan, perform: async () => ({ body: null, text: '' }), said: () => 'done' },
  };
}

describe('the overview', () => {
  it('says health, its reason and the command before everything else', () => {
    const [, , health, ...rest] = screenOf(troubledState()).split('\n');
    expect(health).toMatch(/^ ✖ alert {2}carddata: /);
    expect(rest.slice(0, 4).join('\n')).toContain('-> $ cardpoll concurrency set carddata 100000');
    const wide = screenOf(troubledState({ columns: 200, rows: 60 }));
    expect(wide).toContain('(for 2h)');
  });

  it('has a card for each task type from 120 columns on, below that a table and the charts of the picked one', () => {
    const at = (columns: number, rows: number) =>
      screenOf(calmState({ columns, rows, taskType: 'carddata' }));
    expect(at(120, 40)).toMatch(/realname +● normal .*▸ carddata +● normal .* package +● normal/);
    expect(at(120, 40)).toMatch(/polls .*polls .*polls /);
    expect(at(120, 40)).not.toMatch(/POLLS\/S/);
    expect(at(100, 30)).toMatch(/carddata {2}Enter opens it/);
    expect(at(100, 30)).toMatch(/polls .*\/s, .*success .* %/);
    expect(at(80, 24)).not.toMatch(/opens it/);
  });

  it.each([
    [60, 15],
    [80, 24],
    [120, 40],
    [200, 60],
  ])(
    'has the task types in the same line at %ix%i, however many reasons there are and how long they are',
    (columns, rows) => {
      const state = troubledState({ columns, rows });
      const { body } = state.data.overview;
      if (body === null) throw new Error('there is no overview');
      const [first, ...more] = body.health_reasons;
      if (first === undefined) throw new Error('there is no reason');
      const lineWith = (health_reasons: Bodies['overview']['health_reasons']) => {
        const overview = { ...state.data.overview, body: { ...body, health_reasons } };
        const screen = screenOf({ ...state, data: { ...state.data, overview } });
        return screen.split('\n').findIndex((line) => /▸ (✖ |▲ |● )?realname/.test(line));
      };
      const short = { ...first, text: 'carddata: short', command: null };
      const lines = [[short], [first], [short, ...more], body.health_reasons].map(lineWith);
      expect(new Set(lines).size, lines.join(' ')).toBe(1);
      expect(lines[0]).toBeGreaterThan(0);
    },
  );

  it('keeps the cards with a chart at 120x40, whatever is wrong', () => {
    const screen = screenOf(troubledState({ columns: 120, rows: 40 }));
    expect(screen).toMatch(/polls .*polls .*polls /);
    expect(screen).not.toMatch(/POLLS\/S/);
    expect(screen).toMatch(/^cleanup +✖ failed/m);
  });

  it('names the lines that a chart is measured by, and where its extreme was', () => {
    const screen = screenOf(calmState({ columns: 160, rows: 50 }));
    expect(screen).toMatch(/polls 106\/s, 278 needed +max 1,000 15m ago/);
    expect(screen).toMatch(/^. +90 [^\n]*\n/m);
    expect(screen).toMatch(/^. 2,000 /m);
    expect(screen).toMatch(/15 min ago +now/);
  });

  it('shows why polls fail, the latest stops and changes on a wall', () => {
    const state = stateAfter(
      troubledState({ columns: 200, rows: 60 }),
      received('latest', stopsBody(null, STOP)),
    );
    const calm = calmState({ columns: 200, rows: 60 });
    const wall = screenOf({ ...calm, data: { ...state.data, overview: calm.data.overview } });
    expect(wall).toMatch(/failures, 5 min.*latest stops.*latest changes/);
    expect(wall).toMatch(/1\.2M +realname +backpressure/);
    expect(wall).toMatch(/96\.0 % +realname +carrier 7/);
    expect(wall).toMatch(/5m ago +42 +done|5m ago +42 +held/);
    expect(wall).toMatch(/1m ago .*concurrency\.set/);
    expect(screenOf(calm)).toContain('changes: asking ...');
    expect(screenOf(calmState({ columns: 120, rows: 40 }))).not.toContain('latest stops');
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
    expect(screen).toMatch(/capacity +realname 0\.4\/s of /);
    expect(screenOf({ ...calm, rows: 15, data: { ...calm.data, overview } })).toMatch(
      /realname +normal +0\.03 /,
    );
  });

  it('rounds the success of the chart down', () => {
    const items = HISTORY.items.map((sample) => ({
      ...sample,
      tasks: sample.tasks.map((one) => ({ ...one, success_rate: 99.96 })),
    }));
    const calm = calmState({ columns: 120, rows: 40 });
    const history = { ...calm.data.history, body: { ...HISTORY, items } };
    const screen = screenOf({ ...calm, data: { ...calm.data, history } });
    expect(screen).toMatch(/success 99\.9 % +min 99\.9/);
  });

  it.each([
    ['a task type with what waits', /realname +50 +99\.0 +110\/251 +[█─]+ 60\/100 +12,000 +1m 30s/],
    ['the views by number', /^1 overview 2 realname 3 alerts .* 8 health$/m],
    ['capacity', /capacity +realname 278\/s of 833\/s \(66 % free\), no backlog/],
    ['breakers', /gateway +● up, 24 ms, 100 % ok/],
    ['polls on time', /on time +99\.8 % of the polls of the last hour; worst carrier 2: 97 %$/m],
    ['stops', /stops +enforce, 12 of 100 in 1 h, 340 of 500 in 24 h *$/m],
    ['the initialisation', /init +completed 1m ago, 1,000,000 cards/],
    ['instances', /instances +1 {2}worker-1-7 *$/m],
    ['alerts', /alerts +no rule fires/],
    ['cleanup', /cleanup +has never run/],
    ['the age of the data and whose they are', /http:\/\/127\.0\.0\.1:7480 +0\.1\.0 +● live, 0s old/],
    ['the keys', /q quit {2}\? help .* L limit/],
  ])('at 80x24 shows %s', (_, pattern) => {
    expect(screenOf(calmState())).toMatch(pattern);
  });

  it.each([
    ['breakers', /gateway +✖ gateway down {2}since 1m 30s, next probe in 53s, 64 instances/],
    [
      'stops',
      /stops +observe, 100k\+ cards would have been stopped, none was, 100k\+ held, 100k\+ resumed in 24 h/,
    ],
    ['initialisation', /init +✖ stuck {2}25 %, 12M of 50M/],
    ['mixed versions', /▲ versions /],
    ['alerts', /alerts +✖ /],
    ['a backlog that never drains', /backlog grows at this rate: raise the limit of realname to 100000/],
    ['a limit that is not in force', /60\/99,999 of 100k/],
  ])('shows trouble with %s', (_, pattern) => {
    expect(screenOf(troubledState({ columns: 200, rows: 60 }))).toMatch(pattern);
  });

  it('shows one pause of all task types once, and not below the band that shows it', () => {
    const troubled = troubledState().data.overview.body as Bodies['overview'];
    const paused = { ...troubled.health_reasons[0], code: 'paused', text: 'polling is paused' };
    const state = calmState();
    const calm = { ...(state.data.overview.body as Bodies['overview']), pauses: troubled.pauses };
    expect(screenOf(stateAfter(state, received('overview', calm)))).toMatch(
      /pauses +■ all task types 7d left {2}by the gateway/,
    );
    const health_reasons = [paused] as typeof troubled.health_reasons;
    const said = screenOf(stateAfter(state, received('overview', { ...calm, health_reasons })));
    expect(said).not.toMatch(/^pauses/m);
  });

  it('does not round the value of an alert to its threshold', () => {
    const alert = { ...ALERT, rule_name: 'Success', comparison: '<', threshold: 90, value: 89.996 } as const;
    const firing = { items: [alert], page: 1, page_size: 100, total: 1 };
    const state = stateAfter(calmState({ columns: 120, rows: 40 }), received('firing', firing));
    expect(screenOf(state)).toContain('✖ Success (carddata): 89.99 < 90 when it fired  for');
  });

  it('lets what is calm go first where there is no room', () => {
    const screen = screenOf(troubledState({ columns: 60, rows: 15 }));
    expect(screen).not.toContain('has never run');
    expect(screen).toMatch(/gateway +✖/);
    expect(screen).toMatch(/^\.\.\. and \d+ more lines *$/m);
  });

  it('shows what is wrong before what is calm', () => {
    const calm = calmState({ columns: 80, rows: 24 });
    const overview = calm.data.overview.body as Bodies['overview'];
    const init = { ...overview.init, status: 'stuck' as const };
    const facts = linesOf(stateAfter(calm, received('overview', { ...overview, init })));
    const at = (name: string) => facts.findIndex((line) => line.startsWith(name));
    expect(at('init')).toBeGreaterThan(0);
    expect(at('init')).toBeLessThan(at('gateway'));
  });

  it('does not count no cards of an initialisation before the first import', () => {
    const calm = calmState({ columns: 80, rows: 24 });
    const overview = calm.data.overview.body as Bodies['overview'];
    const init = { ...overview.init, total: 0 };
    const screenWith = (cards_total: number) =>
      screenOf(stateAfter(calm, received('overview', { ...overview, init, cards_total })));
    expect(screenWith(0)).toMatch(/init +completed .* ago, before any card was imported/);
    expect(screenWith(1_000)).toMatch(/init +completed \S+ ago *$/m);
  });

  it('shows a task type as held whose own figures are normal while it is not polled', () => {
    const calm = calmState({ columns: 80, rows: 24 });
    const overview = calm.data.overview.body as Bodies['overview'];
    const tasks = overview.tasks.map((task) => ({
      ...task,
      capacity: { ...task.capacity, drain_seconds: null, held_by: 'no instance can use the database' },
    }));
    const state = (columns: number, rows: number) =>
      stateAfter(calmState({ columns, rows }), received('overview', { ...overview, tasks }));
    expect(screenOf(state(80, 24))).toMatch(/▲ realname/);
    expect(screenOf(state(120, 40)).match(/▲ held/g)).toHaveLength(TASK_TYPES.length);
  });

  it('keeps cards and lists at 160x50 when there is trouble', () => {
    const calm = calmState({ columns: 160, rows: 50 });
    const overview = calm.data.overview.body as Bodies['overview'];
    const reason = (code: string) => ({
      ...{ code, severity: 'alert', text: `about ${code}`, command: 'cardpoll doctor' },
      ...{ since: null, task_type: null, caused_by: null },
    });
    const health_reasons = ['a', 'b', 'c', 'd'].map(reason) as unknown as typeof overview.health_reasons;
    const bad = { ...overview, health: 'alert' as const, health_reasons };
    const screen = screenOf(stateAfter(calm, received('overview', bad)));
    expect(screen).toMatch(/╭─+╮╭─+╮╭─+╮/);
    expect(screen).toContain('latest changes');
  });

  it('shows of a further reason what fits, before it counts the others', () => {
    const calm = calmState({ columns: 120, rows: 40 });
    const overview = calm.data.overview.body as Bodies['overview'];
    const reason = (text: string) => ({
      ...{ code: 'stops_held', severity: 'alert', text, command: 'cardpoll doctor' },
      ...{ since: null, task_type: null, caused_by: null },
    });
    const texts = ['first', `second ${'word '.repeat(60)}`, 'third'];
    const health_reasons = texts.map(reason) as unknown as typeof overview.health_reasons;
    const bad = { ...overview, health: 'alert' as const, health_reasons };
    const screen = screenOf(stateAfter(calm, received('overview', bad)));
    expect(screen).toMatch(/✖ second word/);
    expect(screen).toMatch(/1 more: key 8/);
  });

  it('cuts no command at the smallest size that it fits in', () => {
    const calm = calmState({ columns: 60, rows: 15 });
    const overview = calm.data.overview.body as Bodies['overview'];
    const command = "cardpoll stops mode observe --reason 'too many stops'";
    const reason = { code: 'stop_surge', severity: 'alert', text: '100 cards stopped', command, since: null };
    const health_reasons = [
      { ...reason, task_type: null, caused_by: null },
    ] as typeof overview.health_reasons;
    const bad = { ...overview, health: 'alert' as const, health_reasons };
    expect(screenOf(stateAfter(calm, received('overview', bad)))).toContain(command);
  });

  it('says of a fleet without cards how they come', () => {
    const calm = calmState();
    const overview = calm.data.overview.body as Bodies['overview'];
    const screen = screenOf(stateAfter(calm, received('overview', { ...overview, cards_total: 0 })));
    expect(screen).toContain('no cards yet: cardpoll cards import FILE');
  });

  it('does not call a gateway up that has not answered', () => {
    const calm = calmState({ columns: 80, rows: 24 });
    const overview = calm.data.overview.body as Bodies['overview'];
    const gateway = { ...overview.gateway, avg_duration_ms_10s: null, success_rate_10s: null };
    const screen = screenOf(stateAfter(calm, received('overview', { ...overview, gateway })));
    expect(screen).toMatch(/gateway {4}no answer in the last seconds/);
    const pause = {
      ...({ source: 'operator', by: 'op1', reason: '', maintenance_id: null } as const),
      ...{ since: overview.generated_at, until: overview.generated_at },
    };
    const pauses = TASK_TYPES.map((task_type) => ({ ...pause, task_type }));
    const paused = screenOf(stateAfter(calm, received('overview', { ...overview, gateway, pauses })));
    expect(paused).toMatch(/gateway {4}not called in the pause/);
  });

  it('keeps the time of a reason on one line, at every width', () => {
    const calm = calmState();
    const overview = calm.data.overview.body as Bodies['overview'];
    const since = new Date(Date.parse(overview.generated_at) - 95_000).toISOString();
    const one = {
      code: 'gateway_slow',
      severity: 'alert',
      text: 'the gateway takes 3.0 s a call, usually 0.05 s',
    };
    const reason = { ...one, since, command: null, task_type: null, caused_by: null } as const;
    for (let columns = 60; columns <= 130; columns += 1) {
      const bad = {
        ...overview,
        health: 'alert' as const,
        health_reasons: [reason] as typeof overview.health_reasons,
      };
      expect(screenOf(stateAfter(calmState({ columns }), received('overview', bad)))).toContain(
        '(for 1m 35s)',
      );
    }
  });
});

it.each([60, 80, 120])('the undo of a change is a command in the band, whole at %i columns', (columns) => {
  const { overview } = calmState().data;
  const [first] = troubledState().data.overview.body?.health_reasons ?? [];
  const long =
    'carddata: cards are polled every 57 min instead of every 5 min, and the queue grows by 25 cards a second';
  const change =
    'changed: config 4 of all verified cards of the carrier, 30m -> 10m, 6 s before, by op1, the last of 5';
  const text = `${long}; ${change}; back: cardpoll audit undo 1234567`;
  const health_reasons = [{ ...first, text, command: 'cardpoll configs', caused_by: null }];
  const body = { ...overview.body, health: 'alert', health_reasons } as Bodies['overview'];
  const screen = screenOf(stateAfter(calmState({ columns }), received('overview', body)));
  expect(screen).toMatch(/-> \$ cardpoll audit undo 1234567 *$/m);
  expect(screen).not.toContain('back:');
});

it('an alert is shown with the threshold that it has', () => {
  const rare = { ...ALERT, value: 99.994, comparison: '<', threshold: 99.995 } as const;
  expect(alertText(rare)).toMatch(/: 99\.99 < 99\.995 when it fired$/);
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
    expect(screen).toMatch(/^● no stop waits *$/m);
    expect(screen).toMatch(/^mode +● enforce {2}cards over their package are stopped *$/m);
    expect(screen).toMatch(/^ +-> \$ cardpoll stops mode observe --reason \.\.\. *$/m);
    expect(screen).toMatch(/^last hour +█+─+ 12 of 100 *$/m);
    expect(screen).toMatch(/^last 24 h +█+─+ 340 of 500 *$/m);
    expect(screen).toMatch(/^held +0, 0 wait until an operator decides *$/m);
    expect(screen).toContain('No card was stopped yet.');
  });

  it('shows what waits and what was observed, and the reasons of health about stops', () => {
    const screen = viewOf({ mode: 'observe', held: 28, held_for_operator: 28, observed: 1_200 }, [
      'paused',
      'stops_held',
    ]);
    expect(screen).toContain('▲ about stops_held');
    expect(screen).not.toMatch(/^▲ about paused/m);
    expect(screen).toMatch(/^mode +▲ observe {2}no card is stopped/m);
    expect(screen).toContain('-> $ cardpoll stops mode enforce --reason ...');
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

  it('shows for how long the vendor has worked on a stop', () => {
    const [pending_since, pending_until] = [at(40), at(-560)];
    const screen = listOf(
      stopsBody(null, { state: 'requested', held_by: null, pending_since, pending_until }),
    );
    expect(screen).toMatch(/^▸ +42 .*under way for 40s/m);
  });

  it.each(FEWER_SIZES)('keeps the picked stop on the screen, on %i columns and %i lines', (columns, rows) => {
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
    const lines = renderFrame(stateAfter(calmState(size), received('overview', body)));
    return lines.find((line) => plain(line).startsWith('stops')) ?? '';
  };
  const isYellow = (line: string) => line.includes(YELLOW);

  it.each(FEWER_SIZES.slice(1))('stays while it is not calm, on %i columns and %i lines', (columns, rows) => {
    const size = { columns, rows };
    const held = stopsOf({ held: 28 }, size);
    expect(plain(held)).toMatch(/^stops +enforce, 12 of 100 in 1 h, 340 of 500 in 24 h, 28 held *$/);
    expect(isYellow(held)).toBe(true);
    const observe = stopsOf({ mode: 'observe', observed: 1_200 }, size);
    expect(plain(observe)).toMatch(/^stops +observe, 1,200 cards would have been stopped, none was *$/);
    expect(isYellow(observe)).toBe(true);
  });

  it('shows no budget where there is none, and nothing that is not known', () => {
    const size = { columns: 80, rows: 24 };
    const free = stopsOf({ budget_hour: null, budget_day: null, resumed_day: 3 }, size);
    expect(plain(free)).toMatch(/^stops +enforce, 12 in 1 h, 340 in 24 h, 3 resumed in 24 h *$/);
    expect(isYellow(free)).toBe(false);
    expect(plain(stopsOf({ mode: null, held: null, done_hour: null }, size))).toMatch(/^stops +not known *$/);
  });
});

it.each([
  ['not known while nothing was measured', null, null, /backlog not known/],
  ['never where the demand exceeds the capacity', 100, null, /backlog never gone/],
  ['held while a breaker is open', null, 'the gateway is dead', /backlog held/],
])('the card of a task type says of a backlog: %s', (_, capacity_per_second, held_by, pattern) => {
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
  it.each(FEWER_SIZES)(
    'marks the failing card the keys act on, on %i columns and %i lines',
    (columns, rows) => {
      const state = stateAfter(
        troubledState({ view: 'task', columns, rows }),
        ...keys(...Array.from({ length: 12 }, () => 'down')),
      );
      const marked = screenOf(state)
        .split('\n')
        .filter((line) => line.includes('▸'));
      expect(marked).toEqual([expect.stringContaining(String(Number.MAX_SAFE_INTEGER - 12))]);
    },
  );

  it('offers its keys where there is a card to open', () => {
    const wide = { view: 'task', columns: 120 } as const;
    expect(screenOf(troubledState(wide))).toMatch(/Enter open .*T poll now/);
    expect(screenOf(calmState(wide))).not.toMatch(/Enter open|T poll now/);
  });
});

/** Any colour, bold or inverse. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for colours
const COLOURED = /\x1b\[(?:1|7|3[0-7]|4[0-7]|9[0-7])m/;

describe('frozen data', () => {
  const old = { nowMs: 12_000 };

  it('is called stale over the whole width, dimmed, and shown with the next try', () => {
    const state = { ...calmState(old), nextTryAtMs: 15_000 };
    const lines = renderFrame(state);
    const at = lines.findIndex((line) => line.includes(BACKGROUNDS.magenta));
    expect(plain(lines[at] ?? '')).toMatch(/^ ✖ STALE {2}data 12s old, next try in 3s *$/);
    for (const line of lines.slice(at + 1, -2)) expect(line.split(DIM).join('')).not.toMatch(COLOURED);
    expect(screenOf(state)).toContain('init       completed 1m ago');
    expect(screenOf(state)).not.toContain('normal  1,000,000 cards');
  });

  it('says why', () => {
    const state = stateAfter(calmState(old), {
      type: 'failed',
      source: 'overview',
      problem: 'cannot reach the daemon: ECONNREFUSED',
      nextTryAtMs: 15_000,
    });
    expect(screenOf(state)).toMatch(
      /^ ✖ DISCONNECTED {2}data 12s old, next try in 3s: cannot reach the daemon:\s+ECONNREFUSED/m,
    );
  });

  it('is stale while an answer is still waited for', () => {
    expect(screenOf(calmState({ nowMs: 3_900 }))).toContain('● live, 3s old');
    expect(screenOf(calmState({ nowMs: 4_000 }))).toContain('✖ STALE  data 4s old');
  });
});

describe('a confirmation', () => {
  it('shows old -> new, how many cards, and the same as a command', () => {
    const asked = stateAfter(calmState(), ...keys('L', '1', '5', '0', 'return'));
    const lines = screenOf(asked).split('\n');
    expect(lines.slice(-6)).toEqual([
      'Limit of realname: 100 -> 150',
      'For 1,000,000 cards, on every instance within a second.',
      'The polling configs need 278 polls a second; a limit of 150 allows about 1,250',
      'polls a second.',
      'same as: cardpoll concurrency set realname 150',
      'y do it  n Esc leave it',
    ]);
  });
});

describe('keys that change something', () => {
  const keysOf = (state: State) => renderFrame(state).at(-1);

  it('are grey for a token that only reads, and it says so', () => {
    expect(keysOf(calmState())).toContain(`${ACCENT}L`);
    expect(keysOf(calmState({ readOnly: true }))).toContain(`${DIM}L`);
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
    expect(screen).toMatch(/^\d more: key 8/m);
    expect(screen.split('\n').at(-1)).toContain('8 health');
  });

  it('keeps its words apart where the overview cuts a long sentence', () => {
    const text = 'the readings of the fleet grow '.repeat(9).trim();
    const state = calmState({ columns: 80, rows: 24 });
    const overview = state.data.overview.body as Bodies['overview'];
    const health_reasons = reasons.slice(0, 1).map((reason) => ({ ...reason, text }));
    const cut = stateAfter(state, received('overview', { ...overview, health: 'warning', health_reasons }));
    const [, , first = '', second = ''] = screenOf(cut).split('\n');
    const said = `${first.replace(/^ . warning/, '').trim()} ${second.trim().replace(/…$/, '').trim()}`;
    expect(text.startsWith(said), said).toBe(true);
  });

  it('shows every reason with its age and its command, around the marked one', () => {
    const first = screenOf(troubled({ view: 'health' }));
    expect(first).toContain('9 reasons, the worst first');
    expect(first).toMatch(/▸ ▲ reason 1 of .*\(for 5m\)\n +-> \$ cardpoll pause 1/);
    const last = screenOf(stateAfter(troubled({ view: 'health' }), ...keys(...Array(9).fill('down'))));
    expect(last).toMatch(/▸ ▲ reason 9 of .*\n +-> \$ cardpoll pause 9/);
  });

  it('says so where nothing is wrong', () => {
    expect(screenOf(calmState({ view: 'health' }))).toContain('everything as configured');
  });
});

it('asks for a larger terminal where it has too little room', () => {
  expect(screenOf(calmState({ columns: 59, rows: 24 }))).toMatch(/^need 60x15, this is 59x24\n/);
  expect(screenOf(calmState({ columns: 60, rows: 14 }))).toMatch(/^need 60x15, this is 60x14\n/);
  expect(linesOf(calmState({ columns: 10, rows: 2 }))).toEqual(['need 60x1…']);
});

it('as text has its time, no keys and no empty end', () => {
  const lines = stillOf(calmState({ columns: 80, rows: 24 }));
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

describe('the band', () => {
  it.each([
    ['normal', BACKGROUNDS.green, 1],
    ['warning', BACKGROUNDS.yellow, 6],
    ['alert', BACKGROUNDS.red, 6],
  ] as const)(
    'the band of %s has its colour over the whole width, and its symbol and word',
    (health, background, rows) => {
      const calm = calmState({ columns: 120, rows: 40 });
      const body = { ...calm.data.overview.body, health } as Bodies['overview'];
      const lines = renderFrame(stateAfter(calm, received('overview', body)));
      const band = lines.filter((line) => line.includes(background));
      expect(band.length).toBe(rows);
      for (const line of band) expect(widthOf(plain(line))).toBe(120);
      expect(plain(band[rows === 1 ? 0 : 1] ?? '')).toMatch(new RegExp(`^ [●▲✖] ${health} `));
    },
  );
});

describe('bad input', () => {
  const wide = '量'.repeat(200);
  const overviewWith = (over: Partial<Bodies['overview']>) => {
    const calm = calmState();
    return { ...calm.data.overview.body, ...over } as Bodies['overview'];
  };
  const reason = {
    code: 'overloaded' as const,
    severity: 'alert' as const,
    text: 'The gateway of the carrier is slower than the fleet needs it to be. '.repeat(5),
    command: 'cardpoll doctor',
    task_type: null,
    caused_by: null,
    since: null,
  };

  it.each([
    [20, 5],
    [300, 100],
  ])('a terminal of %ix%i gets a frame that fits', (columns, rows) => {
    for (const state of [calmState({ columns, rows }), troubledState({ columns, rows })]) {
      const lines = linesOf(state);
      expect(lines).toHaveLength(rows - 1);
      expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
    }
  });

  it.each([0, 1, 40])('%i reasons of five sentences leave room for the task types and the keys', (count) => {
    const health_reasons = Array.from({ length: count }, () => reason);
    const body = overviewWith({ health: count === 0 ? 'normal' : 'alert', health_reasons });
    for (const [columns, rows] of FEWER_SIZES) {
      const screen = screenOf(stateAfter(calmState({ columns, rows }), received('overview', body)));
      expect(screen).toMatch(/realname[\s\S]*carddata[\s\S]*package/);
      expect(screen).toMatch(/\nq quit .*$/);
      if (count > 0) expect(screen).toContain('-> $ cardpoll doctor');
    }
  });

  it('a name of 200 wide characters is cut', () => {
    const configs = troubledState().data.configs.body?.items.slice(0, 1) ?? [];
    const items = configs.map((one) => ({ ...one, name: wide, problems: [wide] }));
    const lines = linesOf(stateAfter(calmState({ view: 'configs' }), received('configs', { items })));
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(80);
    expect(lines.join('\n')).toContain('…');
  });

  it.each(['overview', 'task'] as const)('%s has 10^12 cards and one sample, and no NaN', (view) => {
    const { body } = calmState().data.overview;
    const tasks = (body?.tasks ?? []).map((one) => ({ ...one, scheduled_cards: 1e12, due: 1e12 }));
    const overview = overviewWith({ cards_total: 1e12, tasks });
    const history = { ...HISTORY, items: HISTORY.items.slice(-1) };
    for (const [columns, rows] of FEWER_SIZES) {
      const state = calmState({ columns, rows, view });
      const screen = screenOf(
        stateAfter(state, received('overview', overview), received('history', history)),
      );
      expect(screen).not.toMatch(/NaN|Infinity|undefined|null/);
      expect(screen).toContain('1,000,000,000,000 cards');
    }
  });

  it('a daemon of the version before sends no causes, no age of a reason and no carriers', () => {
    const { caused_by: _, since: __, ...older } = reason;
    const body = overviewWith({ health: 'alert', health_reasons: [older, older] as never });
    const failures = {
      items: [
        { task_type: 'realname', reasons: [{ reason: 'timeout', count: 3 }], failing_cards: 0, cards: [] },
      ],
    } as unknown as Bodies['failures'];
    const state = stateAfter(
      calmState({ columns: 200, rows: 60 }),
      received('overview', body),
      received('failures', failures),
    );
    expect(screenOf(state)).toMatch(/3 +realname +timeout/);
  });
});
