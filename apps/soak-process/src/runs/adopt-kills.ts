import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, startChild } from "@sluice/harness/child";
import { environmentIn } from "@sluice/harness/environment";
import { Random } from "@sluice/harness/random";
import { BrokerLab } from "../sqs/broker-lab.ts";
import type { BrokerProcess } from "../sqs/broker-process.ts";
import { sqs } from "../sqs/client.ts";
import { queueUrl } from "../sqs/queues.ts";

/** Systems that messages are moved from; a second broker stands for them. */
const SYSTEMS = ["sqs", "cloudflare"] as const;
type System = (typeof SYSTEMS)[number];

interface AdoptKillOptions {
  readonly kills: number;
  readonly seed: number;
  readonly onKill?: (kills: number) => void;
}

interface AdoptKills {
  readonly kills: number;
  readonly messages: number;
  /** Duplicates that the last run of each system has recognised. */
  readonly recognised: number;
  readonly violations: readonly string[];
}

const QUEUE = "orders";
/** Longest time after which a run is killed, in ms: enough to start, plan and move. */
const KILL_MS_MAX = 1_500;
/** Lease of messages by the command, in seconds: those of a killed run are out of reach for that time. */
const LEASE_SECONDS = 1;
/** Messages that are sent before each run: moving all of them takes about `KILL_MS_MAX`. */
const MESSAGES_PER_RUN = 200;
const BATCH = 10;

/**
 * Moves a queue from another broker by `sluice adopt`, which is killed at random moments and started again, while
 * messages are sent to the old queue. Each message must come to the new queue once. Messages are deleted from the new
 * queue meanwhile, so that only the ids that the broker remembers keep one from coming twice.
 */
export async function runAdoptKills({ kills, seed, onKill }: AdoptKillOptions): Promise<AdoptKills> {
  const random = new Random(seed);
  const lab = await BrokerLab.open();
  const start = async (name: string) => (await lab.broker(path.join(lab.folder, name))).start();
  const arrived = new Map<string, number>();
  let killed = 0;
  let recognised = 0;
  let sent = 0;
  try {
    const [source, target] = await Promise.all([start("source"), start("target")]);
    for (const [i, system] of SYSTEMS.entries()) {
      const runs = Math.floor(kills / SYSTEMS.length) + (i < kills % SYSTEMS.length ? 1 : 0);
      const name = `${QUEUE}-${system}`;
      await sqs(source.endpoint, "CreateQueue", { QueueName: name });
      const adopt = () => adopting(lab, { source, target, system, name });
      for (let run = 0; run < runs; run++) {
        sent += await sendAll(source.endpoint, name, sent);
        const child = adopt();
        await sleep(random.between(0, KILL_MS_MAX));
        child.process.kill("SIGKILL");
        await child.whenEnded();
        await takeAll(target.endpoint, name, arrived);
        killed += 1;
        onKill?.(killed);
      }
      const last = adopt();
      await last.whenEnded();
      recognised += Number(/"duplicates": (\d+)/.exec(last.output)?.[1] ?? 0);
      if (!/"moved": /.test(last.output)) throw new Error(`the last run has failed: ${last.output}`);
      await takeAll(target.endpoint, name, arrived);
    }
    return { kills: killed, messages: sent, recognised, violations: violationsIn(arrived, sent) };
  } finally {
    await lab.close();
  }
}

interface Adopting {
  readonly source: BrokerProcess;
  readonly target: BrokerProcess;
  readonly system: System;
  readonly name: string;
}

/** Starts `sluice adopt`. `--detach-consumer` is an option for Cloudflare's queues alone. */
function adopting({ main, folder }: BrokerLab, { source, target, system, name }: Adopting): Child {
  const to = new URL(target.endpoint).origin;
  const from = new URL(source.endpoint).origin;
  const args = ["adopt", name, "--from", system, "--url", to, "--yes", "--json", "--detach-consumer"];
  const own = system === "sqs" ? args.slice(0, -1) : args;
  return startChild(process.execPath, [main, ...own, "--lease-secs", `${LEASE_SECONDS}`], {
    cwd: folder,
    env: {
      ...environmentIn(folder),
      AWS_ENDPOINT_URL: from,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      CLOUDFLARE_API_BASE_URL: `${from}/__sluice/client/v4`,
      CLOUDFLARE_ACCOUNT_ID: "0123456789abcdef0123456789abcdef",
      CLOUDFLARE_API_TOKEN: "local",
    },
  });
}

/** Sends messages with numbers from `first` on. Resolves to their number. */
async function sendAll(endpoint: string, name: string, first: number): Promise<number> {
  for (let from = 0; from < MESSAGES_PER_RUN; from += BATCH) {
    const Entries = Array.from({ length: BATCH }, (_, i) => ({
      Id: `${i}`,
      MessageBody: `${first + from + i}`,
    }));
    await sqs(endpoint, "SendMessageBatch", { QueueUrl: queueUrl(endpoint, name), Entries });
  }
  return MESSAGES_PER_RUN;
}

/** Takes all messages out of the new queue, if it exists, and counts them by their bodies. */
async function takeAll(endpoint: string, name: string, arrived: Map<string, number>): Promise<void> {
  const QueueUrl = queueUrl(endpoint, name);
  for (;;) {
    const received = await sqs(endpoint, "ReceiveMessage", { QueueUrl, MaxNumberOfMessages: BATCH }).catch(
      () => null,
    );
    const messages = received?.Messages ?? [];
    if (messages.length === 0) return;
    for (const { Body } of messages) arrived.set(Body, (arrived.get(Body) ?? 0) + 1);
    const Entries = messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));
    await sqs(endpoint, "DeleteMessageBatch", { QueueUrl, Entries });
  }
}

function violationsIn(arrived: ReadonlyMap<string, number>, sent: number): string[] {
  const violations: string[] = [];
  for (let n = 0; n < sent; n++) {
    const times = arrived.get(`${n}`) ?? 0;
    if (times !== 1) violations.push(`message ${n} has come ${times} times`);
  }
  return violations;
}
