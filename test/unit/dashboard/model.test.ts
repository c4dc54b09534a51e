// What keys and answers do to the state: tables of events and what becomes of it.
import { describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../src/api/client/client.ts';
import { bindingsOf, KEYMAP, refusalOf } from '../../../src/dashboard/keymap.ts';
import { reduce } from '../../../src/dashboard/model.ts';
import {
  type Event,
  failingCards,
  listedAlerts,
  type State,
  sourcesOf,
  VIEWS,
} from '../../../src/dashboard/state.ts';
import { REASON_CHARS, REASON_RULE } from '../../../src/domain/stops/stop.ts';
import { TASK_TYPES, type TaskType } from '../../../src/domain/task-type.ts';
import { CONFIG } from '../cli/bodies.ts';
import {
  CALM,
  calmState,
  emptyState,
  keys,
  received,
  STOP,
  stateAfter,
  stopsBody,
  TRIGGER,
  TROUBLED,
  troubledState,
  typing,
} from './states.ts';

type Failing = ReturnType<typeof failingCards>[number];

const press = (state: State, ...names: string[]) => stateAfter(state, ...keys(...names));

/** For changes that do without. */
const NO_CLIENT = {} as ApiClient;

/** Confirming needs no daemon: the result is the title. */
function withOutcome({ confirm, ...state }: State): State {
  return {
    ...state,
    confirm: confirm && {
      ...confirm,
      perform: async () => ({ body: null, text: '' }),
      said: () => confirm.title,
    },
  };
}

const LAST = TASK_TYPES.at(-1) as TaskType;

describe('moving about', () => {
  it.each([
    ['tab', 'overview', 'task'],
    ['tab', 'configs', 'stops'],
    ['tab', 'stops', 'health'],
    ['tab', 'health', 'overview'],
    ['tab', 'card', 'task'],
    ['shift-tab', 'overview', 'health'],
    ['1', 'configs', 'overview'],
    ['2', 'overview', 'task'],
    ['3', 'overview', 'alerts'],
    ['4', 'overview', 'triggers'],
    ['5', 'overview', 'instances'],
    ['6', 'overview', 'configs'],
    ['7', 'overview', 'stops'],
    ['8', 'overview', 'health'],
    ['left', 'stops', 'overview'],
    ['return', 'overview', 'task'],
    ['right', 'overview', 'task'],
    ['l', 'overview', 'task'],
    ['left', 'alerts', 'overview'],
    ['h', 'card', 'overview'],
    ['escape', 'task', 'overview'],
  ] as const)('%s leads from %s to %s', (key, from, to) => {
    expect(press(calmState({ view: from }), key).view).toBe(to);
  });

  it.each([
    ['overview', 'down', 'realname', 'carddata'],
    ['overview', 'j', 'carddata', 'package'],
    ['overview', 'down', LAST, LAST],
    ['overview', 'k', 'realname', 'realname'],
    ['card', 'up', 'package', 'carddata'],
    ['task', 'right', 'realname', 'carddata'],
    ['task', 'l', LAST, 'realname'],
    ['task', 'h', 'realname', LAST],
  ] as const)('in %s %s goes from %s to %s', (view, key, from, to) => {
    expect(press(calmState({ view, taskType: from }), key).taskType).toBe(to);
  });

  it('picks a row of a list and stays in it', () => {
    const alerts = troubledState({ view: 'alerts' });
    expect(press(alerts, 'up').picked).toBe(0);
    expect(press(alerts, 'down', 'j').picked).toBe(2);
    expect(press({ ...alerts, picked: 199 }, 'down').picked).toBe(199);
    expect(press({ ...alerts, picked: 99 }, 'tab').picked).toBe(0);
  });

  it('lists an alert once that resolves between the readings of firing and of all alerts', () => {
    const before = troubledState({ view: 'alerts' });
    const [firing, alerts] = [before.data.firing.body, before.data.alerts.body];
    if (firing === null || alerts === null) throw new Error('the fixture has alerts');
    const ended = firing.items.slice(0, 1).map((alert) => ({ ...alert, resolved_at: alert.fired_at }));
    const items = [...ended, ...alerts.items];
    const state = stateAfter(before, received('alerts', { ...alerts, items }));
    expect(listedAlerts(state)).toEqual([...firing.items, ...alerts.items]);
    const later = received('firing', { ...firing, items: firing.items.slice(1) });
    expect(listedAlerts(stateAfter(state, later))).toEqual([...firing.items.slice(1), ...items]);
  });

  it('lists an alert that is in only one of the readings of firing and of all alerts', () => {
    const before = troubledState({ view: 'alerts' });
    const [firing, alerts] = [before.data.firing.body, before.data.alerts.body];
    if (firing === null || alerts === null) throw new Error('the fixture has alerts');
    const [first, ...others] = firing.items;
    const all = received('alerts', { ...alerts, items: [...firing.items, ...alerts.items] });
    const gone = received('firing', { ...firing, items: others });
    expect(listedAlerts(stateAfter(before, all, gone))).toEqual([...others, first, ...alerts.items]);
  });

  it('keeps the mark on its alert when another fires', () => {
    const before = troubledState({ view: 'alerts' });
    const { body } = before.data.firing;
    const [first] = body?.items ?? [];
    if (body == null || first === undefined) throw new Error('the fixture has alerts');
    const items = [{ ...first, id: 1_000 }, ...body.items];
    const later = stateAfter(before, received('firing', { ...body, items }));
    expect(listedAlerts(later)[later.picked]).toEqual(first);
  });

  it('picks a failing card, which stays picked while others come and go, and opens it', () => {
    const task = troubledState({ view: 'task', taskType: 'carddata' });
    const picked = press(task, 'down', 'j', 'up');
    const cards = failingCards(task);
    expect(picked.picked).toBe(1);
    const now = (...shown: typeof cards) =>
      received('failures', {
        items: [
          { task_type: 'carddata', reasons: [], carriers: [], failing_cards: shown.length, cards: shown },
        ],
      });
    const [first, second, third] = cards as [Failing, Failing, Failing];
    const later = stateAfter(picked, now(third, first, second));
    expect(press(later, 'return')).toMatchObject({
      view: 'card',
      card: String(second.card_id),
      taskType: 'carddata',
      data: { card: { body: null } },
    });
    // It fails no more: the mark is on another one, and never behind the last.
    expect(stateAfter(later, now(third)).picked).toBe(0);
    expect(press(stateAfter(later, now()), 'return')).toMatchObject({
      view: 'task',
      notice: { text: 'no card of carddata fails' },
    });
    expect(press(picked, 'right')).toMatchObject({ taskType: 'package', picked: 0 });
  });

  it.each([
    ['a stop', { view: 'stops', picked: 1 }, { view: 'card', card: String(Number.MAX_SAFE_INTEGER - 1) }],
    ['a trigger', { view: 'triggers' }, { view: 'task', taskType: 'carddata' }],
    ['an alert of a task type', { view: 'alerts' }, { view: 'task', taskType: 'carddata' }],
    ['a reason of a task type', { view: 'health' }, { view: 'task', taskType: 'carddata' }],
  ] as const)('Enter on %s opens what explains it, and Esc leads back to the row', (_, place, behind) => {
    const at = troubledState({ ...place, card: null });
    const opened = press(at, 'return');
    expect(opened).toMatchObject({ ...behind, picked: 0 });
    expect(press(opened, 'escape')).toMatchObject({ picked: 0, ...place, taskType: at.taskType, card: null });
    expect(press(opened, '1', 'escape')).toMatchObject({ view: 'overview', trail: [] });
  });

  it.each([
    ['stops_held', null, { view: 'stops' }],
    ['no_scheduler', null, { view: 'instances' }],
    ['nothing_polled', 'realname', { view: 'configs' }],
    ['limit_reduced', 'package', { view: 'task', taskType: 'package' }],
    ['database_outage', null, { view: 'health', notice: { text: expect.stringContaining('whole fleet') } }],
  ] as const)('Enter on the reason %s opens the view that says more', (code, task_type, behind) => {
    const [reason] = TROUBLED.health_reasons;
    if (reason === undefined) throw new Error('the fixture has reasons');
    const overview = { ...TROUBLED, health_reasons: [{ ...reason, code, task_type }] };
    const state = stateAfter(troubledState({ view: 'health' }), received('overview', overview));
    expect(press(state, 'return')).toMatchObject(behind);
  });

  it('Esc leads back from card to card, past a search, and ends at the overview', () => {
    const at = troubledState({ view: 'stops', card: null });
    const searched = press(at, 'return', '/', '7', 'return');
    expect(searched).toMatchObject({ view: 'card', card: '7' });
    const first = press(searched, 'escape');
    expect(first).toMatchObject({ view: 'card', card: String(Number.MAX_SAFE_INTEGER) });
    expect(first.data.card.body).toBeNull();
    expect(press(first, 'escape')).toMatchObject({ view: 'stops' });
    expect(press(first, 'escape', 'escape')).toMatchObject({ view: 'overview' });
  });

  it('reads stops only while their view is open', () => {
    expect(VIEWS.filter((view) => sourcesOf(emptyState({ view })).includes('stops'))).toEqual(['stops']);
  });

  it.each(VIEWS)('%s always reads the overview, which shows whether the daemon is there', (view) => {
    expect(sourcesOf(emptyState({ view }))).toContain('overview');
    expect(sourcesOf(emptyState({ view, columns: 200, rows: 60 }))).toContain('overview');
  });

  it('q ends it, Ctrl-C from everywhere', () => {
    expect(press(calmState(), 'q').exit).toBe('quit');
    for (const given of [{}, { help: true }])
      expect(press(calmState(given), 'ctrl-c').exit).toBe('interrupted');
    expect(press(calmState(), '/', 'ctrl-c').exit).toBe('interrupted');
    expect(press(calmState(), 'R', 'ctrl-c').exit).toBe('interrupted');
  });

  it('is suspended by Ctrl-Z from everywhere, and a question stays open', () => {
    for (const given of [{}, { help: true }])
      expect(press(calmState(given), 'ctrl-z', 'ctrl-z').yields).toBe(2);
    expect(press(calmState(), '/', '4', 'ctrl-z')).toMatchObject({ yields: 1, prompt: { text: '4' } });
    expect(press(calmState(), 'R', 'ctrl-z')).toMatchObject({ yields: 1, confirm: expect.anything() });
  });

  it('opens a card by what is typed or pasted', () => {
    const typed = stateAfter(calmState({ card: null }), ...keys('/'), ...typing('4x2'), ...keys('return'));
    expect(typed).toMatchObject({
      view: 'overview',
      prompt: { problem: 'a card id or an ICCID has digits only' },
    });
    const mended = press(typed, 'backspace', 'backspace', '3', 'return');
    expect(mended).toMatchObject({ view: 'card', card: '43', prompt: null, data: { card: { body: null } } });
    const paste: Event = { type: 'pasted', text: '\x1b[2J89860012345678901234\r\n' };
    const pasted = stateAfter(press(calmState(), '/'), paste);
    expect(pasted.prompt?.text).toBe('[2J89860012345678901234');
    expect(
      stateAfter(press(calmState(), '/'), { ...paste, text: '89860012345678901234\n' }, ...keys('return'))
        .card,
    ).toBe('89860012345678901234');
    expect(press(calmState(), '/', '1', 'ctrl-u', 'return')).toMatchObject({
      view: 'overview',
      prompt: null,
    });
  });
});

describe('a paste', () => {
  it.each([{}, { help: true }, press(calmState(), 'R')])('presses no key', (given) => {
    const state = calmState(given);
    expect(stateAfter(state, { type: 'pasted', text: 'L1\ryqqq' })).toEqual(state);
  });
});

describe('answers', () => {
  it('are kept when later ones fail', () => {
    const failed: Event = { type: 'failed', source: 'overview', problem: 'gone', nextTryAtMs: 9 };
    const state = stateAfter(calmState(), failed);
    expect(state.data.overview).toMatchObject({ body: CALM, problem: 'gone' });
    expect(state.nextTryAtMs).toBe(9);
    expect(stateAfter(state, received('history', state.data.history.body as never)).nextTryAtMs).toBe(9);
    const back = stateAfter(state, received('overview', CALM, 10));
    expect(back).toMatchObject({ nextTryAtMs: null, nowMs: 10, data: { overview: { problem: null } } });
  });

  it('answers of one source that fails leave the others alone', () => {
    const failed: Event = { type: 'failed', source: 'history', problem: 'gone', nextTryAtMs: 9 };
    expect(stateAfter(calmState(), failed)).toMatchObject({
      nextTryAtMs: null,
      data: { history: { problem: 'gone' } },
    });
  });
});

describe('actions', () => {
  const held = stateAfter(calmState({ view: 'stops' }), received('stops', stopsBody('held', STOP)));
  const jumped = {
    ...CALM,
    stops: { ...CALM.stops, mode: 'observe' as const },
    health_reasons: [{ ...TROUBLED.health_reasons[0], code: 'usage_jump' }],
  } as typeof CALM;
  const paused = stateAfter(
    calmState(),
    received('overview', { ...CALM, pauses: troubledState().data.overview.body?.pauses ?? [] }),
  );

  it.each<[string, State, string[], { title: string; command: string; effects?: RegExp }]>([
    [
      'a limit',
      calmState(),
      ['L', ...'150', 'return'],
      {
        title: 'Limit of realname: 100 -> 150',
        command: 'cardpoll concurrency set realname 150',
        effects: /1,000,000 cards/,
      },
    ],
    [
      'a reset',
      calmState({ taskType: 'package' }),
      ['R'],
      {
        title: 'Running count of package: 60 -> 0',
        command: 'cardpoll concurrency reset package',
        effects: /60 cards/,
      },
    ],
    [
      'a pause',
      calmState({ view: 'task' }),
      ['P', ...'10m', 'return'],
      {
        title: 'Pause realname for 10m, on every instance',
        command: 'cardpoll pause realname --for 600s',
        effects: /1,000,000 cards/,
      },
    ],
    [
      'a pause of the task type that stops cards',
      calmState({ view: 'task', taskType: 'package' }),
      ['P', ...'10m', 'return'],
      {
        title: 'Pause package for 10m, on every instance',
        command: 'cardpoll pause package --for 600s',
        effects: /No card is stopped or resumed meanwhile/,
      },
    ],
    [
      'a pause in place of that of another operator',
      stateAfter(
        calmState(),
        received('overview', {
          ...CALM,
          pauses:
            paused.data.overview.body?.pauses.map((one) => ({ ...one, source: 'operator' as const })) ?? [],
        }),
      ),
      ['P', ...'10m', 'return'],
      {
        title: 'Pause realname for 10m, on every instance',
        command: 'cardpoll pause realname --for 600s',
        effects: /Replaces the pause of .*, else over in 7d/,
      },
    ],
    [
      'going on',
      paused,
      ['G'],
      { title: 'Resume realname: paused -> polled', command: 'cardpoll resume realname', effects: /in 7d/ },
    ],
    [
      'a config',
      calmState({ view: 'configs' }),
      ['E'],
      {
        title: `Config 3 "${CONFIG.name}": enabled -> disabled`,
        command: 'cardpoll configs disable 3',
        effects: /1,000,000 cards are not polled for carddata until it is enabled again/,
      },
    ],
    [
      'an interval',
      calmState({ view: 'configs' }),
      ['I', ...'15m', 'return'],
      {
        title: `Interval of config 3 "${CONFIG.name}": 30m -> 15m`,
        command: 'cardpoll configs set 3 --interval-seconds 900',
        effects: /556 polls a second -> 1,111 polls a second/,
      },
    ],
    [
      'a trigger',
      calmState({ view: 'triggers' }),
      ['X'],
      {
        title: 'Trigger 5f0c2a9be17d4c33: running -> cancelled',
        command: 'cardpoll trigger cancel 5f0c2a9be17d4c33',
        effects: /30,000,000 cards/,
      },
    ],
    [
      'an alert',
      troubledState({ view: 'alerts', picked: 7 }),
      ['A'],
      {
        title: expect.stringMatching(/^Alert 7 ".*": not acknowledged -> acknowledged by you$/s),
        command: 'cardpoll alerts ack 7',
        effects: /Everyone sees/,
      },
    ],
    [
      'the rule of an alert',
      troubledState({ view: 'alerts' }),
      ['S', ...'2h', 'return'],
      {
        title: expect.stringMatching(/^Rule 1 ".*": notifies -> silent for 2h$/s),
        command: 'cardpoll alerts silence 1 --for 7200s',
        effects: /send no notifications/,
      },
    ],
    [
      'a card',
      troubledState({ view: 'card', taskType: 'package' }),
      ['T'],
      {
        title: 'Poll card 42 for package now',
        command: 'cardpoll trigger single --card-id 42 --task package',
        effects: /1 card/,
      },
    ],
    [
      'a card that fails',
      troubledState({ view: 'task', taskType: 'package', picked: 3 }),
      ['T'],
      {
        title: 'Poll card 9007199254740988 for package now',
        command: 'cardpoll trigger single --card-id 9007199254740988 --task package',
        effects: /1 card/,
      },
    ],
    [
      'the mode of stops',
      calmState({ view: 'stops' }),
      ['M', ..."it's too many", 'return'],
      {
        title: 'Mode of stops: enforce -> observe',
        command: "cardpoll stops mode observe --reason 'it'\\''s too many'",
        effects: /No card is stopped from then on.* Reason: it's too many$/,
      },
    ],
    [
      'the mode of stops after a jump',
      stateAfter(calmState({ view: 'stops' }), received('overview', jumped)),
      ['M', ...'right', 'return'],
      {
        title: 'Mode of stops: observe -> enforce',
        command: "cardpoll stops mode enforce --reason 'right'",
        effects: /within the budget.* accepts a jump of the readings as right: /,
      },
    ],
    [
      'a held stop',
      held,
      ['R', ...'checked', 'return'],
      {
        title: 'Stop of card 42: held -> released',
        command: "cardpoll stops release 42 --reason 'checked'",
        effects: /used 1,024.25 MB of 1,000 MB in 2026-11.* judged again/,
      },
    ],
    [
      'a held stop that is wrong',
      held,
      ['D', ...'test card', 'return'],
      {
        title: 'Stop of card 42: dismissed',
        command: "cardpoll stops dismiss 42 --reason 'test card'",
        effects: /in 2026-11.* not stopped in that month/,
      },
    ],
    [
      'all held stops',
      troubledState({ view: 'stops' }),
      ['A', ...'checked', 'return'],
      {
        title: 'All held stops, 100,000: held -> released',
        command: "cardpoll stops release --all --reason 'checked'",
        effects: /judged again/,
      },
    ],
  ])(
    'on %s show what they would do, and do it after y alone',
    async (_, state, pressed, { title, command, effects }) => {
      const asked = press(state, ...pressed);
      expect(asked.confirm).toMatchObject({ title, command });
      expect(asked.confirm?.effects.join(' ')).toMatch(effects ?? /./);
      expect(asked.job).toBeNull();
      for (const key of ['n', 'escape'])
        expect(press(asked, key)).toMatchObject({ confirm: null, job: null });
      expect(press(asked, 'x', 'return', ' ').confirm).toBe(asked.confirm);
      const agreed = press(withOutcome(asked), 'y');
      expect(agreed.confirm).toBeNull();
      expect(await agreed.job?.(NO_CLIENT)).toEqual({ type: 'done', text: title });
    },
  );

  it('a cleanup is counted before it is asked about', async () => {
    const counting = press(calmState(), 'C');
    expect(counting.confirm).toBeNull();
    const cleanupPreview = async () => ({ body: { items: [], total_rows: 5 } });
    const planned = (await counting.job?.({ cleanupPreview } as unknown as ApiClient)) as Event;
    const plan = { title: 'Remove 5 expired rows permanently; no card', effects: [] };
    expect(reduce(counting, planned)).toMatchObject({ confirm: plan, job: null });
    // It came late: somebody types, and the y is meant for something else.
    expect(reduce(press(counting, '/'), planned)).toMatchObject({
      confirm: null,
      job: null,
      prompt: { question: { text: 'Card id or ICCID:' } },
    });
  });

  it.each([
    ['the limit it has', calmState(), ['L', ...'100'], 'it is 100 already'],
    ['a limit out of bounds', calmState(), ['L', '0'], '0 is out of bounds (1 to 100000)'],
    ['no number', calmState(), ['L', ...'1e3'], '"1e3" is not a whole number, 1 to 100000'],
    ['no duration', calmState(), ['P', 'x'], '"x" is not a duration'],
    ['the interval it has', calmState({ view: 'configs' }), ['I', ...'30m'], 'it is 30m already'],
  ])('%s is refused where it is typed', (_, state, pressed, problem) => {
    const answered = press(state, ...pressed, 'return');
    expect(answered.confirm).toBeNull();
    expect(answered.prompt?.problem).toContain(problem);
  });

  it.each([
    [
      'a trigger that is over',
      stateAfter(
        calmState({ view: 'triggers' }),
        received('triggers', {
          items: [{ ...TRIGGER, status: 'completed' }],
          page: 1,
          page_size: 1,
          total: 1,
        }),
      ),
      'X',
      /has already ended/,
    ],
    ['no pause', calmState(), 'G', /realname is not paused/],
    ['no card that fails', calmState({ view: 'task' }), 'T', /no card of realname fails/],
    ['an alert that is over', troubledState({ view: 'alerts', picked: 150 }), 'A', /alert 1050 is over/],
    ['no alert', calmState({ view: 'alerts' }), 'S', /nothing is picked/],
    [
      'an empty list',
      emptyState({
        ...calmState({ view: 'configs' }),
        data: { ...calmState().data, configs: emptyState().data.configs },
      }),
      'E',
      /nothing is picked/,
    ],
    [
      'a stop that is not held',
      stateAfter(calmState({ view: 'stops' }), received('stops', stopsBody('observed', STOP))),
      'R',
      /the stop of card 42 is observed, not held/,
    ],
    ['no stop', calmState({ view: 'stops' }), 'D', /nothing is picked/],
    ['no held stop', calmState({ view: 'stops' }), 'A', /no stop is held/],
    [
      'no mode',
      stateAfter(
        calmState({ view: 'stops' }),
        received('overview', { ...CALM, stops: { ...CALM.stops, mode: null } }),
      ),
      'M',
      /the mode of stops is not known/,
    ],
  ])('with %s say so', (_, state, key, notice) => {
    const after = press(state, key);
    expect(after.confirm).toBeNull();
    expect(after.notice?.text).toMatch(notice);
  });

  it('are refused with a token that only reads, without data, and while the daemon does not answer', () => {
    expect(press(calmState({ readOnly: true }), 'L')).toMatchObject({
      prompt: null,
      notice: { tone: 'red' },
    });
    expect(refusalOf(emptyState())).toMatch(/nothing is known/);
    expect(press(emptyState(), 'R').confirm).toBeNull();
    expect(press(calmState({ nowMs: 60_000 }), 'R').confirm).toBeNull();
    // It went away between the question and the answer.
    const asked = press(calmState(), 'R');
    expect(press({ ...asked, nowMs: 60_000 }, 'y')).toMatchObject({ job: null, confirm: null });
  });

  it('on stops need a reason, and keep to the stop that was picked while the list moves', () => {
    const list = (...ids: number[]) =>
      received('stops', stopsBody('held', ...ids.map((card_id) => ({ card_id }))));
    const asked = press(stateAfter(calmState({ view: 'stops' }), list(1, 2, 3)), 'down', 'R');
    expect(press(asked, 'return')).toMatchObject({ prompt: null, confirm: null });
    const moved = stateAfter(asked, list(9, 8, 2));
    expect(moved.picked).toBe(2);
    const gone = stateAfter(moved, list(9));
    expect(gone.picked).toBe(0);
    expect(press(gone, ...'why', 'return').confirm?.title).toBe('Stop of card 2: held -> released');
  });

  it('on an alert keep to the one that was picked while others fire', () => {
    const asked = press(troubledState({ view: 'alerts' }), 'S', ...'2h');
    const firing = asked.data.firing.body;
    const [first] = firing?.items ?? [];
    if (firing === null || first === undefined) throw new Error('the fixture has alerts');
    const items = [{ ...first, id: 9_999, rule_id: 99 }, ...firing.items];
    const moved = stateAfter(asked, received('firing', { ...firing, items }));
    expect(press(moved, 'return').confirm?.command).toBe('cardpoll alerts silence 1 --for 7200s');
  });

  it('take a reason as long as the daemon does', () => {
    const text = 'x'.repeat(REASON_CHARS.max + 1);
    const asked = stateAfter(press(held, 'R'), { type: 'pasted', text });
    expect(asked.prompt?.text).toHaveLength(REASON_CHARS.max);
    expect(press(asked, 'return').confirm?.title).toMatch(/card 42/);
    // A wide character has two of them.
    const wide = stateAfter(press(held, 'R'), { type: 'pasted', text: '🦊'.repeat(REASON_CHARS.max) });
    expect(press(wide, 'return').prompt?.problem).toContain(REASON_RULE);
  });

  it('are not begun twice', () => {
    const asked = press(calmState(), 'R');
    const begun = press(asked, 'y');
    expect(press({ ...begun, confirm: asked.confirm }, 'y').job).toBe(begun.job);
    const counting = press(calmState(), 'C');
    expect(press(counting, 'C')).toBe(counting);
  });

  it('changes show their result, and a refusal shows that the token only reads', () => {
    expect(stateAfter(calmState(), { type: 'done', text: 'done' }).notice).toEqual({
      text: 'done',
      tone: 'green',
    });
    const refused = stateAfter(calmState(), { type: 'refused', problem: 'no', readOnly: true });
    expect(refused).toMatchObject({ readOnly: true, job: null, notice: { text: 'no', tone: 'red' } });
  });
});

describe('the keymap', () => {
  it('changes something with uppercase keys only, and every uppercase key does', () => {
    for (const { keys: names, changes } of KEYMAP)
      for (const name of names) expect([name, /^[A-Z]$/.test(name)]).toEqual([name, changes === true]);
  });

  it.each(VIEWS)('gives a key one meaning in %s, whatever is open', (view) => {
    const states = [calmState({ view }), calmState({ view, help: true }), press(calmState({ view }), '/')];
    for (const state of states) {
      const names = bindingsOf(state).flatMap(({ keys: own }) => own);
      expect(names).toHaveLength(new Set(names).size);
    }
  });
});
