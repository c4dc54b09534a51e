// The placeholders of a request in the profile of a gateway (docs/gateways.md): `/devices/{iccid}/usage`. The configuration
// checks them, the client fills them in.

/** `month` is 2026-11 and `date` 2026-11-24, in the configured time zone; `yyyymm` and `yyyymmdd` are the same without dashes. */
export const PLACEHOLDERS = [
  'iccid',
  'card_id',
  'carrier_id',
  'month',
  'date',
  'yyyymm',
  'yyyymmdd',
  'iccids',
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

const BRACED = /\{([A-Za-z_]\w*)\}/g;

/** A template in parts: text, and between the texts the placeholders. */
interface TemplateParts {
  /** One more than there are placeholders. */
  readonly texts: readonly string[];
  readonly placeholders: readonly Placeholder[];
}

/** @param text has only known placeholders: the configuration has checked it. */
export function partsOf(text: string): TemplateParts {
  const pieces = text.split(BRACED);
  return {
    texts: pieces.filter((_, i) => i % 2 === 0),
    placeholders: pieces.filter((_, i) => i % 2 === 1) as Placeholder[],
  };
}

/** Every name in braces, known or not. */
export function namesInBraces(text: string): string[] {
  return [...text.matchAll(BRACED)].map(([, name = '']) => name);
}
