// What others search the logs for (contract, "Logs"), written out: to change one is to break their searches.
import { expect, it } from 'vitest';
import * as phrases from '../../../src/domain/log-phrases.ts';

it('the phrases are what they were', () => {
  expect({ ...phrases }).toEqual({
    GATEWAY_CALL: '网关调用',
    WORKER_STARTED: '轮询调度器启动',
    INITIALISING: '渐进式初始化',
    CARD_STOPPED: '停机',
    CARD_RESUMED: '复机',
    STOP_UNCONFIRMED: 'stop_unconfirmed',
    STOP_UNCONFIRMED_REASON: '停卡未确认',
    ALERT_FIRED: '告警触发',
    ALERT_RESOLVED: '告警恢复',
    CLEANUP_FINISHED: '数据清理完成',
  });
});
