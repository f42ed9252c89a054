import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { workerdChildren } from "../cluster/workerd-process.ts";
import { sqs } from "../sqs/client.ts";
import { QUEUES, queueUrl } from "../sqs/queues.ts";
import { SqsScenario } from "../sqs/sqs-scenario.ts";
import { tracedAnswers } from "../sqs/sync-trace.ts";
import { makeWorker } from "./idle-worker.ts";

interface SqsSyncOptions {
  /** Messages that are sent, received and deleted on each platform. */
  readonly messages: number;
  readonly seed: number;
}

interface SqsSyncResult {
  readonly platform: "Node.js" | "workerd";
  /** Number of answers to calls that write. */
  readonly answers: number;
  /** Number of syncs of the queue's log before these answers. */
  readonly syncs: number;
  readonly violationTexts: readonly string[];
}

/** Whether system calls of a process can be traced here. */
export function canTrace(): boolean {
  return spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;
}

/**
 * Traces the broker's system calls while a client sends, receives and deletes messages one by one. Each answer must
 * leave after a sync of the queue's log that began after the call came, and with all writes to logs synced.
 */
export async function runSqsSyncs({ messages, seed }: SqsSyncOptions): Promise<SqsSyncResult[]> {
  const worker = await makeWorker();
  const scenario = await SqsScenario.open(seed);
  try {
    const results: SqsSyncResult[] = [];
    for (const platform of ["Node.js", "workerd"] as const) {
      await scenario.start(platform === "workerd" ? { worker } : {});
      results.push(await traced(scenario, platform, messages));
      await scenario.stop();
    }
    return results;
  } finally {
    await scenario.close();
    await rm(worker, { recursive: true, force: true });
  }
}

async function traced(
  scenario: SqsScenario,
  platform: SqsSyncResult["platform"],
  messages: number,
): Promise<SqsSyncResult> {
  const { pid, endpoint } = scenario.epoch;
  const [queue] = QUEUES;
  if (queue === undefined) throw new Error("there is no queue");
  const QueueUrl = queueUrl(endpoint, queue.name);
  const calls: string[] = [];
  const cycle = async () => {
    await sqs(endpoint, "SendMessage", { QueueUrl, MessageBody: "synced" });
    const { Messages = [] } = await sqs(endpoint, "ReceiveMessage", { QueueUrl, WaitTimeSeconds: 5 });
    await sqs(endpoint, "DeleteMessage", { QueueUrl, ReceiptHandle: Messages[0]?.ReceiptHandle });
    calls.push("SendMessage", "ReceiveMessage", "DeleteMessage");
  };
  // Not counted: the queue's first commits write more than later ones.
  await cycle();
  calls.length = 0;
  const file = path.join(scenario.persistDir, "trace");
  const tracer = await attach([pid, ...(await workerdChildren(pid))], file);
  for (let i = 0; i < messages; i++) await cycle();
  tracer.kill("SIGINT");
  await once(tracer, "close");
  const answers = tracedAnswers(await readFile(file, "utf8"), Number(new URL(endpoint).port));
  const violationTexts = answers.flatMap(({ syncs, unsynced }, i) => {
    if (syncs > 0 && unsynced.length === 0) return [];
    return (
      `${platform}: answer ${i + 1}, to ${calls[i]}, left after ${syncs} sync(s) of the queue's log, with ` +
      `${unsynced.length} log(s) not synced`
    );
  });
  if (answers.length !== calls.length) {
    violationTexts.push(`${platform}: ${answers.length} answers were seen to ${calls.length} calls`);
  }
  return {
    platform,
    answers: answers.length,
    violationTexts,
    syncs: answers.reduce((sum, { syncs }) => sum + syncs, 0),
  };
}

/** Starts strace on running processes. Resolves when all of them are traced. */
async function attach(pids: readonly number[], file: string): Promise<ChildProcess> {
  const calls = "trace=pwrite64,fsync,fdatasync,write,writev,sendto,sendmsg";
  const args = ["-f", "-yy", "-s", "16", "-e", calls, "-e", "signal=none", "-o", file];
  const tracer = spawn("strace", [...args, ...pids.flatMap((pid) => ["-p", `${pid}`])], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let printed = "";
  await new Promise<void>((resolve, reject) => {
    tracer.stderr.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      if (pids.every((pid) => printed.includes(`Process ${pid} attached`))) resolve();
    });
    tracer.once("error", reject);
    tracer.once("close", () => reject(new Error(`strace cannot trace the broker:\n${printed}`)));
  });
  return tracer;
}
