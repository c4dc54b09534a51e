// Settings about `cardpoll logs`: by what else a line belongs to an interface. A part of the table in settings.ts.
import { type InterfaceName, perInterface } from '../../domain/gateway-interface.ts';
import { type Kind, listOf } from '../kinds.ts';
import { optional, type Setting } from './setting.ts';

const logs = ['logs'] as const;

export interface SignSettings {
  readonly paths: Setting<readonly string[] | null>;
  readonly fields: Setting<readonly string[] | null>;
  readonly phrases: Setting<readonly string[] | null>;
}

function signSettings(name: string): SignSettings {
  const yaml = `log_search.interfaces.${name}`;
  return {
    paths: optional({
      yaml: `${yaml}.paths`,
      kind: listOf(pathSegments()),
      doc: `Further path segments of ${name} calls; case, - and _ do not matter.`,
      defaultText: 'none but the usual',
      scopes: logs,
    }),
    fields: optional({
      yaml: `${yaml}.fields`,
      kind: listOf(matching('field name', /^[\w.@$-]{1,100}$/)),
      doc: `Further fields of answers to ${name} calls.`,
      defaultText: 'none but the usual',
      scopes: logs,
    }),
    phrases: optional({
      yaml: `${yaml}.phrases`,
      kind: listOf(matching('phrase without quotes and backslashes', /^[^\p{Cc}"\\]{1,100}$/u)),
      doc: `Further phrases of ${name} business lines.`,
      defaultText: 'none but the usual',
      scopes: logs,
    }),
  };
}

function matching(accepts: string, pattern: RegExp): Kind<string> {
  return {
    accepts,
    parse: (raw) =>
      typeof raw === 'string' && raw.trim() !== '' && pattern.test(raw)
        ? { ok: true, value: raw.trim() }
        : { ok: false, problem: `${JSON.stringify(raw)} is not a ${accepts}` },
  };
}

/** Each has a letter or digit: what is left of others when `-` and `_` do not matter would be in every path. */
function pathSegments(): Kind<string> {
  const segment = /^(?=.*[a-z\d])[\w.~%-]{1,100}$/i;
  const accepts = 'path segment (verify) or several (auth/check)';
  return {
    accepts,
    parse: (raw) =>
      typeof raw === 'string' && raw.split('/').every((part) => segment.test(part))
        ? { ok: true, value: raw }
        : { ok: false, problem: `${JSON.stringify(raw)} is not a ${accepts}` },
  };
}

/** By interface. */
export const LOG_SEARCH: Readonly<Record<InterfaceName, SignSettings>> = perInterface(signSettings);
