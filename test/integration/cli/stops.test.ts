// `cardpoll stops`, `cards stop` and `cards resume` against the real API over real stores. No worker carries anything out
// here: where a run ends, the test ends its cards in the records.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Interruption } from '../../../src/cli/command.ts';
import { type StopsUnderTest, startStopsApi } from '../../support/held-stops.ts';
import { carryOut as carryOutOf } from '../../support/resume-run.ts';
import { OF_FLEET } from '../../support/stop-rules.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type CliOptions, cli } from '../../unit/cli/cli-under-test.ts';

const REASON = 'wrong readings';
const iccidOf = (cardId: number) => `8986${String(cardId).padStart(16, '0')}`;

let api: StopsUnderTest;
let env: Record<string, string>;
beforeAll(async () => {
  api = await startStopsApi(100);
  env = { CARDPOLL_URL: `http://${api.server.address}` };
});
afterAll(() => api.close());
beforeEach(() => api.reset());

const run = (argv: readonly string[], options: CliOptions = {}) => cli(argv, { env, ...options });
const stops = (...argv: readonly string[]) => run(['stops', '-o', 'tsv', ...argv]);
const states = async () =>
  Object.fromEntries(
    (await api.sql('SELECT card_id, state FROM card_stops ORDER BY 1')).map((row) => [
      row.card_id,
      row.state,
    ]),
  );
const mode = async () => (await api.records.stopControl.read()).setMode?.mode ?? null;
const asked = (input: string): CliOptions => ({ tty: true, input });

/** Cards 1 to 3 were stopped by cardpoll. */
async function stopped(): Promise<void> {
  await api.hold(3);
  await api.sql("UPDATE card_stops SET state = 'done', completed_at = now(), held_by = NULL");
  await api.sql('UPDATE cards SET stopped = true WHERE card_id <= 3');
}

/** Ends the cards of the only run as the workers would. */
async function carryOut(cardIds: readonly number[]): Promise<void> {
  const { id } = await waitFor(async () => (await api.records.resumes.latest(1))[0] ?? null);
  await waitFor(async () => (await api.sql('SELECT FROM card_resumes')).length === cardIds.length);
  for (const cardId of cardIds) await carryOutOf(api.records, cardId, id);
}

describe('the list', () => {
  beforeEach(() => api.hold(25));

  it('is what stops alone shows, with the same options before and after the subcommand', async () => {
    const { code, stdout } = await stops();
    expect([code, stdout.split('\n')]).toEqual([0, expect.objectContaining({ length: 21 })]);
    expect(await stops('list')).toMatchObject({ stdout });
    await api.sql("UPDATE card_stops SET state = 'dismissed', reason = 'x' WHERE card_id = 7");
    for (const argv of [
      ['--state', 'dismissed'],
      ['list', '--state', 'dismissed'],
      ['--state=dismissed', 'list'],
    ]) {
      const one = await stops(...argv);
      expect([argv, one.stdout]).toEqual([
        argv,
        expect.stringMatching(/^7\t8986\d+\t1\t2026-\d\d\tdismissed\t2048\t/),
      ]);
    }
    expect(
      (await stops('--carrier-id', '1', '--since', '1h', '--page-size', '5', '-o', 'jsonl')).stdout,
    ).toMatch(/^(\{"card_id":.*\}\n){5}$/);
    expect(JSON.parse((await stops('--page', '2', '-o', 'json')).stdout)).toMatchObject({
      total: 25,
      page: 2,
    });
    expect((await stops('-o', 'yaml')).stdout).toMatch(/^items:/);
  });

  it('fits a terminal of 80 columns, and cuts long reasons', async () => {
    await api.sql(`UPDATE card_stops SET reason = repeat('long ', 100), ordered_by = 'somebody-with-a-name',
      requested_at = now(), completed_at = now(), used_mb = 123456789.25, allowance_mb = 123456789`);
    const { stdout } = await run(['stops', '--page-size', '5'], { tty: true });
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(stdout).toMatch(/CARD .*STATE .*HELD BY/);
    expect(stdout).toContain('5 of 25 stops: --page 2, or --all');
    const wide = await run(['stops', '-o', 'wide', '--page-size', '5'], { tty: true });
    expect(wide.stdout).toContain('LAST ERROR');
  });

  it('refuses what it does not know', async () => {
    expect(await stops('relase')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('did you mean release?'),
    });
    expect((await stops('--state', 'gone')).code).toBe(64);
    expect((await stops('--since', 'soon')).code).toBe(64);
  });

  it('says that there is none', async () => {
    await api.reset();
    expect((await run(['stops'], { tty: true })).stdout).toBe('no card was stopped yet\n');
    expect((await run(['stops', '--state', 'held'], { tty: true })).stdout).toMatch(/^no stop matches/);
  });
});

