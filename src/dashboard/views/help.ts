// The help page and the help line, both made from the keymap.
import { widthOf } from '../../cli/output/width.ts';
import { type Binding, bindingsOf, KEYMAP, refusalOf } from '../keymap.ts';
import { EMPTY, fitted, type Line, lineWidth, plain, type Room, sideBySide, span } from '../layout.ts';
import type { State } from '../state.ts';

const KEY_COLUMNS = 11;
const COLUMN_COLUMNS = 36;

/** All keys. Those that change something have a heading of their own. */
export function helpLines({ columns, rows }: Room): Line[] {
  const keys = KEYMAP.filter(({ mode }) => mode === undefined);
  const lines = [
    plain('Keys', 'bold'),
    ...joined(keys.filter(({ changes }) => changes !== true)).map(bindingLine),
    EMPTY,
    plain('Keys that change something, after asking', 'bold'),
    ...keys.filter(({ changes }) => changes === true).map(bindingLine),
  ];
  if (lines.length <= rows || columns < 2 * COLUMN_COLUMNS) return lines.slice(0, rows);
  const half = Math.ceil(lines.length / 2);
  return sideBySide(lines.slice(0, half), lines.slice(half), COLUMN_COLUMNS).slice(0, rows);
}

/** Keys with the same meaning share a line. */
function joined(bindings: readonly Binding[]): readonly Binding[] {
  const byLabel = new Map<string, Binding>();
  for (const one of bindings) {
    const same = byLabel.get(one.label);
    byLabel.set(one.label, same === undefined ? one : { ...same, shown: `${same.shown}, ${one.shown}` });
  }
  return [...byLabel.values()];
}

function bindingLine({ shown, label, views, changes }: Binding): Line {
  const where = views === undefined || changes !== true ? '' : `  in ${views.join(', ')}`;
  return [
    span(`${shown}${' '.repeat(Math.max(1, KEY_COLUMNS - widthOf(shown)))}`, 'accent'),
    span(label),
    span(where, 'dim'),
  ];
}

/** As many keys as fit. Those that change something are grey while they are refused. */
export function helpLine(state: State, columns: number): Line {
  const isRefused = refusalOf(state) !== null;
  let line: Line = [];
  for (const { shown, label, changes } of bindingsOf(state).filter(({ inLine }) => inLine?.(state))) {
    const grey = changes === true && isRefused;
    const part: Line = [
      ...(line.length === 0 ? [] : [span('  ')]),
      span(shown, grey ? 'dim' : 'accent'),
      span(` ${label}`, grey ? 'dim' : undefined),
    ];
    if (lineWidth(line) + lineWidth(part) > columns) break;
    line = [...line, ...part];
  }
  return fitted(line, columns);
}
