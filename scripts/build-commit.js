// The commit that a build is made from, for `cardpoll version`.
import { execFileSync } from 'node:child_process';

/**
 * SOURCE_COMMIT says it where a build has no history, as in a container.
 * @param {string} root of the source
 * @returns its first twelve digits, with `-dirty` if tracked files have been changed since; or `unknown`
 */
export function buildCommit(root, { SOURCE_COMMIT, ...env } = process.env) {
  if (SOURCE_COMMIT) return SOURCE_COMMIT.slice(0, 12);
  /** @param {string[]} args */
  const git = (...args) =>
    execFileSync('git', args, {
      cwd: root,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    // A source without history may have been unpacked inside another repository, whose commit says nothing about it.
    if (git('rev-parse', '--show-prefix') !== '') return 'unknown';
    return git('describe', '--always', '--dirty', '--abbrev=12', '--exclude=*');
  } catch {
    return 'unknown';
  }
}