describe('the mode', () => {
  it('shows cards before and after while readings jump', async () => {
    await api.hold(3);
    const jump = { factor: 8, baselineMbPerHour: 1, recentMbPerHour: 1, ...OF_FLEET };
    await api.records.stopControl.beginJump(jump);
    await api.records.results.ensurePartitions(new Date().toISOString().slice(0, 7));
    await api.sql('UPDATE cards SET allowance_mb = 500 WHERE card_id <= 3');
    await api.sql('UPDATE card_stops SET reading_mb = 960, requested_at = now()');
    await api.sql(
      `INSERT INTO card_usage (card_id, month, used_mb, last_reading_mb, read_at, jump_from_mb)
       SELECT card_id, month, 960, 960, now(), CASE card_id WHEN 1 THEN 120 WHEN 3 THEN 0 END FROM card_stops`,
    );
    const { stdout } = await stops('mode');
    expect(stdout).toMatch(/^card 1\t960 MB shown, 120 MB before, x8 \(carrier \d+\)$/m);
    expect(stdout).toMatch(/^card 2\t960 MB shown, no step \(carrier \d+\)$/m);
    expect(stdout).toMatch(/^card 3\t960 MB shown, 0 MB before \(carrier \d+\)$/m);
  });

  it('is shown, and observe is set without a question, with or without a terminal', async () => {
    expect((await stops('mode')).stdout).toMatch(/^mode\tenforce\nsource\tsetting\n/);
    const observe = await stops('mode', 'observe', '--reason', REASON);
    expect(observe).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^mode\tobserve\nsource\toperator/),
    });
    expect(await mode()).toBe('observe');
    expect((await run(['stops', 'mode', 'observe', '--reason', REASON], { tty: true })).code).toBe(0);
    expect(JSON.parse((await stops('mode', '-o', 'json')).stdout)).toMatchObject({
      mode: 'observe',
      reason: REASON,
    });
  });

  it('enforce shows what it accepts and asks', async () => {
    await stops('mode', 'observe', '--reason', REASON);
    await api.records.stopControl.beginJump({
      factor: 1024,
      baselineMbPerHour: 2,
      recentMbPerHour: 2048,
      ...OF_FLEET,
    });
    const argv = ['stops', 'mode', 'enforce', '--reason', REASON];
    const no = await run(argv, asked('n\n'));
    expect([no.code, no.stderr.replaceAll(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringMatching(/Mode of stops: observe -> enforce\..*grow by 2048 MB an hour, before by 2;/),
    ]);
    expect((await run(argv)).code, 'no terminal').toBe(64);
    expect((await run([...argv, '--dry-run'])).stdout).toContain('This accepts a jump');
    expect(await mode()).toBe('observe');
    expect((await run(argv, asked('y\n'))).code).toBe(0);
    expect(await mode()).toBe('enforce');
    expect((await run([...argv, '--yes'])).code).toBe(0);
  });

  it('needs a reason that can be shown', async () => {
    expect(await stops('mode', 'observe')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('--reason'),
    });
    for (const reason of ['', ' ', 'x'.repeat(501), 'two\nlines']) {
      expect((await stops('mode', 'observe', '--reason', reason)).code).toBe(64);
    }
    expect((await stops('mode', 'off', '--reason', REASON)).code).toBe(64);
    expect(await mode()).toBeNull();
  });
});

