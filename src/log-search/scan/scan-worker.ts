// Entry of a worker thread of the log search (dist/log-scan-worker.js). Started by workers.ts only.
import { parentPort, workerData } from 'node:worker_threads';
import { type ScanSession, scanShare } from './scan-share.ts';

await scanShare(workerData as ScanSession, (result) => parentPort?.postMessage(result));
