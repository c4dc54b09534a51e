// The night when clocks go back: 01:00 to 02:00 in New York are twice on 2026-11-01, at 05:00Z and at 06:00Z.
import { expect, it } from 'vitest';
import { isIncomplete } from '../../../src/log-search/model.ts';
import { LogTree } from '../../support/log-tree.ts';

const CARD = '8986001234567890123';
const tz = 'America/New_York';
const SECOND_HOUR = { iccid: CARD, tz, since: '2026-11-01T06:00:00Z', until: '2026-11-01T07:00:00Z' };
const FIRST_HOUR = { ...SECOND_HOUR, since: '2026-11-01T05:00:00Z', until: '2026-11-01T06:00:00Z' };
const LATER = Date.parse('2026-11-02T12:00:00Z');

const at = (clock: string, rest = `iccid=${CARD}`) => `2026-11-01 ${clock} ${rest}\n`;
const hour = (clock: string) => [1, 2, 3, 4, 5, 6].map((minute) => at(`${clock}:0${minute}:00`)).join('');

it('is found by either instant that the local time may mean, with a notice', async () => {
  const tree = new LogTree();
  const path = tree.write('worker.log', hour('00') + hour('01') + hour('01') + hour('02'), LATER);
  const second = await tree.search(SECOND_HOUR);
  expect(second.hits).toBe(12);
  expect([second.firstMs, second.lastMs]).toEqual([
    Date.parse('2026-11-01T06:01:00Z'),
    Date.parse('2026-11-01T06:06:00Z'),
  ]);
  const detail = '12 lines of the card may be outside the window: their local time occurs twice';
  expect(second.notices).toEqual([{ path, code: 'repeated_hour', detail }]);
  expect(second.notices.some(isIncomplete)).toBe(false);
  const first = await tree.search(FIRST_HOUR);
  expect(first).toMatchObject({ hits: 12, firstMs: Date.parse('2026-11-01T05:01:00Z') });
});

it('is not in doubt where both instants, or neither, are in the window', async () => {
  const tree = new LogTree();
  tree.write('worker.log', hour('01') + at('01:30:00') + hour('01'), LATER);
  const night = await tree.search({ iccid: CARD, tz, date: '2026-11-01' });
  expect(night).toMatchObject({ hits: 13, notices: [], firstMs: Date.parse('2026-11-01T05:01:00Z') });
  const between = { since: '2026-11-01T05:40:00Z', until: '2026-11-01T05:50:00Z' };
  expect(await tree.search({ ...SECOND_HOUR, ...between })).toMatchObject({ hits: 0, notices: [] });
});

it('does not concern a time with an offset, nor one that occurs once', async () => {
  const tree = new LogTree();
  const own = ['01:30:00-04:00', '01:30:00-05:00', '05:30:00Z'].map((clock) => at(clock)).join('');
  tree.write('worker.log', own + hour('00') + hour('02'), LATER);
  expect(await tree.search(SECOND_HOUR)).toMatchObject({ hits: 1, notices: [] });
  expect(await tree.search({ ...SECOND_HOUR, tz: 'UTC' })).toMatchObject({ hits: 1, notices: [] });
});

it('counts for lines that continue a record', async () => {
  const tree = new LogTree();
  tree.write('worker.log', `iccid=${CARD}\n${at('01:30:00', 'call')} iccid=${CARD}\n`, LATER);
  expect(await tree.search(SECOND_HOUR)).toMatchObject({ hits: 1, continued: 1, undated: 1 });
});

it('keeps files whose last time, or that of their successor, may be an hour later', async () => {
  const tree = new LogTree();
  const late = at('02:30:00');
  tree.write('plain.log', late + at('01:10:00', 'second hour').repeat(4_000), LATER);
  tree.write('turned.log.1', at('00:10:00', 'other') + late, LATER);
  tree.write('turned.log', at('01:10:00', 'second hour'), LATER);
  const window = { since: '2026-11-01T07:20:00Z', until: '2026-11-01T07:40:00Z' };
  expect(await tree.search({ ...SECOND_HOUR, ...window })).toMatchObject({ hits: 2, notices: [] });
});

it('is found by the requests of a hit, too', async () => {
  const tree = new LogTree();
  const before = at('00:30:00', `iccid=${CARD} request_id=first`);
  tree.write('worker.log', before + at('01:30:00', 'request_id=first'), LATER);
  const wide = { ...SECOND_HOUR, since: '2026-11-01T04:00:00Z', until: '2026-11-01T08:00:00Z' };
  expect((await tree.search({ ...wide, trace: true })).traces?.[0]?.lines).toHaveLength(1);
  tree.write(
    'worker.log',
    at('01:30:00', `iccid=${CARD} request_id=first`) + at('01:31:00', 'request_id=first'),
  );
  const { traces, hits } = await tree.search({ ...SECOND_HOUR, trace: true });
  expect(hits).toBe(1);
  expect(traces?.[0]?.lines).toHaveLength(2);
});
