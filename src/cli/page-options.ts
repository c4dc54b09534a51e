// Options of commands that show one page of a long list.
import { integer } from '../config/kinds.ts';
import type { OptionSpec } from './command.ts';

export interface PageOptions {
  readonly page: number;
  readonly pageSize: number;
}

export const LARGEST_PAGE_SIZE = 100;

/** @param pageSize what one page holds unless told otherwise. */
export function pageOptions(pageSize: number): readonly OptionSpec[] {
  return [
    { flags: '--page <n>', doc: 'page, from 1', kind: integer({ min: 1, max: 1_000_000 }), default: 1 },
    {
      flags: '--page-size <n>',
      doc: `lines a page, 1 to ${LARGEST_PAGE_SIZE}`,
      kind: integer({ min: 1, max: LARGEST_PAGE_SIZE }),
      default: pageSize,
    },
  ];
}
