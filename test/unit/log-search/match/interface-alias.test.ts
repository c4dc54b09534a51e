import { describe, expect, it } from 'vitest';
import { interfaceOf, interfacesOf } from '../../../../src/log-search/match/interface-alias.ts';
import { belongsTo } from '../../../support/log-reference.ts';

const ascii = (text: string) => Buffer.from(text, 'utf8');
const gbk = (hex: string) => Buffer.concat([ascii('{"msg":"'), Buffer.from(hex, 'hex'), ascii('"}')]);

function check(alias: string, line: Buffer, expected: boolean, strict = false): void {
  const name = interfaceOf(alias);
  expect(interfacesOf(line.toString('latin1'), [name], strict)).toEqual(expected ? [name] : []);
  expect(belongsTo(line, alias, strict)).toBe(expected);
}

describe('paths', () => {
  it.each([
    ['realname', '{"path":"/api/v1/real-name/query"}', false],
    ['realname', '{"path":"/api/v1/query_RealName-Status?id=1"}', true],
    ['realname', '{"path":"/api/v1/real_name"}', true],
    ['flow', '{"path":"/gw/card-flow/"}', true],
    ['carddata', '{"path":"\\/gw\\/card_data"}', true],
    ['flow', '{"path":"/gw/traffic#x"}', true],
    ['flow', '{"path":"/gw/overflow"}', false],
    ['card_status', '{"req":{"path":"/gw/cardStatus"}}', true],
    ['card_status', '{"path":"/status/list"}', false],
    ['stop', '{"url":"http://gw.example:80/card/stop?iccid=1"}', true],
    ['stop', '{"message":"{\\"path\\":\\"/card/suspend\\"}"}', true],
    ['stop', '1.2.3.4 - - "POST /card/stop HTTP/1.1" 200', true],
    ['start', '1.2.3.4 - - "GET /start/stop HTTP/1.1" 200', false],
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
    ['stop', '{"stop":1}', false],
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

describe('names', () => {
  it('are those of the operations interface', () => {
    expect(interfaceOf('carddata')).toBe('flow');
    expect(interfaceOf('resume')).toBe('start');
    for (const unknown of ['Realname', 'constructor', '']) {
      expect(() => interfaceOf(unknown)).toThrow(expect.objectContaining({ kind: 'usage' }));
    }
  });
});
