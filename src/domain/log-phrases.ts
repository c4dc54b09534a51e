// The exact log messages that other tools search for (operations interface, section 1.2; contract, "Logs").
// Do not change one without changing the contract. The message of a poll is with its task type (task-type.ts).

export const GATEWAY_CALL = '网关调用';
export const WORKER_STARTED = '轮询调度器启动';
export const INITIALISING = '渐进式初始化';
export const CARD_STOPPED = '停机';
export const CARD_RESUMED = '复机';
export const STOP_UNCONFIRMED = 'stop_unconfirmed';
/** Logged with the message above, so that a search for the stop interface finds the line. */
export const STOP_UNCONFIRMED_REASON = '停卡未确认';
export const ALERT_FIRED = '告警触发';
export const ALERT_RESOLVED = '告警恢复';
export const CLEANUP_FINISHED = '数据清理完成';
