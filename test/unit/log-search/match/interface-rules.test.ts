import { describe, expect, it } from 'vitest';
import { INTERFACE_NAMES } from '../../../../src/domain/gateway-interface.ts';
import { InterfaceRules, type OwnSigns } from '../../../../src/log-search/match/interface-rules.ts';
import { interfaceOf } from '../../../../src/log-search/plan/parse-query.ts';
import { belongsTo } from '../../../support/log-reference.ts';

const ascii = (text: string) => Buffer.from(text, 'utf8');
const gbk = (hex: string) => Buffer.concat([ascii('{"msg":"'), Buffer.from(hex, 'hex'), ascii('"}')]);

function check(alias: string, line: Buffer, expected: boolean, strict = false): void {
  const name = interfaceOf(alias);
  const rules = new InterfaceRules([name], {}, strict);
  expect(rules.interfacesOf(line.toString('latin1'))).toEqual(expected ? [name] : []);
  expect(belongsTo(line, alias, strict)).toBe(expected);
}

describe('paths', () => {
  it.each([
    ['realname', '{"path":"/api/v1/real-name/query"}', true],
    ['realname', '{"path":"/api/v1/query_RealName-Status?id=1"}', true],
    ['realname', '{"path":"/api/v1/real_name"}', true],
    ['flow', '{"path":"/gw/card-flow/"}', true],
    ['carddata', '{"path":"\\/gw\\/card_data"}', true],
    ['flow', '{"path":"/gw/traffic#x"}', true],
    ['flow', '{"path":"/gw/overflow"}', false],
    ['card_status', '{"req":{"path":"/gw/cardStatus"}}', true],
    ['card_status', '{"path":"/status/list"}', true],
    ['flow', '{"path":"/gateway/flow/query"}', true],
    ['flow', '{"url":"https://flow/gateway/query"}', false],
    ['flow', '{"path":"/gateway/query?from=/a/flow/b"}', false],
    ['flow', '{"path":"/gateway/overflow/flow-list"}', false],
    ['realname', 'path=/v2/query_real_name_x/1', true],
    ['flow', 'level=info path=/gateway/flow/query used_ms=3', true],
    ['flow', 'level=info path="/gateway/flow/query?a=b c" status=200', true],
    ['flow', '{"log":"level=info path=\\"/gateway/flow/query?a=b\\" n=1\\n"}', true],
    ['flow', "called (url='http://10.0.0.1/gateway/flow'), ok", true],
    ['flow', 'path=/gateway/query,via=/gateway/flow/query', false],
    ['flow', 'path=/gateway/flow,status=200', true],
    ['flow', 'flow /gateway/flow/query took long', false],
    ['flow', 'xpath=/gateway/flow/query', false],
    ['stop', 'level=info msg="stop at /dev/stop"', false],
    ['stop', '{"url":"http://gw.example:80/card/stop?iccid=1"}', true],
    ['stop', '{"message":"{\\"path\\":\\"/card/suspend\\"}"}', true],
    ['stop', '1.2.3.4 - - "POST /card/stop HTTP/1.1" 200', true],
    ['start', '1.2.3.4 - - "GET /start/stop HTTP/1.1" 200', true],
    ['start', '1.2.3.4 - - "GET /restart/stop HTTP/1.1" 200', false],
    ['resume', '{"path": "/card/card-start"}', true],
    ['start', '{"path":"/card/resume"}', true],
  ])('%s: %s is %s', (alias, line, expected) => {
    check(alias, ascii(line), expected);
    check(alias, ascii(line), expected, true);
  });
});

describe('fields', () => {
  it.each([
    ['realname', '{"realStatus":1}', true],
    ['realname', '{"a":{"b":[{"realStatus" : null}]}}', true],
    ['realname', '{"body":"{\\"realStatus\\":1}"}', true],
    ['realname', '{"body":"{\\\\\\"realStatus\\\\\\": 1}"}', true],
    ['realname', '{"realstatus":1}', false],
    ['realname', '{"xrealStatus":1}', false],
    ['flow', '{"used":12}', true],
    ['flow', '{"msg":"used"}', false],
    ['flow', '{"msg":"memory used: 12"}', false],
    ['flow', '{"unused":1}', false],
    ['card_status', '{"cardStatus":"ok"}', true],
    ['flow', 'level=info msg=answer used=12.5 total=1024', true],
    ['flow', '2026/02/01 10:00:00 answer: total=1024, used=12.5', true],
    ['flow', 'answer [used=12.5;total=1024]', true],
    ['flow', '{"msg":"answer used=12.5"}', true],
    ['flow', '{"log":"INFO\\tused=12.5\\n"}', true],
    ['flow', 'INFO\tused="12.5"', true],
    ['flow', 'level=info memory.used=12', false],
    ['flow', 'level=info heap_used=12 unused=1', false],
    ['flow', 'GET /cards?used=1&used=2 HTTP/1.1', false],
    ['flow', 'assert used==12', false],
    ['flow', 'used = 12', false],
    ['realname', 'level=info realStatus=1', true],
    ['realname', 'level=info realstatus=1', false],
    ['card_status', 'cardStatus=normal', true],
    ['stop', '{"stop":1}', false],
    ['stop', 'level=info stop=true start=true', false],
    ['start', '{"msg":"start","start":true}', false],
  ])('%s: %s is %s', (alias, line, expected) => {
    check(alias, ascii(line), expected);
    check(alias, ascii(line), false, true);
  });
});

