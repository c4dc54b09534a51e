// Entry of a thread that scans log files (dist/log-scan-worker.js). Started only by scan/threads.ts, where it is explained.
import { parentPort, workerData } from 'node:worker_threads';
import { FILE_WORK } from './file-work.ts';
import { type Share, workOffShare } from './scan/threads.ts';

await workOffShare(FILE_WORK, workerData as Share, (result) => parentPort?.postMessage(result));
