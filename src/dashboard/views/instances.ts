// The view of live instances: what each of them runs, and the age of its heartbeat.
import type { OverviewBody } from '../../api/client/client-bodies.ts';
import { count, relative, since } from '../format.ts';
import {
  hint,
  type Line,
  missing,
  plain,
  type Room,
  type Span,
  type SpanColumn,
  span,
  stacked,
  tableLines,
} from '../layout.ts';
import { dataTimeMs, type State } from '../state.ts';

type Instance = OverviewBody['workers'][number];

export function instancesLines(state: State, { columns, rows }: Room): Line[] {
  const { body, problem } = state.data.overview;
  if (body === null) return [missing('instances', problem)];
  const { workers } = body;
  if (workers.length === 0)
    return [[span('✖ no instance is alive', 'bad'), span('  '), ...hint('cardpoll daemon')]];
  const running = workers.reduce((sum, { in_flight }) => sum + in_flight, 0);
  const summary = plain(`${workers.length} alive, ${count(running)} polls running`, 'dim');
  const table = tableLines(workers, instanceColumns(dataTimeMs(state)), {
    columns,
    rows: rows - 2,
    selected: state.picked,
  });
  return stacked([[summary], table], rows);
}

function instanceColumns(nowMs: number): SpanColumn<Instance>[] {
  return [
    { header: 'HOST', cell: ({ hostname }) => span(hostname), least: 12 },
    { header: 'PID', cell: ({ pid }) => span(pid), align: 'right' },
    { header: 'RUNNING', cell: ({ in_flight }) => span(count(in_flight)), align: 'right' },
    { header: 'HEARTBEAT', cell: ({ heartbeat_at }) => heartbeatCell(heartbeat_at, nowMs) },
    { header: 'UP', cell: ({ started_at }) => span(since(started_at, nowMs)), align: 'right' },
    { header: 'VERSION', cell: ({ version }) => span(version), drop: 4, least: 7 },
    { header: 'ROLES', cell: ({ roles }) => span(roles.join(',')), drop: 3, least: 8 },
    { header: 'CACHE %', cell: cacheCell, align: 'right', drop: 2 },
    { header: 'PROBES', cell: ({ probe_address }) => span(probe_address ?? '-'), drop: 1, least: 14 },
  ];
}

function heartbeatCell(at: string, nowMs: number): Span {
  const late = nowMs - Date.parse(at) > 5_000;
  return span(relative(at, nowMs), late ? 'warn' : undefined);
}

function cacheCell({ cache_hit_ratio: ratio }: Instance): Span {
  return span(ratio === null ? '-' : Math.floor(100 * ratio));
}
