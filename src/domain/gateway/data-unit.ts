// The units in which gateways report data volume. cardpoll counts megabytes: a million bytes. A card's allowance is in the
// same unit, so a gateway that counts in 1,024s has the unit KiB, MiB or GiB here, whatever it calls it itself.

const MB_PER_UNIT = {
  bytes: 1e-6,
  KB: 1e-3,
  MB: 1,
  GB: 1e3,
  KiB: 1_024 / 1e6,
  MiB: 1_048_576 / 1e6,
  GiB: 1_073_741_824 / 1e6,
} as const;

export type DataUnit = keyof typeof MB_PER_UNIT;

export const DATA_UNITS = Object.keys(MB_PER_UNIT) as readonly DataUnit[];

/** Thousandths of a byte: a sum of readings shows no digits that floating point made up. */
const DIGITS = 1e9;

/** The inverse, for a simulated gateway. */
export function fromMegabytes(value: number, unit: DataUnit): number {
  return unit === 'MB' ? value : Math.round((value / MB_PER_UNIT[unit]) * DIGITS) / DIGITS;
}

export function megabytes(value: number, unit: DataUnit): number {
  return unit === 'MB' ? value : Math.round(value * MB_PER_UNIT[unit] * DIGITS) / DIGITS;
}
