// The manifests of deploy/kubernetes, as far as it can be known without a cluster: that they have the form that Kubernetes
// gives its resources, that what they name exists, and that a pod has time to drain. test/e2e/kubernetes.test.ts starts them.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Service } from 'kubernetes-types/core/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import { expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { ALL_SETTINGS, SETTINGS } from '../../../src/config/settings/settings.ts';
import {
  EXAMPLE_SECRET,
  IMAGE_ENV,
  KUSTOMIZATION,
  MANIFESTS,
  type Manifest,
  PODS,
} from '../../support/manifests.ts';
import { REPOSITORY } from '../../support/markdown.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const all = [...MANIFESTS.values()].flat();
const VARIABLES = ALL_SETTINGS.flatMap(({ env, file }) => [env, file?.env]);
const CREDENTIALS = ALL_SETTINGS.flatMap(({ file }) => file?.credential ?? []);
/** After the drain a daemon may take this long to close (ENDING_MS of src/wiring.ts), and the signal comes late. */
const CLOSING_MS = 30_000 + 10_000;
/** What Kubernetes takes as a name. */
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** What the compiler says of manifests as values of the types that are made from the schemas of Kubernetes. */
async function mistakesIn(manifests: readonly object[]): Promise<string> {
  const directory = temporaryDirectory('manifests');
  const lines = (manifests as Manifest[]).flatMap((manifest, at) => [
    `import type { ${manifest.kind} as Kind${at} } from 'kubernetes-types/${manifest.apiVersion === 'v1' ? 'core/v1' : manifest.apiVersion}';`,
    `export const manifest${at}: Kind${at} = ${JSON.stringify(manifest)};`,
  ]);
  writeFileSync(join(directory, 'manifests.ts'), lines.join('\n'));
  const types = { 'kubernetes-types/*': [join(REPOSITORY, 'node_modules/kubernetes-types/*')] };
  const options = { strict: true, noEmit: true, module: 'nodenext', types: [], paths: types };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }));
  const tsc = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
  const run = promisify(execFile)(process.execPath, [tsc, '-p', directory]);
  return run.then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
}

it('the manifests have the form that Kubernetes gives them', async () => {
  expect(all.map(({ kind }) => kind).sort()).toEqual([
    'Deployment',
    'Deployment',
    'Namespace',
    'PodDisruptionBudget',
    'PodDisruptionBudget',
    'Secret',
    'Service',
  ]);
  expect(await mistakesIn(all)).toBe('');
});

it('a field that Kubernetes does not know, or one of another type, is found', async () => {
  const [budget] = all.filter(({ kind }) => kind === 'PodDisruptionBudget') as PodDisruptionBudget[];
  const [service] = all.filter(({ kind }) => kind === 'Service') as Service[];
  const wrong = [
    { ...budget, spec: { ...budget?.spec, maxUnavailabel: 1 } },
    { ...service, spec: { ...service?.spec, ports: [{ port: '7480' }] } },
  ];
  const found = await mistakesIn(wrong);
  expect(found).toMatch(/maxUnavailabel/);
  expect(found).toMatch(/'string' is not assignable to type 'number'/);
});

it('kustomize takes every manifest but the example, whose name no cluster takes', () => {
  const files = [...MANIFESTS.keys()].filter((file) => file !== 'secret.example.yaml');
  expect([...(KUSTOMIZATION.resources ?? [])].sort()).toEqual(files.sort());
  const isNamed = ({ metadata }: Manifest) => NAME.test(metadata.name);
  expect(all.filter((one) => !isNamed(one)).map(({ kind }) => kind)).toEqual(['Secret']);
});

it('variables and secrets of the pods are settings, and every needed secret is in the example', () => {
  for (const { name, env } of PODS) {
    const own = Object.keys(env).filter((key) => key !== 'CREDENTIALS_DIRECTORY');
    for (const key of own) expect([...VARIABLES, 'CARDPOLL_CONFIG'], `${name} ${key}`).toContain(key);
  }
  for (const key of Object.keys(EXAMPLE_SECRET)) expect(CREDENTIALS).toContain(key);
  expect(Object.keys(EXAMPLE_SECRET)).toEqual(
    expect.arrayContaining(['redis_url', 'database_url', 'admin_tokens']),
  );
});

