// Random logs, rotated and compressed in every known way, searched for random things: the same hits as the obvious
// implementation of test/support/log-reference.ts, with pruning and without, with each way to inflate. The same ones every
// time; CORPUS_SEED=N and CORPUS_RUNS=N have it look further.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { INTERFACE_ALIASES } from '../../../src/domain/gateway-interface.ts';
import { sampled } from '../../support/effort.ts';
import { seededRandom } from '../../support/gzip-damage.ts';
import { dayOf, type ReferenceFile, referenceSearch } from '../../support/log-reference.ts';
import { LogTree } from '../../support/log-tree.ts';

const SEED = Number(process.env.CORPUS_SEED ?? 1);
const RUNS = Number(process.env.CORPUS_RUNS ?? sampled(2, 8));
const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-01-30T00:00:00Z');
const ZONES = ['UTC', 'Asia/Shanghai', 'America/New_York', 'Asia/Kathmandu'];
const CARDS = ['8986001234567890123', '89860012345678901234', '898600123456789012', '8986009876543210987'];

type Random = () => number;
const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

/** A line's beginning and end around its content, by form; times without offset are in the corpus's zone. */
const FORMS: ReadonlyArray<(ms: number, zone: string, body: string) => string> = [
  (ms, _, body) => `{"level":"info","time":"${new Date(ms).toISOString()}",${body}}`,
  (ms, _, body) => `{${body},"ts":${ms / 1000}}`,
  (ms, _, body) => `{${body},"timestamp":${ms}}`,
  (ms, _, body) => `{"@timestamp":${ms}000,${body}}`,
  (ms, _, body) => `{"time":${ms}000000,${body}}`,
  (ms, zone, body) => `${local(ms, zone)},${String(ms % 1000).padStart(3, '0')} INFO ${body}`,
  (ms, zone, body) => `${local(ms, zone).replaceAll('-', '/')} [info] ${body}`,
  (ms, _, body) => `1.2.3.4 - - [${nginx(ms)}] "GET /card/stop HTTP/1.1" 200 ${body}`,
];

function local(ms: number, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(ms);
}

function nginx(ms: number): string {
  const [, , day, month, year, clock] =
    /(\w+), (\d+) (\w+) (\d+) ([\d:]+)/.exec(new Date(ms).toUTCString()) ?? [];
  return `${day}/${month}/${year}:${clock} +0000`;
}

const BODIES: ReadonlyArray<(card: string) => string> = [
  (card) => `"iccid":"${card}","path":"/gw/v1/real-name","realStatus":1`,
  (card) => `"iccid":"${card}","path":"/gw/v1/card_flow?x=1","used":12.5`,
  (card) => `"msg":"实名检查完成","iccid":"${card}"`,
  (card) => `"msg":"\\u6d41\\u91cf","iccid":${card}`,
  (card) => `"msg":"used stop start","card":"x${card}y"`,
  (card) => `"msg":"answer realStatus=1, heap.used=2","iccid":"${card}","url":"http://stop/gw/flow/query"`,
  (card) => `"msg":"call path=/gw/card-status/v1?used=1 ended, used=3","iccid":"${card}"`,
  (card) => `"body":"{\\"cardStatus\\":1,\\"iccid\\":\\"${card}\\"}"`,
  (card) => `"iccid":"1${card}"`,
  (card) => `"iccid":"${card}5","msg":"恢复"`,
  (card) => `"iccid":"${card}67","msg":"停机"`,
  (card) => `"msg":"no card, ${card.slice(0, 9)} only"`,
];

/** One log's lines over some days, cut into files in time order. */
function makeLog(
  random: Random,
  zone: string,
  parts: number,
): { content: Buffer; fromMs: number; toMs: number }[] {
  let ms = START_MS + Math.floor(random() * DAY_MS);
  const form = pick(random, FORMS);
  return Array.from({ length: parts }, () => {
    const lines: Buffer[] = [];
    const fromMs = ms;
    for (let count = 5 + Math.floor(random() * 60); count > 0; count -= 1) {
      ms += Math.floor(random() * 2 * 3_600_000);
      // Some lines come late, or have no time of their own. The first has one: the reference knows no file before.
      const at = ms - (random() < 0.1 ? Math.floor(random() * 3_000_000) : 0);
      const body = pick(random, BODIES)(pick(random, CARDS));
      const bare = random() < 0.1 && lines.length > 0;
      const line = bare ? `    at ${body}` : form(at, zone, body);
      lines.push(encode(random, line), Buffer.from(random() < 0.05 ? '\r\n' : '\n'));
    }
    if (random() < 0.2) lines.pop();
    return { content: Buffer.concat(lines), fromMs, toMs: ms };
  });
}

