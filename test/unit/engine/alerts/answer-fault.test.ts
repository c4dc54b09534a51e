// What receivers answer with 200: some say in the body that nobody will see the message. Answers in the forms of Microsoft Teams
// (connectors), Slack, Telegram, Bark, ServerChan, PushPlus, Zulip, Feishu, of pages before a receiver, and of receivers that took it.
import { expect, it } from 'vitest';
import { faultIn } from '../../../../src/engine/alerts/answer-fault.ts';

const SENT = '{"text":"failed polls: 12","message":"invalid readings of 3 cards"}';

it.each([
  [
    'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429',
    /HTTP error 429/,
  ],
  ['{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}', /ok false: .*chat not found/],
  ['{"code":400,"message":"device token invalid","timestamp":1794272400}', /code 400: device token invalid/],
  ['{"code":900,"msg":"the account is blocked","data":null}', /code 900: the account is blocked/],
  ['{"success":false,"errors":["no such room"]}', /success false/],
  ['{"status":"error","reason":"no route"}', /status error: no route/],
  ['ERROR: no such channel\n', /ERROR: no such channel/],
  ['<!DOCTYPE html><html><head><title>Sign in</title></head></html>', /a page of HTML \("Sign in"\)/],
  ['\n<!-- proxy --><HTML><body>Down for maintenance</body></HTML>', /a page of HTML instead/],
  ['<html>thank you</html>', /a page of HTML/],
  ['<?xml version="1.0"?><response><error code="5">no</error></response>', /says: <\?xml/],
  ['{"error":"channel_not_found"}', /error channel_not_found$/],
  ['{"error":{"code":404,"message":"gone"}}', /error .*404/],
  ['{"errors":["user is invalid"],"status":0}', /errors \["user is invalid"\]/],
  ['{"result":"error","msg":"Invalid API key"}', /result error: Invalid API key/],
  ['{"error":"no such check"}', /error no such check/],
  ['{"ok":"false"}', /ok false/],
  ['{"success":0}', /success 0/],
  ['{"status":401}', /status 401/],
  ['{"statusCode":"503","body":""}', /statusCode 503/],
  ['{"StatusCode":19024,"StatusMessage":"Key Words Not Found"}', /StatusCode 19024/],
  ['{"code":"invalid_token"}', /code invalid_token/],
  ['{"error_code":7}', /error_code 7/],
  ['{"data":{"success":false}}', /success false/],
  ['[{"status":"failed"}]', /status failed/],
  ['{"message":"Unauthorized"}', /says: Unauthorized/],
  ['no_team', /says: no_team/],
  ['channel_is_archived', /says: channel_is_archived/],
  ['Not Found', /says: Not Found/],
  ['"access denied"', /says: access denied/],
  ['false', /says: false/],
  // Synology Chat, HeyChat, WxPusher.
  [
    '{"error":{"code":120,"errors":{"name":"payload","reason":"required"}},"success":false}',
    /error .*"reason":"required"/,
  ],
  ['{"msg":"请勿重复发送","result":{},"status":"failed"}', /status failed: 请勿重复发送/],
  [
    '{"code":1000,"msg":"处理成功","data":[{"uid":"UID_1","code":1001,"status":"uid不存在"}],"success":true}',
    /code 1001/,
  ],
  ['{"success":true,"code":500,"message":"failed to reach the group"}', /code 500: failed to reach/],
])('%s: not delivered', (text, words) => {
  expect(faultIn(text, SENT)?.error).toMatch(words);
});

it.each([
  '',
  '1',
  '0',
  'ok',
  'Ok.',
  'Accepted',
  'Accepted: errors are reported later',
  'failover is ready',
  'null',
  '{}',
  '[]',
  '{"ok":true,"result":{}}',
  '{"ok":true,"result":{"message_id":4,"text":"failed polls: 12"}}',
  '{"code":200,"message":"success"}',
  '{"code":200,"msg":"请求成功"}',
  '{"code":1,"msg":"success"}',
  '{"status":"success","message":"Event processed","dedup_key":"a"}',
  '{"status":1,"request":"647d2300-702c-4b38-8b2f-d56326ae460b"}',
  '{"id":"7","error":null,"errors":[],"status":"queued"}',
  '{"error_code":null,"error_message":null,"status":"queued"}',
  '{"code":0,"message":"","data":{"errno":0,"error":"SUCCESS"}}',
  '{"name":"spaces/A/messages/B","text":"failed polls: 12","space":{"name":"spaces/A"}}',
  '{"id":"x","event":"message","topic":"ops","message":"invalid readings of 3 cards"}',
  '{"result":"success","msg":"","ignored_parameters_unsupported":[]}',
  '{"result":"Request will be processed","took":0.3,"requestId":"43a29c5c"}',
  '{"event_id":"$143273582443PhrSn:example.org"}',
  '<response><errors>0</errors></response>',
  // SMS.RU, WxPusher, Bitrix24.
  '{"status":"OK","status_code":100,"sms":{"79255070602":{"status":"OK","sms_id":"000000-1"}},"balance":4122.56}',
  '100\n000000-10000000\nbalance=4122.56',
  '{"code":1000,"msg":"处理成功","data":[{"uid":"UID_1","code":1000,"status":"创建发送任务成功"}],"success":true}',
  '{"result":null,"time":{"start":1684834867.615497,"date_start":"2023-05-23T12:41:07+03:00"}}',
])('%s: delivered', (text) => {
  expect(faultIn(text, SENT)).toBeNull();
});
