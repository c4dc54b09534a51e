// The options of commands that show one page of a long list, or all of it.
import { integer } from '../../config/kinds.ts';
import { PAGE_BOUNDS, PAGE_SIZE_BOUNDS, type PageRequest } from '../../domain/page.ts';
import type { OptionSpec } from '../command.ts';

export interface PageOptions extends PageRequest {
  /** All pages, whatever the other two say. */
  readonly all?: boolean;
}

/** @param pageSize default number of lines per page. */
export function pageOptions(pageSize: number): readonly OptionSpec[] {
  return [
    { flags: '--page <n>', doc: 'page number, from 1', kind: integer(PAGE_BOUNDS), default: 1 },
    {
      flags: '--page-size <n>',
      doc: `lines per page, 1 to ${PAGE_SIZE_BOUNDS.max}`,
      kind: integer(PAGE_SIZE_BOUNDS),
      default: pageSize,
    },
    { flags: '--all', doc: 'all pages' },
  ];
}
