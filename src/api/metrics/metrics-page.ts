// One scrape's worth of metrics: totals are set, not counted here, so every scrape begins anew. Used by metrics.ts and
// metrics-upkeep.ts.
import { Counter, Gauge, Registry } from 'prom-client';
import { PREFIX } from './instruments.ts';

export class Page {
  readonly registry = new Registry();

  gauge<Label extends string>(name: string, help: string, labelNames: readonly Label[] = []): Gauge<Label> {
    return new Gauge({ name: PREFIX + name, help, labelNames, registers: [this.registry] });
  }

  counter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Counter<Label> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.registry] });
  }
}
