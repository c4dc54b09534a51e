// What a search reports about a file besides its hits (docs/log-search.md lists the codes).

/** With true the result may be incomplete. */
const MAY_BE_INCOMPLETE = {
  truncated: true, // gzip data that ends too early, or is still being written; the existing part was searched
  corrupt: true, // gzip data that cannot be inflated from some byte on
  crc_mismatch: true, // gzip data with a wrong checksum or length
  trailing_garbage: true, // bytes after gzip data that are not gzip data
  not_searched: true, // an unsupported compression format
  denied: true, // no permission
  vanished: true, // gone before it was read
  shrunk: true, // became shorter while it was read
  read_error: true, // the system reported an error
  long_line: false, // a line is longer than the part that is kept
  duplicate: false, // holds the same data as another file and was not counted
  dangling_link: false, // a link to nothing
} as const;

export type NoticeCode = keyof typeof MAY_BE_INCOMPLETE;

export interface Notice {
  readonly path: string;
  readonly code: NoticeCode;
  readonly detail: string;
}

/** A notice before the file's path is added. */
export type FileProblem = Omit<Notice, 'path'>;

export function isIncomplete(notice: Pick<Notice, 'code'>): boolean {
  return MAY_BE_INCOMPLETE[notice.code];
}
