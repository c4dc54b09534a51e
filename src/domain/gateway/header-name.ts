// Names of headers that an operator may choose, in a profile or in a module: any that HTTP allows, but those that follow from the
// connection, which cardpoll sets itself.

const CHARS = "[\\w!#$%&'*+.^`|~-]{1,100}";

/** RFC 9110, 5.6.2. */
export const TOKEN = new RegExp(`^${CHARS}$`);

/** @param except more names that are not allowed here, each with a bar before it. */
export function headerName(except = ''): RegExp {
  const own = `host|connection|content-length|transfer-encoding|expect|upgrade${except}`;
  return new RegExp(`^(?!(${own})$)${CHARS}$`, 'i');
}
