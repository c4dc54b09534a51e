// Finds breaches of Prometheus' conventions in a page of metrics (prometheus.io/docs/practices/naming). promtool, which tests run on the
// page of a real daemon, checks some of them as well.

/** No base unit: seconds, bytes and ratios are. */
const OTHER_UNIT =
  /_(ms|(milli|micro|nano)seconds?|minutes?|hours?|days?|percent|bits|[kmg]b|(kilo|mega|giga)bytes)(_|$)/;
/** The label that a type gives a meaning to. */
const LABEL_OF: Readonly<Record<string, string>> = { histogram: 'le', summary: 'quantile' };

/** @param text in the exposition format @returns a sentence for each breach */
export function breachesOf(text: string): string[] {
  const lines = text.split('\n');
  const helped = new Set(lines.map((line) => /^# HELP (\S+) \S/.exec(line)?.[1]));
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  const ofNames = [...types].flatMap(([name, type]) => [
    ...(helped.has(name) ? [] : [`${name} has no help`]),
    ...(name.endsWith('_total') === (type === 'counter') ? [] : [`${name} is a ${type}`]),
    ...(OTHER_UNIT.test(name) ? [`${name} is not in a base unit`] : []),
  ]);
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return [...ofNames, ...new Set(samples.flatMap((sample) => breachesOfSample(sample, types)))];
}

function breachesOfSample(sample: string, types: ReadonlyMap<string, string>): string[] {
  const [name = ''] = /^\w+/.exec(sample) ?? [];
  const type = types.get(name) ?? types.get(name.replace(/_(bucket|sum|count)$/, ''));
  if (type === undefined) return [`${name} has no type`];
  return [...sample.matchAll(/[{,](le|quantile)="/g)]
    .filter(([, label]) => label !== LABEL_OF[type])
    .map(([, label]) => `${name} is a ${type} and has the label ${label}`);
}
