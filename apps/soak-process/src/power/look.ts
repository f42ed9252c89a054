import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HeldClock } from "@sluice/broker/held-clock";
import { OBJECTS_FOLDER } from "@sluice/local/data/data-lock";
import { lastEndIn } from "@sluice/local/data/planned-end";
import type { BrokerModule, RecoveryModule } from "@sluice/local/node/contract";
import { loadBroker, loadRecovery } from "@sluice/local/node/load-modules";
import { pageArchive } from "@sluice/local/page";
import { CLOCK_FILE } from "@sluice/local/serve/machine-clock";
import { LEASE_MS } from "./power-ledger.ts";

const WORKER = "sluice";
const ORIGIN = "http://127.0.0.1";
const AWS = `${ORIGIN}/__sluice/aws/`;
/** Longest time that messages are on their way from queue to queue after a start, in ms. */
const TRANSFER_MS_MAX = 3_000;

/** Message that was received after a cut. */
export interface FoundMessage {
  readonly queue: string;
  readonly body: string;
  /** Number of its receives, this one included. */
  readonly receives: number;
}

/** Findings of a broker that was opened on a disk after a power cut. */
export interface Findings {
  /** Lines that it prints about damage or errors, and damage that it or SQLite finds. */
  readonly damage: readonly string[];
  /** Messages that can be received at the moment of the cut; empty if the broker was not opened at that moment. */
  readonly visible: readonly FoundMessage[];
  /** All messages, once every lease and delay is over, in the order in which they come. */
  readonly messages: readonly FoundMessage[];
  /** Settings of the queues that exist. */
  readonly queues: ReadonlyMap<string, FoundQueue>;
  /** Numbers of confirmed subscriptions, by topics. */
  readonly topics: ReadonlyMap<string, number>;
  /** Whether the end of the last process was announced. */
  readonly isEndPlanned: boolean;
}

export interface FoundQueue {
  readonly retention: string;
  readonly isPaused: boolean;
}

/** Sends a request to the broker, and resolves to the body of its answer. Rejects unless that is a 2xx. */
type Ask = (method: string, path: string, headers: Record<string, string>, body?: string) => Promise<string>;

/** Whether every owed message is among the found ones. */
type IsComplete = (found: readonly FoundMessage[]) => boolean;

export interface LookOptions {
  /** Moment of the cut, in ms since 1970. */
  readonly cutMs: number;
  /** Whether the broker is also opened at that moment, to receive the visible messages. */
  readonly isOpenedAtCut: boolean;
  /** Ends the wait for messages that are on their way from queue to queue. */
  readonly isComplete: IsComplete;
}

/**
 * Opens the broker on a data folder in this process, with a clock at which all leases and delays are over, and takes
 * all messages out.
 */
export async function lookAt(
  folder: string,
  { cutMs, isOpenedAtCut, isComplete }: LookOptions,
): Promise<Findings> {
  const damage: string[] = [];
  const unsilence = silence(damage);
  try {
    const isPlanned = isEndPlanned(folder);
    const visible = isOpenedAtCut ? await withBroker(folder, cutMs, damage, receiveAll) : [];
    const laterMs = cutMs + LEASE_MS + 1_000;
    const found = await withBroker(folder, laterMs, damage, async (ask) => ({
      queues: queuesIn(await listed(ask), damage),
      topics: await topicsOf(ask),
      messages: await takeAll(ask, isComplete),
    }));
    damage.push(...damagedFiles(folder));
    return { damage, visible, ...found, isEndPlanned: isPlanned };
  } finally {
    unsilence();
  }
}

/** Replaces the console: warnings and errors count as damage. Returns a function that restores it. */
function silence(damage: string[]): () => void {
  const { log, warn, error } = console;
  console.log = () => {};
  for (const name of ["warn", "error"] as const) console[name] = (...words) => damage.push(words.join(" "));
  return () => Object.assign(console, { log, warn, error });
}

let modules: Promise<[BrokerModule, RecoveryModule]> | null = null;

/** Loads the broker's modules, once. */
function loadModules(): Promise<[BrokerModule, RecoveryModule]> {
  modules ??= Promise.all([loadBroker(), loadRecovery()]);
  return modules;
}

async function withBroker<Result>(
  folder: string,
  startMs: number,
  damage: string[],
  work: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  const [{ open }, { recoverDirectory }] = await loadModules();
  const objects = path.join(folder, OBJECTS_FOLDER);
  if (existsSync(objects) && readdirSync(objects).length > 0) {
    recoverDirectory({ folder: objects, worker: WORKER, warn: (line) => damage.push(line) });
  }
  const beganMs = performance.now();
  const passedMs = () => performance.now() - beganMs;
  const machine = { systemMs: () => Math.round(startMs + passedMs()), passedMs, sleptMs: () => 0 };
  const broker = open({
    folder: objects,
    worker: WORKER,
    topology: { queues: {} },
    vars: { SLUICE_ENV: "local" },
    disk: { isFull: false, foundFull: () => false },
    clock: new HeldClock(machine, null, () => {}),
    page: await pageArchive(),
    searchDocs: async () => [],
  });
  try {
    const ask: Ask = async (method, where, headers, body) => {
      const init = { method, headers, ...(body === undefined ? {} : { body }) };
      const response = await broker.fetch(new Request(new URL(where, ORIGIN), init));
      const text = await response.text();
      if (!response.ok) throw new Error(`${where} ${body}: ${response.status} ${text}`);
      return text;
    };
    return await work(ask);
  } finally {
    broker.close();
  }
}

