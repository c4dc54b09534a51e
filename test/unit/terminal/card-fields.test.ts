// Every field of a card is shown: a field that is added to the report must not be forgotten here.
import { describe, expect, it } from 'vitest';
import type { CardBody } from '../../../src/resources/cards.ts';
import { CARD } from '../cli/bodies.ts';
import { cli, daemonThatSays, json } from '../cli/cli-under-test.ts';

const FIELDS = Object.keys(CARD) as Array<keyof CardBody>;
const OF_LISTS = FIELDS.filter((field) => !/^us|_at$/.test(field));

/** Another value of the kind that the field has. */
function other(value: CardBody[keyof CardBody]): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return `1${value}`;
  if (typeof value === 'object' && value !== null) return { ...value, realname: '2020-01-01T00:00:00.000Z' };
  return Number(value) + 1;
}

async function shown(argv: readonly string[], body: object): Promise<string> {
  const { env } = await daemonThatSays(json(body));
  return (await cli([...argv, '-o', 'wide'], { env })).stdout;
}

describe('shows the field', () => {
  it.each(FIELDS)('%s of a card', async (field) => {
    const of = (card: object) =>
      shown(['cards', 'show', '42'], { card, stops: [], tasks: [], logs_command: '' });
    expect(await of({ ...CARD, [field]: other(CARD[field]) })).not.toBe(await of(CARD));
  });

  it.each(OF_LISTS)('%s of cards in a list', async (field) => {
    const of = (card: object) => shown(['cards', 'list'], { items: [card], next_after_id: null });
    expect(await of({ ...CARD, [field]: other(CARD[field]) })).not.toBe(await of(CARD));
  });
});
