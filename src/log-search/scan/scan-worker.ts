// Entry of a thread that scans log files (dist/log-scan-worker.js). Started by threads.ts only, where its work is.
import { parentPort, workerData } from 'node:worker_threads';
import { type Share, workOffShare } from './threads.ts';

await workOffShare(workerData as Share, (result) => parentPort?.postMessage(result));