it('pods mount what their variables name, and no other user can read the secrets', () => {
  for (const { spec, container, env } of PODS) {
    const at = new Map(container.volumeMounts?.map(({ mountPath, name }) => [mountPath, name]));
    const volume = (path: string) => spec.volumes?.find(({ name }) => name === at.get(path));
    expect(volume(env.CREDENTIALS_DIRECTORY ?? '')?.secret?.secretName).toBe('cardpoll');
    expect((volume(env.CREDENTIALS_DIRECTORY ?? '')?.secret?.defaultMode ?? 0o644) & 0o007).toBe(0);
    expect(spec.securityContext?.fsGroup).toBe(spec.securityContext?.runAsGroup);
    const [generated] = KUSTOMIZATION.configMapGenerator ?? [];
    expect(volume('/etc/cardpoll')?.configMap?.name).toBe(generated?.name);
    expect(env.CARDPOLL_CONFIG).toBe(`/etc/cardpoll/${generated?.files[0]}`);
  }
});

it('pods run without rights, as the user of the image, and get no variables of services', () => {
  for (const { spec, container } of PODS) {
    // The daemon refuses variables that it does not know, such as CARDPOLL_PORT of a Service named cardpoll.
    expect(spec).toMatchObject({ enableServiceLinks: false, automountServiceAccountToken: false });
    expect(spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 10_001,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources).toMatchObject({
      requests: { cpu: expect.anything(), memory: '512Mi' },
      limits: { memory: '1Gi' },
    });
  }
});

it('probes and the service lead to the port on which the image listens', () => {
  const [service] = all.filter(({ kind }) => kind === 'Service') as Service[];
  for (const { container, env } of PODS) {
    const port = { name: 'http', containerPort: 7480 };
    expect(container.ports).toEqual([port]);
    const listens = env.CARDPOLL_ROLES?.includes('api')
      ? IMAGE_ENV.CARDPOLL_LISTEN
      : IMAGE_ENV.CARDPOLL_PROBE_LISTEN;
    expect(listens).toBe(`0.0.0.0:${port.containerPort}`);
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe])
      expect(probe?.httpGet?.port).toBe('http');
  }
  expect(service?.spec?.ports?.[0]).toMatchObject({ targetPort: 'http' });
});

it('a pod has time to drain before it is killed', () => {
  for (const { spec, env } of PODS) {
    const drainMs = SETTINGS.polling.drainTimeoutMs.default as number;
    const delayMs = Number(env.CARDPOLL_API_DRAIN_DELAY_MS ?? 0);
    expect((spec.terminationGracePeriodSeconds ?? 30) * 1_000).toBeGreaterThanOrEqual(
      Math.max(drainMs, delayMs) + CLOSING_MS,
    );
  }
});

it('budgets and the service select the pods of their deployment', () => {
  const labelsOf = ({ deployment }: (typeof PODS)[number]) => deployment.spec?.template.metadata?.labels;
  const budgets = all.filter(({ kind }) => kind === 'PodDisruptionBudget') as PodDisruptionBudget[];
  for (const pod of PODS) {
    expect(pod.deployment.spec?.selector.matchLabels).toEqual(labelsOf(pod));
    const own = budgets.filter(({ metadata }) => metadata?.name === pod.name);
    expect(own.map(({ spec }) => spec?.selector?.matchLabels)).toEqual([labelsOf(pod)]);
  }
  const [service] = all.filter(({ kind }) => kind === 'Service') as Service[];
  const api = PODS.filter(({ env }) => env.CARDPOLL_ROLES?.includes('api'));
  expect(api.map(labelsOf)).toEqual([service?.spec?.selector]);
});

it('the kustomization names the image of this version', () => {
  expect(KUSTOMIZATION.images).toEqual([
    { name: 'cardpoll', newName: 'registry.example/cardpoll', newTag: manifest.version },
  ]);
});
