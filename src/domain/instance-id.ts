// The id of a running instance: host, name (`instance_name`, or the process id) and a random part, so that a restart has another
// id. Screens name an instance by its host and name.

/** @param random six hexadecimal digits. */
export function instanceIdOf(hostname: string, name: string | number, random: string): string {
  return `${hostname}-${name}-${random}`;
}

/** @returns `host-name`; an id of another form as it is. */
export function instanceLabel(id: string): string {
  return id.replace(/-[0-9a-f]{6}$/, '');
}
