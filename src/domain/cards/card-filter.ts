// The filter of a card list or an export. Each field is a parameter of the query, an option of the commands, and a condition in
// SQL.
import { MAX_VENDOR_ID } from './card.ts';

interface Values {
  readonly id: number;
  readonly yesNo: boolean;
  readonly text: string;
}

interface FilterField {
  readonly value: keyof Values;
  /** Longest text, characters. */
  readonly most?: number;
  readonly doc: string;
}

const CARD_FILTER = {
  carrierId: { value: 'id', doc: 'only cards of this carrier' },
  status: { value: 'id', doc: 'only cards with this status' },
  stopped: { value: 'yesNo', doc: 'only cards that are stopped, or only those that are not' },
  vendorId: { value: 'text', most: MAX_VENDOR_ID, doc: 'only cards that the vendor knows by this' },
} as const satisfies Record<string, FilterField>;

/** An attribute that is null or absent matches all. */
export type CardFilter = {
  readonly [F in keyof typeof CARD_FILTER]?: Values[(typeof CARD_FILTER)[F]['value']] | null | undefined;
};

export const FILTER_FIELDS = Object.entries(CARD_FILTER) as [keyof CardFilter, FilterField][];