const GBK: Record<string, string> = {
  实名检查完成: 'cab5c3fbbcecb2e9cdeab3c9',
  恢复: 'bbd6b8b4',
  停机: 'cda3bbfa',
};

function encode(random: Random, line: string): Buffer {
  const phrase = Object.keys(GBK).find((text) => line.includes(text));
  if (phrase === undefined || random() < 0.5) return Buffer.from(line);
  const [before = '', after = ''] = line.split(phrase);
  return Buffer.concat([Buffer.from(before), Buffer.from(GBK[phrase] ?? '', 'hex'), Buffer.from(after)]);
}

const digits = (ms: number) => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');

/** Names of a log's parts, oldest first. */
const SCHEMES: ReadonlyArray<
  (base: string, part: number, parts: number, span: { fromMs: number; toMs: number }) => string
> = [
  (base, part, parts) => (part === parts - 1 ? `${base}.log` : `${base}.log.${parts - 1 - part}`),
  (base, part, parts, { toMs }) =>
    part === parts - 1 ? `${base}.log` : `${base}.log-${digits(toMs + DAY_MS)}-${part}`,
  (base, _, __, { toMs }) => `${base}-${new Date(toMs).toISOString().replaceAll(':', '-').slice(0, 23)}.log`,
  (base, part, _, { fromMs }) => `${base}.${new Date(fromMs).toISOString().slice(0, 10)}.${part}.log`,
  (base, part) => `${base}.${part}.log`,
];

function compress(random: Random, content: Buffer): { file: Buffer; suffix: string } {
  const kind = random();
  if (kind < 0.3) return { file: content, suffix: '' };
  const cut = Math.floor(random() * content.length);
  const pieces = kind < 0.5 ? [content.subarray(0, cut), content.subarray(cut)] : [content];
  const file = Buffer.concat([...pieces.map((piece) => gzipSync(piece)), Buffer.alloc(kind < 0.6 ? 100 : 0)]);
  return { file, suffix: random() < 0.8 ? '.gz' : '' };
}

function makeCorpus(random: Random, tree: LogTree, zone: string): ReferenceFile[] {
  const files: ReferenceFile[] = [];
  for (const base of ['a/worker', 'a/api', 'b/access']) {
    const parts = 1 + Math.floor(random() * 5);
    const scheme = pick(random, SCHEMES);
    makeLog(random, zone, parts).forEach((part, index) => {
      const { file, suffix } = compress(random, part.content);
      const name = scheme(base, index, parts, part) + suffix;
      // Copies lose their mtime.
      const mtimeMs = random() < 0.7 ? part.toMs : Date.parse('2026-03-01T00:00:00Z');
      tree.write(name, file, mtimeMs);
      files.push({ name, content: part.content });
    });
  }
  return files;
}

describe('random corpora', () => {
  it.each(Array.from({ length: RUNS }, (_, run) => SEED + run))('seed %i', async (seed) => {
    const random = seededRandom(seed);
    const tree = new LogTree();
    const zone = pick(random, ZONES);
    const files = makeCorpus(random, tree, zone);

    for (let query = 0; query < 12; query += 1) {
      const iccid = random() < 0.8 ? pick(random, CARDS) : pick(random, CARDS).slice(3, 12);
      const wanted = {
        interface: random() < 0.5 ? pick(random, INTERFACE_ALIASES) : undefined,
        strict: random() < 0.3,
        date: random() < 0.7 ? dayOf(START_MS + Math.floor(random() * 8) * DAY_MS, zone) : undefined,
      };
      const expected = referenceSearch(files, { card: iccid, zone, ...wanted });
      const what = JSON.stringify({ seed, iccid, zone, ...wanted });
      for (const how of [
        {},
        { prune: false },
        { inflate: 'zlib-sync' as const },
        { inflate: 'node' as const },
        { countOnly: true },
      ]) {
        const report = await tree.search({ iccid, tz: zone, ...wanted, ...how });
        expect(report.hits, `${what} ${JSON.stringify(how)}`).toBe(expected.length);
      }
      const all = await tree.search({ iccid, tz: zone, ...wanted, all: true });
      const records = [...all.records()];
      expect(records.map(({ line }) => line.toString('latin1')).sort()).toEqual(
        expected.map(({ line }) => line).sort(),
      );
      expect(records.map(({ timeMs }) => timeMs)).toEqual(
        records.map(({ timeMs }) => timeMs).sort((a, b) => a - b),
      );
    }
  });
});
