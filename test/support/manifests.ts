// The manifests of deploy/kubernetes, read: for the test of their form, and for the one that starts what they describe.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { Container, PodSpec } from 'kubernetes-types/core/v1.js';
import { parse, parseAllDocuments } from 'yaml';
import { REPOSITORY } from './markdown.ts';

const FOLDER = join(REPOSITORY, 'deploy/kubernetes');
/** Not Kubernetes resources: the kustomization, and the daemon's configuration. */
const OTHERS: readonly string[] = ['kustomization.yaml', 'cardpoll.yaml'];

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

export const readManifests = (file: string): Manifest[] =>
  parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((one) => one.toJS() as Manifest);

/** By file. */
export const MANIFESTS: ReadonlyMap<string, readonly Manifest[]> = new Map(
  readdirSync(FOLDER)
    .filter((file) => !OTHERS.includes(file))
    .map((file) => [file, readManifests(file)]),
);

export const [KUSTOMIZATION = {}] = readManifests('kustomization.yaml') as {
  resources?: string[];
  configMapGenerator?: { name: string; files: string[] }[];
  images?: { name: string; newName: string; newTag: string }[];
}[];

export interface Pod {
  readonly name: string;
  readonly deployment: Deployment;
  readonly spec: PodSpec;
  readonly container: Container;
  /** The variables of the container. */
  readonly env: Readonly<Record<string, string>>;
}

export const PODS: readonly Pod[] = [...MANIFESTS.values()]
  .flat()
  .filter(({ kind }) => kind === 'Deployment')
  .map((manifest) => {
    const deployment = manifest as Deployment;
    const spec = deployment.spec?.template.spec;
    const container = spec?.containers[0];
    if (spec === undefined || container === undefined)
      throw new Error(`${manifest.metadata.name} has no container`);
    const env = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value ?? '']));
    return { name: manifest.metadata.name, deployment, spec, container, env };
  });

/** What the image sets, by its Dockerfile. */
export const IMAGE_ENV: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...readFileSync(join(REPOSITORY, 'deploy/oci/Dockerfile'), 'utf8').matchAll(
      /(?:^ENV| )([A-Z_]+)=(\S+)/gm,
    ),
  ].map(([, name = '', value = '']) => [name, value]),
);

/** The keys of the Secret and their values in the example. */
export const EXAMPLE_SECRET: Readonly<Record<string, string>> = (
  parse(readFileSync(join(FOLDER, 'secret.example.yaml'), 'utf8')) as { stringData: Record<string, string> }
).stringData;
