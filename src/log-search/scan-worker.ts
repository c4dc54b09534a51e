// Entry of a thread that scans log files (dist/log-scan-worker.js). Started only by threads.ts, where it is explained.
import { parentPort, workerData } from 'node:worker_threads';
import { type Share, workOffShare } from './threads.ts';

await workOffShare(workerData as Share, (result) => parentPort?.postMessage(result));