async function sqs(ask: Ask, action: string, input: object): Promise<unknown> {
  const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` };
  const text = await ask("POST", AWS, headers, JSON.stringify(input));
  return text === "" ? {} : JSON.parse(text);
}

/** Members of the admin API's answer about a queue that are used here. */
export interface ListedQueue {
  readonly name: string;
  readonly messages: Readonly<Record<string, number>>;
  readonly damage: readonly { readonly text: string }[];
  readonly settings: { readonly messageRetentionSeconds: number; readonly deliveryPaused: boolean };
}

async function listed(ask: Ask): Promise<ListedQueue[]> {
  return JSON.parse(await ask("GET", "/__sluice/api/queues", {})).queues;
}

/** Reads the settings of listed queues. Damage that they list is added to `damage`. */
export function queuesIn(queues: readonly ListedQueue[], damage: string[]): Map<string, FoundQueue> {
  for (const { name, damage: found } of queues) damage.push(...found.map(({ text }) => `${name}: ${text}`));
  return new Map(
    queues.map(({ name, settings: { messageRetentionSeconds, deliveryPaused } }) => [
      name,
      { retention: `${messageRetentionSeconds}`, isPaused: deliveryPaused },
    ]),
  );
}

async function topicsOf(ask: Ask): Promise<Map<string, number>> {
  const answer = JSON.parse(await ask("GET", "/__sluice/api/topics", {})) as {
    topics: { name: string; subscriptions: { confirmed: number } }[];
  };
  return new Map(answer.topics.map(({ name, subscriptions }) => [name, subscriptions.confirmed]));
}

interface Received {
  readonly Body: string;
  readonly ReceiptHandle: string;
  readonly Attributes: Readonly<Record<string, string>>;
}

async function receiveAll(ask: Ask): Promise<FoundMessage[]> {
  return receiveFromAll(ask, false);
}

async function receiveFromAll(ask: Ask, isDeleted: boolean): Promise<FoundMessage[]> {
  const queues = await listed(ask);
  const received = await Promise.all(queues.map(({ name }) => receiveFrom(ask, name, isDeleted)));
  return received.flat();
}

/** Receives and deletes until the queues are empty, and every owed message has come or `TRANSFER_MS_MAX` is over. */
async function takeAll(ask: Ask, isComplete: IsComplete): Promise<FoundMessage[]> {
  const found: FoundMessage[] = [];
  for (const deadlineMs = performance.now() + TRANSFER_MS_MAX; ; ) {
    found.push(...(await receiveFromAll(ask, true)));
    if ((await isEmpty(ask)) && (isComplete(found) || performance.now() > deadlineMs)) return found;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function receiveFrom(ask: Ask, queue: string, isDeleted: boolean): Promise<FoundMessage[]> {
  const found: FoundMessage[] = [];
  while (true) {
    const { Messages = [] } = (await sqs(ask, "ReceiveMessage", {
      QueueUrl: urlOf(queue),
      MaxNumberOfMessages: 10,
      VisibilityTimeout: LEASE_MS / 2_000,
      AttributeNames: ["ApproximateReceiveCount"],
    })) as { Messages?: Received[] };
    if (Messages.length === 0) return found;
    for (const { Body, Attributes } of Messages) {
      found.push({ queue, body: Body, receives: Number(Attributes.ApproximateReceiveCount) });
    }
    if (!isDeleted) continue;
    const Entries = Messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));
    await sqs(ask, "DeleteMessageBatch", { QueueUrl: urlOf(queue), Entries });
  }
}

/** Whether no queue has a message. */
async function isEmpty(ask: Ask): Promise<boolean> {
  return (await listed(ask)).every(({ messages }) => Object.values(messages).every((count) => count === 0));
}

export function isEndPlanned(folder: string): boolean {
  return lastEndIn(folder) === "planned";
}

/** Lists files that are damaged or were put aside as damaged. No broker may use the folder meanwhile. */
export function damagedFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const databases = names.flatMap((name) => {
    if (/\.(damaged-|repaired$|whole$)/.test(name)) return `${name} is there`;
    if (!name.startsWith(OBJECTS_FOLDER) || !name.endsWith(".sqlite")) return [];
    const database = new DatabaseSync(path.join(folder, name));
    try {
      const [row] = database.prepare("PRAGMA integrity_check(1)").all();
      return row?.integrity_check === "ok" ? [] : `${name}: ${row?.integrity_check}`;
    } catch (error) {
      return `${name}: ${error}`;
    } finally {
      database.close();
    }
  });
  return [...unreadableClock(folder), ...databases];
}

/** Reports a clock file that cannot be read: `lookAt` does not read it, and the command goes by the system's clock. */
function unreadableClock(folder: string): string[] {
  const file = path.join(folder, CLOCK_FILE);
  try {
    if (existsSync(file)) JSON.parse(readFileSync(file, "utf8"));
    return [];
  } catch (error) {
    return [`${CLOCK_FILE}: ${error}`];
  }
}

function urlOf(queue: string): string {
  return `${AWS}000000000000/${queue}`;
}
