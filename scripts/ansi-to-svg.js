// Screens with their colours (as `tmux capture-pane -e` prints them) as SVG, one or an animation. Used by pictures.js. Knows the sequences that the
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

/** @typedef {{ columns: number, rows: number, title: string }} Frame its title is said to whoever cannot see the picture */

/** @param {string} screen @param {Frame} frame */
export function ansiToSvg(screen, frame) {
  return svgOf(frame, '', elementsOf(screen, frame.rows));
}

/**
 * Screens one after the other, again and again, without a script: GitHub shows it as a picture. What several screens have in common is
 * there once. Readers who want no motion see the first.
 * @param {readonly { screen: string, ms: number }[]} shots
 * @param {Frame} frame
 */
export function ansiToAnimation(shots, frame) {
  const wholeMs = shots.reduce((sum, { ms }) => sum + ms, 0);
  /** @type {Map<string, Set<number>>} element -> the shots that have it, in the order of the lines */
  const seen = new Map();
  for (const [shot, { screen }] of shots.entries())
    for (const element of elementsOf(screen, frame.rows))
      seen.set(element, (seen.get(element) ?? new Set()).add(shot));
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const [element, those] of seen) {
    const key = shots.map((_, shot) => (those.has(shot) ? '1' : '0')).join('');
    groups.set(key, [...(groups.get(key) ?? []), element]);
  }
  const rules = [...groups.keys()].map((key) => ruleOf(key, shots, wholeMs));
  const style = `<style>${rules.join('')}@media(prefers-reduced-motion:reduce){g[class]{animation:none}}</style>\n`;
  const bodies = [...groups].map(([key, elements]) => `<g class="s${key}">\n${elements.join('\n')}\n</g>`);
  return svgOf(frame, style, bodies);
}

/**
 * Of what some shots have: `0110` is in the second and third of four.
 * @param {string} key
 * @param {readonly { ms: number }[]} shots
 * @param {number} wholeMs
 */
function ruleOf(key, shots, wholeMs) {
  if (!key.includes('0')) return '';
  let fromMs = 0;
  const steps = shots.map(({ ms }, shot) => {
    const percent = (100 * fromMs) / wholeMs;
    fromMs += ms;
    return `${percent.toFixed(2)}%{visibility:${key[shot] === '1' ? 'visible' : 'hidden'}}`;
  });
  const first = key.startsWith('1') ? 'visible' : 'hidden';
  return `.s${key}{visibility:${first};animation:s${key} ${wholeMs / 1_000}s step-end infinite}@keyframes s${key}{${steps.join('')}}`;
}

/** @param {Frame} frame @param {string} style @param {readonly string[]} elements */
function svgOf({ columns, rows, title }, style, elements) {
  const width = columns * CELL.width + 2 * PADDING;
  const height = rows * CELL.height + 2 * PADDING;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(title)}</title>
${style}<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">
${elements.join('\n')}
</g>
</svg>
`;
}

/** Each stretch of one style as SVG. @param {string} screen @param {number} rows */
function elementsOf(screen, rows) {
  let style = PLAIN;
  return screen
    .split('\n')
    .slice(0, rows)
    .flatMap((line, row) => {
      const parsed = runsOf(line, style);
      style = parsed.style;
      return parsed.runs.map((run) => runSvg(run, row));
    })
    .filter((text) => text !== '');
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
  const pieces = piecesOf(text).map(({ piece, at, places }) => {
    const where =
      places === null
        ? `x="${xOf(at)}" y="${y + 14}" textLength="${widthOf([...piece].length)}"`
        : `x="${places.map(xOf).join(' ')}" y="${y + 14}"`;
    return `<text ${where} ${look}>${escaped(piece)}</text>`;
  });
  return [box, ...pieces].join('');
}

/** Words of ASCII, and all other signs together with a place for each, without what is blank. @param {string} text */
function piecesOf(text) {
  /** @type {{ piece: string, at: number, places: number[] | null }[]} */
  const words = [];
  /** @type {number[]} */
  const places = [];
  let signs = '';
  let at = 0;
  for (const piece of text.match(/[\x21-\x7e]+|[^\x21-\x7e]/gu) ?? []) {
    if (/[\x21-\x7e]/.test(piece)) words.push({ piece, at, places: null });
    else if (!BLANK.has(piece)) {
      signs += piece;
      places.push(at);
    }
    at += [...piece].length;
  }
  return signs === '' ? words : [...words, { piece: signs, at: places[0] ?? 0, places }];
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
