// Parses the answer of INFO: its fields, and the product that speaks the protocol of Redis. Used by live-store.ts.

/** Servers that docs/installation.md lists as tested. */
const TESTED: Readonly<Record<string, string>> = { redis: 'Redis', valkey: 'Valkey' };

export function infoFields(info: string): Map<string, string> {
  return new Map(
    info.split('\r\n').flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
    }),
  );
}

/**
 * Names product and version. Every fork also reports a `redis_version`, by which clients decide what they may use: Valkey 9.1
 * reports 7.2.4.
 * @returns such as `Valkey 9.1.2`, or `speaks Redis 7.4.0, server name dragonfly (df-v1.40.1): not tested with cardpoll`; null if
 * the server reports no version
 */
export function softwareOf(info: string): string | null {
  // Only the first section: modules report their own versions further down.
  const fields = infoFields(info.split(/^# (?!Server)/m)[0] ?? '');
  const name = serverName(fields);
  const [redisVersion, version] = [fields.get('redis_version'), fields.get(`${name}_version`)];
  if (redisVersion === undefined && version === undefined) return null;
  const tested = TESTED[name];
  if (tested !== undefined && version !== undefined) return `${tested} ${version}`;
  const speaks = redisVersion === undefined ? '' : `speaks Redis ${redisVersion}, `;
  const own = version === undefined ? '' : ` (${version})`;
  return `${speaks}server name ${name}${own}: not tested with cardpoll`;
}

/** Valkey has its name in a field. Others only have a version named after them (Dragonfly, Kvrocks), or a program (KeyDB). */
function serverName(fields: ReadonlyMap<string, string>): string {
  const versions = [...fields.keys()].flatMap((field) => /^([a-z]+)_version$/.exec(field)?.[1] ?? []);
  return (
    fields.get('server_name')?.toLowerCase() ||
    versions.find((name) => name !== 'redis' && name !== 'gcc') ||
    (fields.get('executable')?.endsWith('/keydb-server') ? 'keydb' : 'redis')
  );
}
