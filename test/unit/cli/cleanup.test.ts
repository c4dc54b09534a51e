// `cardpoll cleanup run`: asks with the plan, follows the run, and prints the result.
import { describe, expect, it } from 'vitest';
import type { CleanupPreviewBody, CleanupProgressBody } from '../../../src/resources/cleanup.ts';
import { cli, daemonThatSays, json, type SeenRequest } from './cli-under-test.ts';

const PREVIEW: CleanupPreviewBody = {
  items: [
    {
      id: 1,
      target: 'usage_records',
      retention_days: 180,
      cutoff: '2026-05-25T10:00:00.000Z',
      rows: 2_000_000,
      estimated: true,
    },
    {
      id: 6,
      target: 'card_stops',
      retention_days: 365,
      cutoff: '2025-11-21T10:00:00.000Z',
      rows: 5,
      estimated: false,
    },
  ],
  total_rows: 2_000_005,
};

function progress(status: CleanupProgressBody['status'], deleted: number, error: string | null = null) {
  const item = { target: 'usage_records', deleted, total: 2_000_000, error } as const;
  return {
    run_id: 'r1',
    status,
    items: [item],
    deleted,
    batches: deleted / 10_000,
    started_at: '2026-11-21T09:59:00.000Z',
    finished_at: status === 'running' ? null : '2026-11-21T10:00:00.000Z',
  } satisfies CleanupProgressBody;
}

/** A daemon whose progress answers come from the list, the last one again and again; a number is an error's status. */
function daemon(...reads: (CleanupProgressBody | number)[]) {
  return daemonThatSays((request: SeenRequest, response) => {
    const { line } = request;
    if (line.endsWith('/preview')) return json(PREVIEW)(request, response);
    if (line.startsWith('POST')) return json({ run_id: 'r1' }, 202)(request, response);
    const read = (reads.length > 1 ? reads.shift() : reads[0]) ?? 500;
    const [body, status] = typeof read === 'number' ? [{ title: 'away' }, read] : [read, 200];
    return json(body, status)(request, response);
  });
}

const triggers = (requests: readonly SeenRequest[]) =>
  requests.filter(({ line }) => line === 'POST /api/admin/data-cleanup/trigger').length;

describe('cleanup run', () => {
  it('shows the plan, begins after yes, draws the progress and prints the result', async () => {
    const { env, requests } = await daemon(progress('running', 500_000), progress('completed', 2_000_000));
    const options = { env, tty: true, input: 'y\n' };
    const { code, stdout, stderr } = await cli(['cleanup', 'run', '--wait'], options);
    expect(stderr).toContain('Remove about 2,000,005 expired rows');
    expect(stderr).toContain('usage_records: about 2,000,000 rows older than 180 days');
    expect(stderr).toContain('card_stops: 5 rows older than 365 days');
    expect(stderr).toMatch(/cleaning █+░+ 25 %/);
    expect(stdout).toContain('completed');
    expect(stdout).toContain('2,000,000');
    expect([code, triggers(requests)]).toEqual([0, 1]);
  });

  it('begins nothing after no, nor with --dry-run', async () => {
    const { env, requests } = await daemon(progress('completed', 0));
    expect((await cli(['cleanup', 'run'], { env, tty: true, input: 'n\n' })).code).toBe(1);
    expect((await cli(['cleanup', 'run', '--dry-run', '--yes'], { env })).stdout).toContain('2,000,005');
    expect(triggers(requests)).toBe(0);
  });

  it('waits for a daemon that restarts meanwhile', async () => {
    const { env } = await daemon(progress('running', 0), 503, progress('completed', 10_000));
    expect(await cli(['cleanup', 'run', '--yes', '--wait'], { env })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('does not take a later run for its own', async () => {
    const { env } = await daemon({ ...progress('running', 0), run_id: 'r2' });
    expect(await cli(['cleanup', 'run', '--yes', '--wait'], { env })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('another cleanup has started since'),
    });
  });

  it('ends with 1 and says what failed', async () => {
    const { env } = await daemon(progress('failed', 10_000, 'permission denied'));
    expect(await cli(['cleanup', 'run', '--yes', '--wait'], { env })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'cardpoll: the cleanup failed: usage_records: permission denied\n',
    });
  });
});

describe('cleanup preview', () => {
  it('marks estimates for people, and prints plain numbers for programs', async () => {
    const { env } = await daemon();
    expect((await cli(['cleanup', 'preview'], { env, tty: true })).stdout).toMatch(
      /usage_records .*~2,000,000/,
    );
    expect((await cli(['cleanup', 'preview', '-o', 'tsv'], { env })).stdout).toBe(
      '1\tusage_records\t180\t2026-05-25T10:00:00.000Z\t2000000\n6\tcard_stops\t365\t2025-11-21T10:00:00.000Z\t5\n',
    );
  });
});

it.each([
  [200, progress('running', 10_000, 'cancelled'), 0, /^usage_records\t10000\t2000000\tcancelled\n$/, /^$/],
  [409, { title: 'Conflict', detail: 'no cleanup is running' }, 1, /^$/, /no cleanup is running/],
])('cancel: an answer %i %j is exit code %i', async (status, body, code, stdout, stderr) => {
  const { env, requests } = await daemonThatSays(json(body, status));
  const outcome = await cli(['cleanup', 'cancel', '-o', 'tsv'], { env });
  expect(outcome).toEqual({
    code,
    stdout: expect.stringMatching(stdout),
    stderr: expect.stringMatching(stderr),
  });
  expect(requests.map(({ line }) => line)).toEqual(['POST /api/admin/data-cleanup/cancel']);
});
