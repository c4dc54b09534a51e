// Numbers as people and spreadsheets write them: with a decimal point and commas between thousands, or the other way round. Used
// by card.ts for one number, and by operations/cards/file-decimal-mark.ts for all numbers of a file.

export type DecimalMark = '.' | ',';

interface DecimalText {
  readonly value: number;
  /** The decimal mark that the text proves; null: none. */
  readonly mark: DecimalMark | null;
}

const WHOLE = /^\+?\d+\.?(e[+-]?\d{1,3})?$/i;
const DECIMAL = /^\+?\d*([.,])\d+(e[+-]?\d{1,3})?$/i;
/** 1.024 may mean one thousand and twenty-four. Thousands never begin with a zero, so 0.024 is unambiguous. */
const EITHER = /^\+?[1-9]\d{0,2}[.,]\d{3}$/;
const GROUPED: ReadonlyArray<readonly [form: RegExp, mark: DecimalMark]> = [
  [/^\+?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/, '.'],
  [/^\+?[1-9]\d{0,2}(\.\d{3})+(,\d+)?$/, ','],
];

/** @returns `either` for a number whose mark may be a decimal mark or a thousands separator; null for any other text. */
export function readDecimal(text: string): DecimalText | 'either' | null {
  if (WHOLE.test(text)) return { value: Number(text), mark: null };
  if (EITHER.test(text)) return 'either';
  const [, decimalMark] = DECIMAL.exec(text) ?? [];
  const mark = (decimalMark as DecimalMark | undefined) ?? GROUPED.find(([form]) => form.test(text))?.[1];
  return mark === undefined ? null : { value: numberIn(text, mark), mark };
}

/** The number of a text with this decimal mark. */
export function numberIn(text: string, mark: DecimalMark): number {
  const ungrouped = text.replaceAll(mark === '.' ? ',' : '.', '');
  return Number(ungrouped.replace(mark, '.'));
}

/** Both meanings of a text that readDecimal calls `either`, in words. */
export function bothReadings(text: string): string {
  const [mark, other] = text.includes('.') ? (['.', ','] as const) : ([',', '.'] as const);
  return `${numberIn(text, other)} with '${mark}' between thousands, or ${numberIn(text, mark)} with '${mark}' as its decimal mark`;
}

/** A number as text that no reader mistakes for thousands: 1.024 as 1.0240. */
export function decimalText(value: number): string {
  const text = String(value);
  return EITHER.test(text) ? `${text}0` : text;
}
