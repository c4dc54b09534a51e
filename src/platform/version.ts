// The version of this build, inlined from package.json by the bundler, and the commit that it was built from.
import manifest from '../../package.json' with { type: 'json' };

/** Written by scripts/build.js; does not exist where the source runs without it. */
declare const BUILD_COMMIT: string;

export const VERSION: string = manifest.version;

/** `unknown` if it was built without the git history, for example from a tarball. */
export const COMMIT: string = typeof BUILD_COMMIT === 'undefined' ? 'unknown' : BUILD_COMMIT;
