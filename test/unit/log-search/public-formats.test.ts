// Forty-eight forms of log lines as public programs write them, in our own words: a day is counted right, or the search says that
// it cannot. Each file has five lines of the card: half an hour before and after both midnights of 2026-11-10 in Shanghai, and
// one at 07:00, which UTC counts to the day before.
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/log-search/report/report.ts';
import { type Parts, partsOf, twelveHours } from '../../support/log-times.ts';
import { LogTree } from '../../support/log-tree.ts';

const CARD = '89860622330044556677';
const HALF_HOUR = 1_800_000;
const MIDNIGHTS = [Date.parse('2026-11-09T16:00:00Z'), Date.parse('2026-11-10T16:00:00Z')];
const MORNING = 7 * 2 * HALF_HOUR;
const INSTANTS = MIDNIGHTS.flatMap((ms) => [
  ms - HALF_HOUR + 123,
  ms + HALF_HOUR + 123,
  ms + MORNING + 123,
]).slice(0, 5);
const MTIME = '2026-11-12T02:00:00Z';

type Form = (parts: Parts, message: string) => string;

const nanos = ({ ms }: Parts) => `${ms}000000`;
const seconds = ({ ms }: Parts) => (ms / 1000).toFixed(3);

const FORMS: Readonly<Record<string, Form>> = {
  'pino, its time in ms': ({ ms }, text) => JSON.stringify({ level: 30, time: ms, pid: 1, msg: text }),
  'zap, seconds as a float': (p, text) =>
    `{"level":"info","ts":${seconds(p)},"caller":"a/b.go:1","msg":"${text}"}`,
  winston: ({ utc }, text) =>
    `{"level":"info","message":"${text}","timestamp":"${utc.date}T${utc.clock}.${utc.fraction}Z"}`,
  Logstash: ({ utc }, text) =>
    `{"@timestamp":"${utc.date}T${utc.clock}.${utc.fraction}Z","@version":"1","message":"${text}"}`,
  Serilog: (p, text) =>
    `{"@t":"${p.date}T${p.clock}.${p.fraction}0000+08:00","@m":"${text}","until":"2027-01-01T00:00:00Z"}`,
  'Log4j 2, timeMillis last': ({ ms }, text) =>
    `{"thread":"main","level":"INFO","message":"${text} since 2024-03-01 08:00:00","timeMillis":${ms}}`,
  'Log4j 2, instant': ({ ms }, text) =>
    `{"instant":{"epochSecond":${Math.floor(ms / 1000)},"nanoOfSecond":123000000},"message":"${text}"}`,
  'Cloud Logging, seconds and nanos': ({ ms }, text) =>
    `{"message":"${text}","timestamp":{"seconds":${Math.floor(ms / 1000)},"nanos":123000000}}`,
  MongoDB: (p, text) =>
    `{"t":{"$date":"${p.date}T${p.clock}.${p.fraction}+08:00"},"s":"I","c":"NETWORK","msg":"${text}"}`,
  GELF: (p, text) => `{"version":"1.1","host":"h","short_message":"${text}","timestamp":${seconds(p)}}`,
  'journald as JSON': ({ ms }, text) =>
    `{"__CURSOR":"s=1","__REALTIME_TIMESTAMP":"${ms}000","MESSAGE":"${text}"}`,
  'logfmt, the time behind other pairs': (p, text) =>
    `level=info component=gateway-client-of-the-poller msg="${text}" time=${p.date}T${p.clock}+08:00`,
  'go-kit': ({ utc }, text) =>
    `level=info ts=${utc.date}T${utc.clock}.${utc.fraction}Z caller=main.go:1 msg="${text}"`,
  'RFC 5424': ({ utc }, text) =>
    `<34>1 ${utc.date}T${utc.clock}.${utc.fraction}Z host1 cardpoll 8 ID47 - ${text}`,
  'RFC 3164': (p, text) =>
    `<34>${p.monthName} ${p.day.replace(/^0/, ' ')} ${p.clock} host1 cardpoll[8]: ${text}`,
  'systemd, short-full': (p, text) => `${p.weekday} ${p.date} ${p.clock} CST host1 cardpoll[8]: ${text}`,
  'nginx access, IPv6': (p, text) =>
    `2001:0db8:85a3:0000:0000:8a2e:0370:7334 - - [${p.day}/${p.monthName}/${p.year}:${p.clock} +0800] "GET /x?${text} HTTP/1.1" 200 1`,
  'nginx error': (p, text) => `${p.date.replaceAll('-', '/')} ${p.clock} [error] 7#7: *1 ${text}`,
  'Apache error': (p, text) =>
    `[${p.weekday} ${p.monthName} ${p.day} ${p.clock}.123456 ${p.year}] [core:error] [pid 9] ${text}`,
  Tomcat: (p, text) =>
    `${p.day}-${p.monthName}-${p.year} ${p.clock}.${p.fraction} INFO [main] a.b.C.d ${text}`,
  'java.util.logging, with a narrow blank': (p, text) =>
    `${p.monthName} ${Number(p.day)}, ${p.year} ${twelveHours(p).replace(' ', '\u202f')} a.b.C d ${text}`,
  Log4j: (p, text) => `${p.date} ${p.clock},${p.fraction} [main] INFO  a.b.C - ${text}`,
  'Logback, colons before milliseconds': (p, text) =>
    `[${p.date} ${p.clock}:${p.fraction}] [main] INFO a.b.C - ${text}`,
  Elasticsearch: (p, text) => `[${p.date}T${p.clock},${p.fraction}][INFO ][o.e.n.Node] ${text}`,
  klog: (p, text) => `I${p.month}${p.day} ${p.clock}.123456       1 poll.go:12] ${text}`,
  'glog with its year': (p, text) => `W${p.date.replaceAll('-', '')} ${p.clock}.123456  9 poll.cc:9] ${text}`,
  'Rust tracing in colour': ({ utc }, text) =>
    `\x1b[2m${utc.date}T${utc.clock}.123456Z\x1b[0m \x1b[32m INFO\x1b[0m poller: ${text}`,
  Ruby: (p, text) => `I, [${p.date}T${p.clock}.123456 #9]  INFO -- : ${text}`,
  'Python behind the level': (p, text) => `WARNING:  ${p.date} ${p.clock},${p.fraction} poller ${text}`,
  'PHP, with the name of its zone': ({ utc }, text) =>
    `[${utc.day}-${utc.monthName}-${utc.year} ${utc.clock} Etc/UTC] PHP Notice: ${text}`,
  'PostgreSQL in UTC': ({ utc }, text) => `${utc.date} ${utc.clock}.${utc.fraction} UTC [41] LOG:  ${text}`,
  Redis: (p, text) => `7:M ${p.day} ${p.monthName} ${p.year} ${p.clock}.${p.fraction} * ${text}`,
  Squid: (p, text) => `${seconds(p)}     45 10.0.0.1 TCP_MISS/200 9 GET http://gw/${text} -`,
  date: (p, text) => `${p.weekday} ${p.monthName} ${p.day} ${p.clock} CST ${p.year} ${text}`,
  'mail headers': ({ utc }, text) =>
    `${utc.weekday}, ${utc.day} ${utc.monthName} ${utc.year} ${utc.clock} GMT ${text}`,
  'a Chinese date': (p, text) => `${p.year}年${Number(p.month)}月${Number(p.day)}日 ${p.clock} ${text}`,
  '.NET in English': (p, text) => `${Number(p.month)}/${Number(p.day)}/${p.year} ${twelveHours(p)} ${text}`,
  Docker: ({ utc }, text) =>
    `{"log":"09:00:00 ${text}\\n","stream":"stdout","time":"${utc.date}T${utc.clock}.${nanos(utc).slice(10)}Z"}`,
  'a pod in front': ({ utc }, text) =>
    `[pod/cardpoll-worker-7d9f8b6c5d-x2x4z/cardpoll] ${utc.date}T${utc.clock}.123456789Z ${text}`,
  Spark: (p, text) => `${p.date.slice(2).replaceAll('-', '/')} ${p.clock} INFO BlockManager: ${text}`,
  'IBM WebSphere, the month first': (p, text) =>
    `[${Number(p.month)}/${p.day}/${p.year.slice(2)} ${p.clock}:${p.fraction} CST] 0000004a a.B  I ${text}`,
  'Amazon S3': ({ utc }, text) =>
    `79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be bucket [${utc.day}/${utc.monthName}/${utc.year}:${utc.clock} +0000] 192.0.2.3 x ${text}`,
  'Apache, with the host in front': (p, text) =>
    `gateway-number-12.eu-central.example.com:443 10.0.0.1 - - [${p.day}/${p.monthName}/${p.year}:${p.clock} +0800] "GET /?${text}"`,
  HAProxy: (p, text) =>
    `haproxy[14389]: 10.0.1.2:33317 [${p.day}/${p.monthName}/${p.year}:${p.clock}.${p.fraction}] http-in b/s1 ${text}`,
  svlogd: ({ utc }, text) => `${utc.date}_${utc.clock}.${utc.fraction}45 ${text}`,
  FortiGate: (p, text) => `date=${p.date} time=${p.clock} devname="fg" eventtime=${nanos(p)} ${text}`,
  'Erlang, the time above': (p, text) =>
    `=INFO REPORT==== ${p.day}-${p.monthName}-${p.year}::${p.clock} ===\n    ${text}`,
  Compose: (p, text) => `cardpoll-worker-1  | ${p.date} ${p.clock} ${text}`,
};
/** They leave out the year, or the zone, or do not say which number is the month. */
const UNDATED = new Set([
  ...['RFC 3164', 'klog', 'svlogd', 'Spark', '.NET in English'],
  'IBM WebSphere, the month first',
]);

