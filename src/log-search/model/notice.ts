// What a search reports about a file besides its hits (docs/log-search.md lists the codes).

export type NoticeCode =
  | 'truncated' // gzip that ends too early, or is still being written; what is there was searched
  | 'corrupt' // gzip that cannot be inflated from some point on
  | 'crc_mismatch' // gzip that inflates to something else than was compressed
  | 'trailing_garbage' // bytes behind gzip data that are no gzip data
  | 'not_searched' // compressed in a way that is not read
  | 'denied' // no permission
  | 'vanished' // gone before it was read
  | 'shrunk' // became shorter while it was read
  | 'read_error' // the system failed to read it
  | 'long_line' // a line was longer than is kept
  | 'duplicate' // holds the same data as another file and was not counted
  | 'dangling_link'; // a link to nothing

/** Data may be missing from the result with these. */
const MISSING: ReadonlySet<NoticeCode> = new Set([
  'truncated',
  'corrupt',
  'crc_mismatch',
  'trailing_garbage',
  'not_searched',
  'denied',
  'vanished',
  'shrunk',
  'read_error',
]);

export interface Notice {
  readonly path: string;
  readonly code: NoticeCode;
  readonly detail: string;
}

/** A notice before the file's path is added. */
export type FileProblem = Omit<Notice, 'path'>;

export function isIncomplete(notice: Pick<Notice, 'code'>): boolean {
  return MISSING.has(notice.code);
}
