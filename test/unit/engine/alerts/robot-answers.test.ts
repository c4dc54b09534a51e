// What receivers of standard webhooks answer with 200: some say in the body that nobody will see the message. Answers in the
// forms of Microsoft Teams (connectors), Telegram, Bark, ServerChan, PushPlus and of receivers that took the message.
import { expect, it } from 'vitest';
import { refusalIn } from '../../../../src/engine/alerts/robot-message.ts';

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
])('%s: not delivered', (text, words) => {
  expect(refusalIn('standard', text)?.error).toMatch(words);
});

it.each([
  '',
  '1',
  'ok',
  'Accepted: errors are reported later',
  '<html>thank you</html>',
  '{"ok":true,"result":{}}',
  '{"code":200,"message":"success"}',
  '{"code":1,"msg":"success"}',
  '{"status":"success","message":"Event processed","dedup_key":"a"}',
  '{"id":"7","error":null,"status":"queued"}',
  '[]',
])('%s: delivered', (text) => {
  expect(refusalIn('standard', text)).toBeNull();
});