async function search(name: string, content: string | Buffer) {
  const tree = new LogTree();
  tree.write(name, content, MTIME);
  return tree.search({ iccid: CARD, date: '2026-11-10', tz: 'Asia/Shanghai' });
}

const contentOf = (form: Form) => INSTANTS.map((ms) => `${form(partsOf(ms), `iccid=${CARD}`)}\n`).join('');

it('are forty-eight', () => {
  expect(Object.keys(FORMS)).toHaveLength(48);
});

it.each(Object.entries(FORMS))('%s', async (name, form) => {
  for (const [file, content] of [
    ['app.log', contentOf(form)],
    ['app.log.gz', gzipSync(contentOf(form))],
  ] as const) {
    const report = await search(file, content);
    const { hits, undated } = report;
    const right = UNDATED.has(name) ? { hits: 0, undated: 5, code: 2 } : { hits: 3, undated: 0, code: 0 };
    expect({ hits, undated, code: exitCodeOf(report) }, file).toEqual(right);
  }
});

it('the name of a month in another language is not known, and the report says so', async () => {
  for (const text of [
    '10 ноя 2026 09:00:00',
    '10-nov.-2026 09:00:00',
    '10 de mayo de 2026 09:00',
    '10/11/26 09:00:00',
    '25/11/10 09:00:00',
  ]) {
    const report = await search('app.log', `${text} iccid=${CARD}\n`);
    expect([report.hits, report.undated, exitCodeOf(report)], text).toEqual([0, 1, 2]);
  }
});
