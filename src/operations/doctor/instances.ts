// The instances of the fleet: which are alive, and whether they run one version. Used by fleet.ts. Pure.
import { type Finding, ok, skipped, warning } from '../../domain/finding.ts';
import type { InstanceInfo } from '../../store/ports/live/coordination.ts';

export function instanceFindings(instances: readonly InstanceInfo[]): Finding[] {
  const check = 'instances';
  if (instances.length === 0) return [skipped(check, 'no instance is alive')];
  const versions = new Map<string, string[]>();
  for (const { version, instanceId } of instances) {
    versions.set(version, [...(versions.get(version) ?? []), instanceId]);
  }
  const said = [...versions].map(([version, ids]) => `${ids.length} of ${version}`).join(', ');
  if (versions.size === 1) return [ok(check, said)];
  return [
    warning(check, `${said}: mixed versions are meant only for the time of an upgrade`, {
      hint: 'upgrade the older ones',
      command: 'cardpoll stats instances',
    }),
  ];
}
