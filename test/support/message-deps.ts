// What messages of alerts need besides secrets and a time zone, where a test does not look at it.
import { shippedReceivers } from '../../src/config/receivers/load-receivers.ts';

const fleet = { id: '0197f3d2-0000-7000-8000-000000000001', name: 'cardpoll' };
const runbookUrl = 'https://wiki.example/runbook';

const receivers = await shippedReceivers();

export const MESSAGE_MEANS = { fleet, runbookUrl, receivers };
export const TESTER_MEANS = { fleet: async () => fleet, runbookUrl, receivers };
