// A gateway as the configuration describes it, with the default profile. For tests that open a client.

import { loadGatewayConfig } from '../../src/config/load-config.ts';
import type { Section, Values } from '../../src/config/settings/setting.ts';
import type { GatewayConfig, GatewayInterface } from '../../src/domain/gateway/gateway-config.ts';
import { type InterfaceName, perInterface } from '../../src/domain/gateway-interface.ts';

export interface GatewayChanges extends Partial<Omit<GatewayConfig, 'interfaces'>> {
  readonly url: string;
  readonly interfaces?: Partial<Record<InterfaceName, Partial<GatewayInterface> | null>>;
}

const { gateway: DEFAULT } = await loadGatewayConfig({
  flags: { '--gateway-url': 'http://127.0.0.1:1' },
  env: {},
});

export function gatewayConfig({ interfaces = {}, ...changes }: GatewayChanges): GatewayConfig {
  return {
    ...DEFAULT,
    ...changes,
    interfaces: perInterface((name) => {
      const change = interfaces[name];
      return change === null ? null : { ...(DEFAULT.interfaces[name] as GatewayInterface), ...change };
    }),
  };
}

/** What a section is when nothing is set. */
export function defaultsOf<S extends Section>(section: S): Values<S> {
  const values = Object.entries(section).map(([name, setting]) => [name, setting.default]);
  return Object.fromEntries(values) as Values<S>;
}
