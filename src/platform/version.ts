// The version of this build, inlined from package.json by the bundler.
import manifest from '../../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;
