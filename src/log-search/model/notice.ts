// What a search reports about a file besides its hits (docs/log-search.md lists the codes).

export type NoticeCode =
  | 'truncated' // gzip data that ends too early, or is still being written; the existing part was searched
  | 'corrupt' // gzip data that cannot be inflated from some byte on
  | 'crc_mismatch' // gzip data with a wrong checksum or length
  | 'trailing_garbage' // bytes after gzip data that are not gzip data
  | 'not_searched' // an unsupported compression format
  | 'denied' // no permission
  | 'vanished' // gone before it was read
  | 'shrunk' // became shorter while it was read
  | 'read_error' // the system reported an error
  | 'long_line' // a line is longer than the part that is kept
  | 'duplicate' // holds the same data as another file and was not counted
  | 'dangling_link'; // a link to nothing

/** With these notices the result may be incomplete. */
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
