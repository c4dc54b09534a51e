// Classifies an answer that is not JSON: an HTML page, and whether it is a sign-in page. Used by answer.ts and session-end.ts,
// and for advice. Pure.

export const NOT_JSON = 'not JSON';
export const PAGE = 'a page of HTML, not JSON';
export const SIGN_IN_PAGE = 'a page to sign in (HTML), not JSON';

const HEAD_CHARS = 65_536;
const HTML = /^\s*<(!--|(!doctype\s+html|html|head|body|title|meta|script)\b)/i;
const XHTML = /^\s*<\?xml\b[^>]*>\s*(<!--((?!-->)[\s\S])*-->\s*)*<(!doctype\s+html|html)\b/i;
const SIGN_IN =
  /type\s*=\s*["']?password\b|<title>[^<]{0,200}(\b(log|sign)[ -]?(in|on)\b|登录|登陆)|(action|href|url)\s*=\s*["']?[^"'\s>]{0,500}[/.](log|sign)[-_]?(in|on)\b/i;
const SIGN_IN_PLACE =
  /[/.](log|sign)[-_]?(in|on)\b|[/.](sso|saml2?|cas|oidc|oauth2?|auth|authorize|authenticate)(?=[/.?#]|$)/i;

/** Describes a body. The text continues "the body is". */
export function kindOfBody(text: string): string {
  if (text === '') return 'empty';
  const head = text.slice(0, HEAD_CHARS);
  if (isPage(head)) return SIGN_IN.test(head) ? SIGN_IN_PAGE : PAGE;
  return /^\s*<\?xml\b/i.test(head) ? 'XML, not JSON' : NOT_JSON;
}

/** True for an HTML page, such as a sign-in, proxy or error page. */
export function isPage(text: string): boolean {
  return HTML.test(text) || XHTML.test(text);
}

/** Whether a redirect leads to a sign-in page. @param location URL or path. */
export function isSignInPlace(location: string): boolean {
  return SIGN_IN_PLACE.test(location);
}