describe.each([
  ['release', 'released', 'requested'],
  ['dismiss', 'dismissed', 'dismissed'],
] as const)('%s', (verb, done, state) => {
  beforeEach(() => api.hold(4));
  const argv = (...more: readonly string[]) => ['stops', verb, '--reason', REASON, ...more];
  const left = verb === 'release' ? 'not held' : 'not dismissed';
  const planned = (what: string) =>
    verb === 'release' ? `${what}: held -> released.` : `${what}: dismissed.`;
  const all = planned(verb === 'release' ? 'All held stops, 4' : 'All stops that were not called, 4');

  it('decides about cards by id or iccid, and names those that were not held', async () => {
    const outcome = await run(argv('1', iccidOf(3), '3', '99'));
    expect(outcome).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^${done} +2\n${left} +99\n$`)),
    });
    expect(await states()).toEqual({ 1: state, 2: 'held', 3: state, 4: 'held' });
    expect(JSON.parse((await run(argv('2', '-o', 'json'))).stdout)).toEqual({ [done]: 1, not_held: [] });
    expect((await run(argv('99', '98'))).code, 'none was held').toBe(1);
  });

  it('asks before it decides about all', async () => {
    const no = await run(argv('--all'), asked('n\n'));
    expect([no.code, no.stderr]).toEqual([1, expect.stringContaining(all)]);
    expect((await run(argv('--all'))).code, 'no terminal').toBe(64);
    expect((await run(argv('--all', '--dry-run'))).stdout).toContain(all);
    expect((await run(argv('2', '--dry-run'))).stdout).toContain(planned('Stop of card 2'));
    expect(Object.values(await states())).toEqual(['held', 'held', 'held', 'held']);
    expect((await run(argv('--all'), asked('y\n'))).stdout).toMatch(new RegExp(`${done} +4`));
    expect((await run(argv('--all', '--yes'))).stdout).toMatch(new RegExp(`^${done} +0\n${left} +-\n$`));
  });

  it('refuses a wrong command line, and an iccid of no card', async () => {
    for (const more of [[], ['1', '--all'], ['x'], ['1.5']]) expect((await run(argv(...more))).code).toBe(64);
    expect((await run(['stops', verb, '1'])).code).toBe(64);
    expect(await run(argv(iccidOf(999_999)))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no card'),
    });
    expect(Object.values(await states())).toEqual(['held', 'held', 'held', 'held']);
  });
});

it('release in mode observe is refused with what to type', async () => {
  await api.hold(1);
  await stops('mode', 'observe', '--reason', REASON);
  expect(await stops('release', '1', '--reason', REASON)).toMatchObject({
    code: 75,
    stderr: expect.stringContaining('cardpoll stops mode enforce'),
  });
});

describe('resume', () => {
  beforeEach(stopped);
  const since = ['stops', 'resume', '--since', '7d', '--reason', REASON];

  it('shows the plan of a condition and asks', async () => {
    const no = await run(since, asked('n\n'));
    expect([no.code, no.stderr]).toEqual([
      1,
      expect.stringContaining('Resume 3 cards that cardpoll stopped since 2026-11-14'),
    ]);
    expect((await run(since)).code, 'no terminal').toBe(64);
    const dry = await run([...since, '--carrier-id', '1', '--dry-run']);
    expect(dry).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Resume 2 cards of carrier 1 that'),
    });
    expect(await api.records.resumes.latest(10)).toEqual([]);
    const yes = await run(since, asked('y\n'));
    expect([yes.code, yes.stdout]).toEqual([0, expect.stringMatching(/status +running[\s\S]*waiting +3/)]);
  });

  it('waits for the run, and fails when it was cancelled', async () => {
    const [done] = await Promise.all([run([...since, '--yes', '--wait', '-o', 'json']), carryOut([1, 2, 3])]);
    expect([done.code, JSON.parse(done.stdout)]).toEqual([
      0,
      expect.objectContaining({ status: 'completed', resumed: 3, waiting: 0 }),
    ]);
    await api.reset();
    await stopped();
    const [cancelled] = await Promise.all([
      run([...since, '--yes', '--wait']),
      waitFor(async () => {
        const [open] = await api.records.resumes.latest(1);
        return open !== undefined && (await run(['stops', 'runs', 'cancel', open.id])).code === 0;
      }),
    ]);
    expect([cancelled.code, cancelled.stdout]).toEqual([1, expect.stringMatching(/^status +cancelled$/m)]);
  });

  it('says while it waits why nothing moves, and how to go on when it is interrupted', async () => {
    const pause = { source: 'operator', ms: 600_000, reason: 'maintenance', by: 'anna' } as const;
    await api.live.work.pause('package', pause);
    const interrupt = new AbortController();
    const running = run(['stops', 'resume', '1', '--reason', REASON, '--wait'], { signal: interrupt.signal });
    await waitFor(async () => (await api.records.resumes.latest(1)).length > 0);
    const [{ id } = { id: '' }] = await api.records.resumes.latest(1);
    const reads = () => api.accessLog.filter(({ path }) => String(path).endsWith(`/stops/resume/${id}`));
    await waitFor(async () => reads().length > 1);
    interrupt.abort(new Interruption(130));
    const { code, stderr } = await running;
    await api.live.work.resume('package');
    expect(code).toBe(130);
    expect(stderr).toContain('waiting: package is paused until');
    expect(stderr).toContain(`cardpoll stops runs show ${id} --wait`);
  });

  it('takes a list, and says that there is nothing to resume', async () => {
    const one = await run(['stops', 'resume', '1', iccidOf(2), '99999', '--reason', REASON]);
    expect(one).toMatchObject({ code: 0, stdout: expect.stringMatching(/total +2\n[\s\S]*skipped +1\n/) });
    expect((await run(['stops', 'resume', '1', '--reason', REASON])).code, 'waits already').toBe(1);
    const never = ['stops', 'resume', '--since', '2036-01-01', '--reason', REASON];
    expect((await run([...never, '--yes'])).code).toBe(1);
    expect(await run(never), 'nothing to ask about').toMatchObject({
      code: 1,
      stderr: 'cardpoll: there is no card to resume\n',
    });
  });

  it.each([
    [['--reason', REASON]],
    [['1', '--since', '2h', '--reason', REASON]],
    [['1', '--carrier-id', '7', '--reason', REASON]],
    [['1']],
    [['--since', 'soon', '--reason', REASON]],
  ])('refuses %j', async (argv) => {
    expect((await run(['stops', 'resume', ...argv])).code).toBe(64);
    expect(await api.records.resumes.latest(10)).toEqual([]);
  });
});

describe('runs', () => {
  it('are listed, shown and cancelled', async () => {
    expect((await run(['stops', 'runs'], { tty: true })).stdout).toMatch(/^no cards were resumed yet/);
    await stopped();
    await run(['stops', 'resume', '1', '2', '--reason', REASON.repeat(20)]);
    const [{ id } = { id: '' }] = await api.records.resumes.latest(1);
    expect((await stops('runs')).stdout).toMatch(new RegExp(`^${id}\trunning\t2\t2\t2\t0\t0\tlocal\t`));
    expect((await stops('runs', 'list')).stdout).toContain(id);
    const people = await run(['stops', 'runs'], { tty: true });
    for (const line of people.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect((await stops('runs', 'show', id)).stdout).toContain('status\trunning\n');
    expect((await stops('runs', 'cancel', id)).stdout).toContain('status\tcancelled\n');
    expect(await stops('runs', 'cancel', id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ended'),
    });
    expect((await stops('runs', 'show', 'x')).code).toBe(1);
    expect((await stops('runs', 'frob')).code).toBe(64);
    expect((await run(['complete', '--', 'stops', 'runs', 'show', ''])).stdout).toBe(`${id}\t\n`);
  });
});

describe('one card', () => {
  it('is stopped by id or iccid', async () => {
    expect(await run(['cards', 'stop', iccidOf(8), '--reason', REASON, '--yes'])).toMatchObject({
      code: 0,
      stdout: 'card   8\nstate  requested\n',
    });
    expect(await states()).toEqual({ 8: 'requested' });
    expect((await run(['cards', 'stop', '8'])).code, 'no reason').toBe(64);
    expect((await run(['cards', 'stop', '999999', '--reason', REASON, '--yes'])).code).toBe(1);
    expect(await run(['cards', 'stop', '9', '--reason', REASON])).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/Stop card 9.*iccid \d+\.\n.*cut off/),
    });
    expect(await states(), 'not without a yes').toEqual({ 8: 'requested' });
  });

  it('is waited for', async () => {
    const [waited] = await Promise.all([
      run(['cards', 'stop', '8', '--reason', REASON, '--yes', '--wait']),
      waitFor(async () => (await states())[8] === 'requested').then(() =>
        api.sql('UPDATE cards SET stopped = true WHERE card_id = 8'),
      ),
    ]);
    expect(waited).toMatchObject({ code: 0, stdout: expect.stringMatching(/stopped +yes/) });
  });

  it('is resumed', async () => {
    await stopped();
    const [done] = await Promise.all([
      run(['cards', 'resume', '2', '--reason', REASON, '--wait']),
      carryOut([2]),
    ]);
    expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^resumed +1$/m) });
  });
});
