// Additional lists for a large screen on a wall: why polls fail and for which carriers, the latest stops, the latest changes and
// their authors. Used by the overview.
import { Box } from 'ink';
import type { AuditBody } from '../../resources/audit.ts';
import type { FailuresBody } from '../../resources/stats.ts';
import type { StopBody } from '../../resources/stops.ts';
import { count, percent, relative } from '../format.ts';
import { type Line, missing, plain, type Room, type SpanColumn, span, tableLines } from '../layout.ts';
import { dataTimeMs, type State } from '../state.ts';
import { PANEL_COLUMNS, PANEL_ROWS, Panel, Rows } from '../ui.tsx';

/** Rows of a list, with its header. */
const LIST_ROWS = { least: 4, most: 8 };
const PANELS = 3;

/** Three lists side by side, as high as the longest of them; null: too little room. */
export function wall(state: State, { columns, rows: space }: Room) {
  const most = Math.min(LIST_ROWS.most, space - PANEL_ROWS);
  if (most < LIST_ROWS.least) return null;
  const width = Math.floor(columns / PANELS);
  const { failures, latest, audit } = state.data;
  const room = { columns: width - PANEL_COLUMNS, rows: most, selected: null };
  const nowMs = dataTimeMs(state);
  const list = <Item,>(
    what: string,
    { body, problem }: { readonly body: { items: readonly Item[] } | null; readonly problem: string | null },
    wanted: readonly SpanColumn<Item>[],
  ): Line[] => {
    if (body === null) return [missing(what, problem)];
    return body.items.length === 0 ? [plain('none', 'dim')] : tableLines(body.items, wanted, room);
  };
  const reasons = {
    ...failures,
    body: failures.body === null ? null : { items: failedParts(failures.body) },
  };
  const panels: readonly (readonly [string, Line[]])[] = [
    ['failures, 5 min', list('failures', reasons, FAILURE_COLUMNS)],
    ['latest stops', list('stops', latest, latestStopColumns(nowMs))],
    ['latest changes', list('changes', audit, changeColumns(nowMs))],
  ];
  const rows = PANEL_ROWS + Math.max(...panels.map(([, lines]) => lines.length));
  const part = (
    <Box flexShrink={0}>
      {panels.map(([title, lines]) => (
        <Panel key={title} title={plain(title, 'bold')} width={width} height={rows}>
          <Rows lines={lines} />
        </Panel>
      ))}
    </Box>
  );
  return { rows, part };
}

interface FailedPart {
  readonly task: string;
  readonly what: string;
  readonly failed: number;
  /** Share of the polls for a carrier. */
  readonly share: number | null;
}

/** Failure reasons of all task types and the affected carriers, with the most failures first. */
function failedParts({ items }: { readonly items: readonly FailuresBody[] }): FailedPart[] {
  const parts = items.flatMap(({ task_type: task, reasons, carriers = [] }): FailedPart[] => [
    ...reasons.map(({ reason, count: failed }) => ({ task, what: reason, failed, share: null })),
    ...carriers.map(({ carrier_id, failed, failed_percent: share }) => {
      return { task, what: `carrier ${carrier_id}`, failed, share };
    }),
  ]);
  return parts.sort((a, b) => b.failed - a.failed);
}

const FAILURE_COLUMNS: readonly SpanColumn<FailedPart>[] = [
  { header: 'FAILED', cell: ({ failed }) => span(count(failed), 'red'), align: 'right' },
  {
    header: 'OF POLLS',
    cell: ({ share }) => span(share === null ? '' : `${percent(share)} %`),
    align: 'right',
  },
  { header: 'TASK', cell: ({ task }) => span(task) },
  { header: 'REASON OR CARRIER', cell: ({ what }) => span(what), least: 8 },
];

function latestStopColumns(nowMs: number): SpanColumn<StopBody>[] {
  return [
    { header: 'REQUESTED', cell: ({ requested_at: at }) => span(relative(at, nowMs)) },
    { header: 'CARD', cell: ({ card_id }) => span(card_id), align: 'right' },
    { header: 'STATE', cell: ({ state }) => span(state, state === 'held' ? 'yellow' : undefined) },
    { header: 'USED MB', cell: ({ used_mb }) => span(count(used_mb)), align: 'right', drop: 1 },
  ];
}

function changeColumns(nowMs: number): SpanColumn<AuditBody>[] {
  return [
    { header: 'WHEN', cell: ({ at }) => span(relative(at, nowMs)) },
    { header: 'WHO', cell: ({ actor }) => span(actor), least: 6 },
    { header: 'WHAT', cell: ({ action, object }) => span(`${action} ${object}`), least: 8 },
  ];
}