describe('phrases', () => {
  it.each([
    ['stop', ascii('{"msg":"stop_unconfirmed","reason":"停卡未确认"}'), true],
    ['realname', ascii('实名检查完成'), true],
    ['realname', gbk('cab5c3fbbceca'.padEnd(14, 'e')), true],
    ['realname', ascii('{"msg":"\\u5b9e\\u540d"}'), true],
    ['realname', ascii('{"msg":"\\\\u5B9E\\\\u540D"}'), true],
    ['realname', ascii('实 名'), false],
    ['flow', ascii('流量'), true],
    ['flow', gbk('c1f7c1bf'), true],
    ['card_status', ascii('卡状态'), true],
    ['card_status', gbk('bfa8d7b4ccac'), true],
    ['stop', ascii('停机'), true],
    ['stop', ascii('停卡'), true],
    ['stop', gbk('cda3bbfa'), true],
    ['stop', gbk('cda3bfa8'), true],
    ['start', ascii('复机'), true],
    ['resume', ascii('恢复'), true],
    ['start', gbk('b8b4bbfa'), true],
    ['start', gbk('bbd6b8b4'), true],
  ])('%s', (alias, line, expected) => {
    check(alias, line, expected);
    check(alias, line, false, true);
  });

  it('in GBK are whole characters', () => {
    // 一指错: the bytes of 恢复 lie across the three characters.
    check('start', gbk('d2bbd6b8b4ed'), false);
    check('start', gbk('d2bbd6b8b4edbbd6b8b4'), true);
  });
});

describe("signs of one's own", () => {
  const own: OwnSigns = {
    realname: { paths: ['Verify', 'auth/check'], fields: ['auth.state'], phrases: ['认证', 'SIM核验'] },
    stop: { phrases: ['locked out'] },
  };

  it.each<[string, string[]]>([
    ['{"path":"/gateway/ver-ify/1"}', ['realname']],
    ['{"path":"/gateway/auth/check"}', ['realname']],
    ['{"path":"/gateway/auth/re/check"}', []],
    ['{"path":"/gateway/verifying"}', []],
    ['{"auth.state":1}', ['realname']],
    ['auth.state=1', ['realname']],
    ['{"authXstate":1}', []],
    ['认证', ['realname']],
    ['{"msg":"\\u8BA4\\u8bc1"}', ['realname']],
    ['{"msg":"SIM\\u6838\\u9a8c"}', ['realname']],
    ['{"msg":"sim\\u6838\\u9a8c"}', []],
    ['the card is locked out', ['stop']],
    ['the card is Locked Out', []],
    ['实名', ['realname']],
    ['停机', ['stop']],
  ])('%s: %j', (line, expected) => {
    const rules = new InterfaceRules(INTERFACE_NAMES, own, false);
    expect(rules.interfacesOf(ascii(line).toString('latin1'))).toEqual(expected);
  });

  it('are found in GBK too, and only the path with --strict', () => {
    const line = gbk('c8cfd6a4').toString('latin1');
    expect(new InterfaceRules(INTERFACE_NAMES, own, false).interfacesOf(line)).toEqual(['realname']);
    expect(new InterfaceRules(INTERFACE_NAMES, {}, false).interfacesOf(line)).toEqual([]);
    expect(new InterfaceRules(INTERFACE_NAMES, own, true).interfacesOf(line)).toEqual([]);
    const path = '{"path":"/auth/check"}';
    expect(new InterfaceRules(INTERFACE_NAMES, own, true).interfacesOf(path)).toEqual(['realname']);
  });
});

// Each of these took for ever, or all of the stack, when it was looked for without a bound.
describe('a line of megabytes', () => {
  it.each([
    ['a path', `path=/${'a/'.repeat(1e6)}`],
    ['an escaped path', `{"path":"${String.raw`\/`.repeat(4e6)}"}`],
    ['backslashes', '\\'.repeat(2e6)],
    ['brackets', `path=${'('.repeat(2e6)}x`],
  ])('a line of megabytes of %s is judged', (_, line) => {
    const rules = new InterfaceRules(INTERFACE_NAMES, {}, false);
    expect(rules.interfacesOf(`${line} {"used":1}`)).toEqual(['flow']);
  });
});

describe('names', () => {
  it('are those of the operations interface', () => {
    expect(interfaceOf('carddata')).toBe('flow');
    expect(interfaceOf('resume')).toBe('start');
    for (const unknown of ['Realname', 'constructor', '']) {
      expect(() => interfaceOf(unknown)).toThrow(expect.objectContaining({ kind: 'usage' }));
    }
  });
});
