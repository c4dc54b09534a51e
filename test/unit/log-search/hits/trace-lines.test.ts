import { expect, it } from 'vitest';
import { LogTree } from '../../../support/log-tree.ts';

const CARD = '8986001234567890123';

/** The traced lines of each id, `>` before those that hold the card. */
async function traced(...lines: string[]): Promise<Record<string, string[]>> {
  const tree = new LogTree();
  tree.write('worker.log', lines.map((line) => `2026-02-01 10:00:00 ${line}\n`).join(''));
  const { traces } = await tree.search({ iccid: CARD, trace: true });
  const shown = ({ isHit, line }: { isHit: boolean; line: Buffer }) =>
    `${isHit ? '>' : ' '} ${line.toString().slice('2026-02-01 10:00:00 '.length, 60)}`;
  return Object.fromEntries((traces ?? []).map(({ id, lines }) => [id, lines.map(shown)]));
}

it('takes an id without the punctuation of the sentence around it', async () => {
  const hit = `card ${CARD} of req_id=a1: refused`;
  expect(await traced('request_id=a1 sent', hit)).toEqual({
    a1: ['  request_id=a1 sent', `> ${hit}`.slice(0, 42)],
  });
});

it('keeps an id that ends with a dash', async () => {
  expect(Object.keys(await traced(`request_id=V1St_8Z- ${CARD}`))).toEqual(['V1St_8Z-']);
});

it.each(['-', 'null', 'None', 'nil', 'undefined', '""'])('takes %s for no id', async (none) => {
  expect(await traced(`request_id=${none} ${CARD}`, 'status - None nil null undefined')).toEqual({});
});

it('knows a hit whose card is far behind in a long line', async () => {
  const long = `request_id=b2 ${'x'.repeat(10_000)} ${CARD}`;
  expect(await traced(long)).toEqual({ b2: [`> ${long.slice(0, 40)}`] });
});
