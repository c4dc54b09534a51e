// The environment of a command under test.

/** What vitest and the caller's shell set must not reach the product. */
export function outerEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(CARDPOLL_|VITEST|NODE_ENV$|FORCE_COLOR$|NO_COLOR$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
