// A gateway as the configuration describes it, with the defaults of the settings table. For tests that open a client.
import type { GatewayConfig, GatewayInterface } from '../../src/config/daemon-config.ts';
import { GATEWAY, INTERFACE_SETTINGS } from '../../src/config/settings/gateway-settings.ts';
import type { Section, Values } from '../../src/config/settings/setting.ts';
import { type InterfaceName, perInterface } from '../../src/domain/gateway-interface.ts';

export interface GatewayChanges extends Partial<Omit<GatewayConfig, 'interfaces'>> {
  readonly url: string;
  readonly interfaces?: Partial<Record<InterfaceName, Partial<GatewayInterface>>>;
}

export function gatewayConfig({ interfaces = {}, ...changes }: GatewayChanges): GatewayConfig {
  return {
    ...defaultsOf(GATEWAY),
    ...changes,
    interfaces: perInterface((name) => {
      const { method, path, field } = INTERFACE_SETTINGS[name];
      return {
        method: method.default,
        path: path.default,
        field: field?.default ?? null,
        ...interfaces[name],
      };
    }),
  };
}

/** What a section is when nothing is set. */
export function defaultsOf<S extends Section>(section: S): Values<S> {
  const values = Object.entries(section).map(([name, setting]) => [name, setting.default]);
  return Object.fromEntries(values) as Values<S>;
}
