// A screen with its colours (as `tmux capture-pane -e` prints it) as SVG. Used by pictures.js. Knows the sequences that the
// dashboard uses, and refuses others.

const CELL = { width: 8.4, height: 18 };
const PADDING = 12;
const BACKGROUND = '#10141a';
const FOREGROUND = '#c9d1d9';
const DIM = '#7d8590';
/** The sixteen colours of a terminal, bright ones from 8 on. */
const COLOURS = [
  ...['#0d1117', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
  ...['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#ffffff'],
];
/** Darker than text in the same colour, so that text can be read on them. */
const BACKGROUNDS = ['#0d1117', '#b62324', '#2ea043', '#bb8009', '#1f6feb', '#8957e5', '#1b7c83', '#b1bac4'];
/** A space, and the braille sign without a dot. */
const BLANK = new Set([' ', '\u2800']);
/** @typedef {{ colour: string | null, bold: boolean, dim: boolean, inverse: boolean, background: string | null }} Style */
/** @typedef {{ text: string, column: number, style: Style }} Run */

/** @type {Style} */
const PLAIN = { colour: null, bold: false, dim: false, inverse: false, background: null };

const ESCAPE = String.fromCharCode(27);
const STYLES = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`);
const STYLE = new RegExp(`^${ESCAPE}\\[([\\d;]*)m$`);

/**
 * @param {string} screen
 * @param {{ columns: number, rows: number, title: string }} frame its title is said to whoever cannot see the picture
 */
export function ansiToSvg(screen, { columns, rows, title }) {
  const width = columns * CELL.width + 2 * PADDING;
  const height = rows * CELL.height + 2 * PADDING;
  let style = PLAIN;
  const texts = screen
    .split('\n')
    .slice(0, rows)
    .flatMap((line, row) => {
      const parsed = runsOf(line, style);
      style = parsed.style;
      return parsed.runs.map((run) => runSvg(run, row));
    });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">
${texts.filter((text) => text !== '').join('\n')}
</g>
</svg>
`;
}

/**
 * Stretches of one style, with the column each begins at.
 * @param {string} line
 * @param {Style} before
 */
function runsOf(line, before) {
  let style = before;
  let column = 0;
  /** @type {Run[]} */
  const runs = [];
  for (const part of line.split(STYLES)) {
    const codes = STYLE.exec(part);
    if (codes !== null) style = styled(style, codes[1] ?? '');
    else if (part !== '') {
      if (part.includes(ESCAPE)) throw new Error(`unknown sequence in ${JSON.stringify(part)}`);
      runs.push({ text: part, column, style });
      column += [...part].length;
    }
  }
  return { runs, style };
}

/** @param {Style} before @param {string} codes @returns {Style} */
function styled(before, codes) {
  let style = before;
  for (const code of codes.split(';').map(Number)) style = { ...style, ...changeOf(code) };
  return style;
}

/** @param {number} code @returns {Partial<Style>} */
function changeOf(code) {
  if (code === 0) return PLAIN;
  if (code === 1) return { bold: true };
  if (code === 2) return { dim: true };
  if (code === 22) return { bold: false, dim: false };
  if (code === 7) return { inverse: true };
  if (code === 27) return { inverse: false };
  if (code === 39) return { colour: null };
  if (code === 49) return { background: null };
  if (code >= 40 && code <= 47) return { background: BACKGROUNDS[code - 40] ?? null };
  if (code >= 30 && code <= 37) return { colour: COLOURS[code - 30] ?? null };
  if (code >= 90 && code <= 97) return { colour: COLOURS[code - 90 + 8] ?? null };
  throw new Error(`unknown style ${code}`);
}

/**
 * Words have a width, and signs beyond ASCII a place of their own: no font moves what stands beside them.
 * @param {Run} run
 * @param {number} row
 */
function runSvg({ text, column, style }, row) {
  /** @param {number} i */
  const xOf = (i) => (PADDING + (column + i) * CELL.width).toFixed(1);
  /** @param {number} signs */
  const widthOf = (signs) => (signs * CELL.width).toFixed(1);
  const y = PADDING + row * CELL.height;
  const colour = style.colour ?? (style.dim ? DIM : FOREGROUND);
  const fill = style.inverse ? colour : style.background;
  const box =
    fill === null
      ? ''
      : `<rect x="${xOf(0)}" y="${y}" width="${widthOf([...text].length)}" height="${CELL.height}" fill="${fill}"/>`;
  const look = `fill="${style.inverse ? BACKGROUND : colour}"${style.bold ? ' font-weight="bold"' : ''}`;
  const pieces = piecesOf(text).map(
    ({ piece, at, signs }) =>
      `<text x="${xOf(at)}" y="${y + 14}" textLength="${widthOf(signs)}" ${look}>${escaped(piece)}</text>`,
  );
  return [box, ...pieces].join('');
}

/** Words of ASCII, and every other sign by itself, without what is blank. @param {string} text */
function piecesOf(text) {
  const pieces = [];
  let at = 0;
  for (const piece of text.match(/[\x21-\x7e]+|[^\x21-\x7e]/gu) ?? []) {
    const signs = [...piece].length;
    if (!BLANK.has(piece)) pieces.push({ piece, at, signs });
    at += signs;
  }
  return pieces;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
