// Stores keep milliseconds since 1970, operators read times: a Date becomes RFC 3339 at the edges. Used by everything
// that reports times. Pure.

export function dateOf(ms: number | null | undefined): Date | null {
  return ms === null || ms === undefined ? null : new Date(ms);
}

type TimeName =
  | `${string}AtMs`
  | `${string}SinceMs`
  | `${string}UntilMs`
  | 'atMs'
  | 'sinceMs'
  | 'untilMs'
  | 'cutoffMs';
type Dated<Row> = {
  [Name in keyof Row as Name extends TimeName
    ? Name extends `${infer Base}Ms`
      ? Base
      : never
    : Name]: Name extends TimeName ? Date | Exclude<Row[Name], number> : Row[Name];
};

/** A row for a report: its times are Dates. `createdAtMs` becomes createdAt; durations stay unchanged. */
export function dated<Row extends object>(row: Row): Dated<Row> {
  const fields = Object.entries(row).map(([name, value]) =>
    /(^at|At|^since|Since|^until|Until|^cutoff)Ms$/.test(name)
      ? [name.slice(0, -'Ms'.length), dateOf(value)]
      : [name, value],
  );
  return Object.fromEntries(fields) as Dated<Row>;
}
