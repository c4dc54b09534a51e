// Decides when two numbers name the same card. Gateways write an ICCID with or without its check digit, and some pad it with the
// letter F. A number that contains another one belongs to another card, unless the rest is the check digit.

const FORM = /^\d{18,22}F*$/i;

/** Luhn check digit of a string of digits (ISO/IEC 7812-1), as ICCIDs carry it. */
export function luhnDigit(digits: string): number {
  let sum = 0;
  for (let i = digits.length - 1, double = true; i >= 0; i -= 1, double = !double) {
    const digit = digits.charCodeAt(i) - 48;
    const value = double ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
  }
  return (10 - (sum % 10)) % 10;
}

/** @returns the digits of a value in the form of an ICCID; null for any other. */
export function iccidDigits(raw: unknown): string | null {
  const text = typeof raw === 'string' ? raw.replace(/[\s-]/g, '') : '';
  return FORM.test(text) ? text.replace(/F+$/i, '') : null;
}

/** @returns the digits that may stand for the card: its ICCID first, then without or with the check digit. */
export function spellingsOf(iccid: string): readonly string[] {
  const shorter = iccid.slice(0, -1);
  const endsInCheck = luhnDigit(shorter) === Number(iccid.at(-1));
  return [iccid, ...(endsInCheck ? [shorter] : []), `${iccid}${luhnDigit(iccid)}`];
}
