import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "@sluice/harness/random";
import { Webhook } from "standardwebhooks";
import { BrokerLab } from "../sqs/broker-lab.ts";
import { sqs } from "../sqs/client.ts";
import { queueUrl } from "../sqs/queues.ts";

interface AlertKillOptions {
  readonly runs: number;
  readonly seed: number;
  readonly onRun?: (runs: number) => void;
}

interface AlertKills {
  readonly kills: number;
  readonly begun: number;
  readonly ended: number;
  /** Number of requests with the id of an earlier one: a kill has cut the answer off. */
  readonly repeated: number;
  readonly violations: readonly string[];
}

const SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
/** Longest time between a step and the kill after it, in ms: a dead letter and its alert take less. */
const KILL_MS_MAX = 150;
/** Longest time that an alert takes after the last kill, in ms. */
const ALERT_MS_MAX = 60_000;
const LOOK_MS = 20;

/**
 * Lets the first message come to a dead-letter queue, and leave it, again and again, with kill -9 of the broker at
 * random moments after each step. A receiver checks every request with the library of Standard Webhooks. In each run
 * one alert must begin and then end.
 */
export async function runAlertKills({ runs, seed, onRun }: AlertKillOptions): Promise<AlertKills> {
  const random = new Random(seed);
  const lab = await BrokerLab.open();
  const receiver = await Receiver.open();
  try {
    await writeFile(path.join(lab.folder, "wrangler.toml"), configuration(receiver.url));
    const epochs = await lab.broker();
    const start = async () => {
      const started = await epochs.start({ env: { SLUICE_ALERTS_SECRET: SECRET } });
      // This request makes the queues go on at once: their alarms would ring some seconds later.
      await fetch(new URL("/__sluice/api/alerts", started.endpoint));
      return started;
    };
    let broker = await start();
    let kills = 0;
    const killSoon = async () => {
      await sleep(random.between(0, KILL_MS_MAX));
      await broker.kill();
      kills += 1;
      broker = await start();
    };
    for (let run = 1; run <= runs; run++) {
      const { endpoint } = broker;
      await sqs(endpoint, "SendMessage", { QueueUrl: queueUrl(endpoint, "orders"), MessageBody: `${run}` });
      await killSoon();
      await receiver.until(2 * run - 1);
      await killSoon();
      const purged = await fetch(new URL("/__sluice/api/queues/dead/purge", endpoint), { method: "POST" });
      if (!purged.ok) throw new Error(`the purge was refused: ${purged.status} ${await purged.text()}`);
      await killSoon();
      await receiver.until(2 * run);
      onRun?.(run);
    }
    return { kills, ...receiver.result };
  } finally {
    await receiver.close();
    await lab.close();
  }
}

function configuration(url: string): string {
  return `name = "alerts"
[sluice.queues.orders.push]
url = "${url}/orders"
max_retries = 0
dead_letter_queue = "dead"
[sluice.alerts]
url = "${url}/alerts"
failures = false
stalled = "off"
`;
}

/** Server that answers every order with 500, and takes alerts. */
class Receiver {
  readonly #server: Server;
  readonly #webhook = new Webhook(SECRET);
  readonly #ids = new Set<string>();
  readonly #types: string[] = [];
  readonly #violations: string[] = [];
  #repeated = 0;

  static async open(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const isAlert = request.url === "/alerts" && request.method === "POST";
        if (isAlert) this.#take(Buffer.concat(chunks).toString(), request.headers as Record<string, string>);
        response.writeHead(isAlert || request.method !== "POST" ? 204 : 500).end();
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get result(): Omit<AlertKills, "kills"> {
    const begun = this.#types.filter((type) => type === "alert.begun").length;
    const ended = this.#types.filter((type) => type === "alert.ended").length;
    return { begun, ended, repeated: this.#repeated, violations: this.#violations };
  }

  /** Resolves when `reports` alerts have begun or ended. Rejects after `ALERT_MS_MAX`. */
  async until(reports: number): Promise<void> {
    const endMs = Date.now() + ALERT_MS_MAX;
    while (this.#types.length < reports) {
      if (Date.now() > endMs) throw new Error(`report ${reports} has not come: ${this.#types.join(", ")}`);
      await sleep(LOOK_MS);
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(body: string, headers: Record<string, string>): void {
    let type: string;
    try {
      ({ type } = this.#webhook.verify(body, headers) as { type: string });
    } catch (error) {
      this.#violations.push(`a request is not genuine: ${error}`);
      return;
    }
    const id = headers["webhook-id"] ?? "";
    if (this.#ids.has(id)) {
      this.#repeated += 1;
      return;
    }
    this.#ids.add(id);
    const expected = this.#types.length % 2 === 0 ? "alert.begun" : "alert.ended";
    if (type !== expected) this.#violations.push(`report ${this.#types.length + 1} is ${type}: ${body}`);
    this.#types.push(type);
  }
}
