// The part of the settings table that is the same for every interface of the gateway profile. The defaults named here
// are those the gateway's profile applies; a test compares the two.
import { oneOf, text, urlPath } from './kinds.ts';
import { optional, type Setting } from './setting.ts';

const daemon = ['daemon'] as const;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH'] as const;
export type GatewayMethod = (typeof METHODS)[number];

/** The interfaces of the gateway profile with the defaults the gateway applies (contract, "Gateway profile"). */
const INTERFACE_DEFAULTS = {
  realname: { path: '/card/realname', field: 'realStatus' },
  flow: { path: '/card/flow', field: 'used' },
  card_status: { path: '/card/status', field: 'cardStatus' },
  stop: { path: '/card/stop', field: null },
  start: { path: '/card/start', field: null },
} as const;
export type GatewayInterfaceName = keyof typeof INTERFACE_DEFAULTS;

export interface InterfaceSettings {
  readonly method: Setting<GatewayMethod | null>;
  readonly path: Setting<string | null>;
  /** null for calls that change something and answer nothing. */
  readonly field: Setting<string | null> | null;
}

function interfaceSettings(name: GatewayInterfaceName): InterfaceSettings {
  const yaml = `gateway.interfaces.${name}`;
  const { path, field } = INTERFACE_DEFAULTS[name];
  return {
    method: optional({
      yaml: `${yaml}.method`,
      kind: oneOf(METHODS),
      defaultText: 'POST',
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
      field === null
        ? null
        : optional({
            yaml: `${yaml}.field`,
            kind: text('field name'),
            defaultText: field,
            doc: `Field of the answer's data the ${name} call reads.`,
            scopes: daemon,
          }),
  };
}

export const GATEWAY_INTERFACES = {
  realname: interfaceSettings('realname'),
  flow: interfaceSettings('flow'),
  card_status: interfaceSettings('card_status'),
  stop: interfaceSettings('stop'),
  start: interfaceSettings('start'),
} as const satisfies Record<GatewayInterfaceName, InterfaceSettings>;
