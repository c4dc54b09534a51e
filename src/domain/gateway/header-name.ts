// Names of headers that an operator may choose, in a profile or in a module: all that HTTP allows, except the headers of the
// connection, which cardpoll sets itself.

const CHARS = "[\\w!#$%&'*+.^`|~-]{1,100}";

/** RFC 9110, 5.6.2. */
export const TOKEN = new RegExp(`^${CHARS}$`);

/** @param except further forbidden names, each with a bar before it. */
export function headerName(except = ''): RegExp {
  const own = `host|connection|content-length|transfer-encoding|expect|upgrade${except}`;
  return new RegExp(`^(?!(${own})$)${CHARS}$`, 'i');
}
