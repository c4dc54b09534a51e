// A directory of log files for one test, and a search in it. Removed after the test.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SearchOptions } from '../../src/log-search/model.ts';
import { type Report, searchLogs } from '../../src/log-search/search.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export class LogTree {
  readonly root: string;

  constructor() {
    this.root = temporaryDirectory('log-tree');
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** @param mtime anything Date understands. */
  write(name: string, content: string | Buffer, mtime?: string | number): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    if (mtime !== undefined) utimesSync(path, new Date(mtime), new Date(mtime));
    return path;
  }

  /** What the binary is told to search the tree for a card. */
  searchCommand(iccid: string, ...args: readonly string[]): string[] {
    return ['logs', '--roots', this.root, '--iccid', iccid, '--tz', 'UTC', ...args];
  }

  /** Searches the tree on this thread. */
  async search(options: Partial<SearchOptions> & { iccid: string }): Promise<Report> {
    const report = await searchLogs({ roots: [this.root], tz: 'UTC', threads: 1, ...options });
    onTestFinished(() => report.close());
    return report;
  }
}
