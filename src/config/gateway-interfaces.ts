// The part of the settings table that is the same for every interface of the gateway profile.
import {
  GATEWAY_METHODS,
  type GatewayMethod,
  INTERFACES,
  type InterfaceName,
  perInterface,
} from '../domain/gateway-interface.ts';
import { oneOf, text, urlPath } from './kinds.ts';
import { optional, type Setting } from './setting.ts';

const daemon = ['daemon'] as const;

export interface InterfaceSettings {
  readonly method: Setting<GatewayMethod | null>;
  readonly path: Setting<string | null>;
  /** null for calls that change something and answer nothing. */
  readonly field: Setting<string | null> | null;
}

export const INTERFACE_SETTINGS: Readonly<Record<InterfaceName, InterfaceSettings>> = perInterface((name) => {
  const yaml = `gateway.interfaces.${name}`;
  const { method, path, answer } = INTERFACES[name];
  return {
    method: optional({
      yaml: `${yaml}.method`,
      kind: oneOf(GATEWAY_METHODS),
      defaultText: method,
      doc: `HTTP method of the ${name} call.`,
      scopes: daemon,
    }),
    path: optional({
      yaml: `${yaml}.path`,
      kind: urlPath(),
      defaultText: path,
      doc: `Path of the ${name} call, below the base URL.`,
      scopes: daemon,
    }),
    field:
      answer === null
        ? null
        : optional({
            yaml: `${yaml}.field`,
            kind: text('field name'),
            defaultText: answer.field,
            doc: `Field of the answer's data the ${name} call reads.`,
            scopes: daemon,
          }),
  };
});
