// The filter and the order of lists: which rows are shown, what keys act on, and what the title says.
import { describe, expect, it } from 'vitest';
import { LIST_VIEWS, pickedOf, rowsOf } from '../../../src/dashboard/lists.ts';
import type { Bodies, State } from '../../../src/dashboard/state.ts';
import { loadWidths, widthOf } from '../../../src/terminal/width.ts';
import { CONFIG } from '../cli/bodies.ts';
import { linesOf, screenOf } from './screen.ts';
import {
  calmState,
  HOSTILE,
  keys,
  received,
  stateAfter,
  stopsBody,
  troubledState,
  typing,
} from './states.ts';

await loadWidths();

const NAMES = ['night shift', 'Day shift', 'spare', 'overnight'];
const INTERVALS = [3_600, 60, 86_400, 900];

function configs(given: Partial<State> = {}): State {
  const items = NAMES.map((name, i) => ({ ...CONFIG, id: i + 1, name, interval_seconds: INTERVALS[i] ?? 1 }));
  return stateAfter(calmState({ view: 'configs', columns: 120, ...given }), received('configs', { items }));
}
const press = (state: State, ...names: string[]) => stateAfter(state, ...keys(...names));
const filtered = (state: State, text: string) =>
  stateAfter(state, ...keys('/'), ...typing(text), ...keys('return'));
const ids = (state: State) => rowsOf(state, 'configs').map(({ id }) => id);

describe('the filter', () => {
  it.each([
    ['night', [1, 4]],
    ['SHIFT', [1, 2]],
    ['shift day', [2]],
    // As it is shown, and as it would be typed.
    ['1d', [3]],
    ['86400', [3]],
    ['nothing has this', []],
    ['  ', [1, 2, 3, 4]],
  ] as const)('%j leaves the rows with every word of it', (text, shown) => {
    expect(ids(filtered(configs(), text))).toEqual(shown);
  });

  it('works while it is typed, and says how many it leaves', () => {
    const typed = stateAfter(configs(), ...keys('/'), ...typing('shift'));
    expect(screenOf(typed)).toMatch(/^4 configs {2}2 of 4 {2}\/shift *$/m);
    expect(screenOf(typed)).toMatch(/^Filter, words of a row: shift▏ *$/m);
    expect(ids(press(typed, 'ctrl-u'))).toHaveLength(4);
    expect(ids(press(typed, 'escape'))).toHaveLength(4);
  });

  it('goes with Esc, which leads back after that alone', () => {
    const opened = stateAfter(configs(), ...keys('/'), ...typing('day'), ...keys('return', 'escape'));
    expect(opened).toMatchObject({ view: 'configs', filter: '' });
    expect(press(opened, 'escape').view).toBe('overview');
  });

  it('is not taken into another view, and is there again on the way back', () => {
    const stops = stateAfter(
      calmState({ view: 'stops', columns: 120 }),
      received('stops', stopsBody('held', {}, { card_id: 43 }, { card_id: 430 })),
    );
    const card = press(filtered(stops, '43'), 'down', 'return');
    expect(card).toMatchObject({ view: 'card', card: '430', filter: '' });
    expect(press(card, 'escape')).toMatchObject({ view: 'stops', filter: '43', picked: 1 });
    expect(press(filtered(stops, '43'), 'tab').filter).toBe('');
  });

  it('leaves the mark on its row, and keys act on the row that is shown', () => {
    const third = press(configs(), 'down', 'down', 'down');
    const state = filtered(third, 'night');
    expect(pickedOf(state, 'configs')?.id).toBe(4);
    expect(press(state, 'E').confirm?.title).toContain('Config 4 "overnight"');
    expect(pickedOf(press(state, 'escape'), 'configs')?.id).toBe(4);
    expect(press(filtered(configs(), 'no such'), 'E').notice?.text).toContain('the list is empty');
  });

  it('takes a paste without its controls, and so much of it', () => {
    const text = `\x1b[2Jday\r\n${'x'.repeat(5_000)}`;
    const { filter, view, confirm } = stateAfter(press(configs(), '/'), { type: 'pasted', text });
    expect(filter).toMatch(/^\[2Jdayx+$/);
    expect(filter.length).toBeLessThanOrEqual(40);
    expect([view, confirm]).toEqual(['configs', null]);
  });

  it('says that only the rows of a page are searched', () => {
    const listed = { items: configs().data.configs.body?.items ?? [], total: 340 };
    const state = stateAfter(configs(), received('configs', listed));
    expect(screenOf(filtered(state, 'shift'))).toMatch(/2 of 4, 336 more not listed {2}\/shift/);
    expect(screenOf(state)).not.toContain('not listed');
    expect(screenOf(filtered(configs(), 'shift'))).not.toContain('not listed');
  });

  it.each(LIST_VIEWS)('the filter of %s works by the same keys, and fits with the longest values', (view) => {
    const state = filtered(troubledState({ view, columns: 80, rows: 24 }), HOSTILE.slice(-9));
    expect(screenOf(state)).toMatch(/ \d+ of \d+/);
    for (const line of linesOf(state)) expect(widthOf(line)).toBeLessThanOrEqual(80);
    expect(press(state, 's').sort).toEqual({ column: 0, isReversed: false });
  });

  it('leaves / to the card where there is no list, and c to it everywhere', () => {
    expect(press(calmState(), '/').prompt?.question.text).toContain('Card id');
    expect(press(configs(), 'c').prompt?.question.text).toContain('Card id');
  });
});

describe('the order', () => {
  const header = (state: State) => screenOf(state).match(/by ([A-Z ]+ [↑↓])/)?.[1] ?? null;

  it('is that of the next column with every s, and of the daemon after the last', () => {
    const headers: (string | null)[] = [];
    let state = configs();
    do {
      state = press(state, 's');
      headers.push(header(state));
    } while (state.sort !== null && headers.length < 99);
    expect(headers.slice(0, 3)).toEqual(['ID ↑', 'NAME ↑', 'TASK ↑']);
    expect(headers.at(-1)).toBe(null);
    expect(ids(state)).toEqual([1, 2, 3, 4]);
  });

  it.each([
    ['names by their letters', 1, [2, 1, 4, 3]],
    ['durations by their length', 5, [2, 4, 1, 3]],
  ] as const)('sorts %s, and r turns it around', (_, column, order) => {
    const state = configs({ sort: { column, isReversed: false } });
    expect(ids(state)).toEqual(order);
    expect(ids(press(state, 'r'))).toEqual([...order].reverse());
  });

  it('keeps the mark on its row', () => {
    const sorted = press({ ...configs(), picked: 1 }, 's', 's');
    expect(pickedOf(sorted, 'configs')?.id).toBe(2);
    const later = stateAfter(sorted, received('configs', sorted.data.configs.body as Bodies['configs']));
    expect(pickedOf(later, 'configs')?.id).toBe(2);
  });
});
