// Logs that cardpoll did not write: of Go services (zap, logrus, the log package behind lumberjack, in a container's JSON
// file) and of the nginx before a gateway, whose calls have further segments behind the interface's. Lines in their forms.
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { LogTree } from '../../support/log-tree.ts';

const CARD = '8986001234567890123';

const ZAP_JSON = `{"level":"info","ts":1769911200.1,"caller":"gw/call.go:88","msg":"call","path":"/gateway/flow/query","iccid":"${CARD}"}
{"level":"info","ts":1769911200.4,"caller":"gw/call.go:91","msg":"answer","iccid":"${CARD}","data":{"used":12.5}}
{"level":"info","ts":1769911201.0,"caller":"gw/pool.go:12","msg":"flow stop","iccid":"${CARD}","elapsed":0.2}
`;
const ZAP_CONSOLE = `2026-02-01T10:00:00.100+0800\tINFO\tgw/call.go:88\tcall\t{"path": "/gateway/card-stop/apply", "iccid": "${CARD}"}
2026-02-01T10:00:00.400+0800\tINFO\tgw/call.go:91\tstopped\t{"iccid": "${CARD}"}
`;
const LOGRUS = `time="2026-02-01T10:00:02+08:00" level=info msg="gateway call" iccid=${CARD} path=/gateway/flow/query
time="2026-02-01T10:00:02+08:00" level=info msg="gateway answer" iccid=${CARD} used=12.5 total=1024
time="2026-02-01T10:00:03+08:00" level=warning msg="memory is used up" iccid=${CARD} heap.used=99
`;
const LOG_PACKAGE = `2026/02/01 10:00:04 gw: POST /gateway/realname/query: iccid=${CARD}, realStatus=1
2026/02/01 10:00:05 gw: resume of ${CARD} follows
`;
const CONTAINER = `{"log":"level=info msg=answer iccid=${CARD} cardStatus=normal url=\\"http://10.0.0.7/gateway/resume/check?x=1\\"\\n","stream":"stdout","time":"2026-02-01T02:00:06.1Z"}
`;
const NGINX = `10.0.0.9 - - [01/Feb/2026:10:00:07 +0800] "POST /gateway/flow/query?iccid=${CARD} HTTP/1.1" 200 96 "-" "go"
10.0.0.9 - - [01/Feb/2026:10:00:08 +0800] "GET /admin/cards/${CARD}?used=1&stop=1 HTTP/1.1" 200 96 "http://a/flow/" "go"
2026/02/01 10:00:09 [error] 7#7: *1 upstream timed out, request: "POST /gateway/suspend/apply HTTP/1.1", args: "${CARD}"
`;

const EXPECTED = {
  // zap 2, logrus 2, nginx 1
  flow: 5,
  // console 1, nginx 1
  stop: 2,
  realname: 1,
  card_status: 1,
  start: 1,
} as const;

function foreignLogs(): LogTree {
  const tree = new LogTree();
  tree.write('zap.json', ZAP_JSON);
  tree.write('zap.log', ZAP_CONSOLE);
  tree.write('logrus.log', LOGRUS);
  tree.write('gw-2026-02-01T02-00-05.000.log.gz', gzipSync(LOG_PACKAGE));
  tree.write('container-json.log', CONTAINER);
  tree.write('nginx/access.log', NGINX);
  return tree;
}

it.each(Object.entries(EXPECTED))('a day has of %s %i lines', async (name, count) => {
  const { hits } = await foreignLogs().search({
    ...{ iccid: CARD, date: '2026-02-01', tz: 'Asia/Shanghai', interface: name, countOnly: true },
  });
  expect(hits).toBe(count);
});

it('all of the day is found, and what is of no interface is so', async () => {
  const { hits, byInterface } = await foreignLogs().search({
    ...{ iccid: CARD, date: '2026-02-01', tz: 'Asia/Shanghai' },
  });
  expect({ hits, byInterface }).toEqual({ hits: 14, byInterface: { ...EXPECTED, other: 5 } });
});
