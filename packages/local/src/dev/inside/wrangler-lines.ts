import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { ownSecretsLines, type PlacedSecrets, secretsPath } from "@sluice/project/files/secrets-lines";
import { isBelow } from "@sluice/project/folders";
import { CONSUMER_ENTRYPOINT, READY_FILE } from "@sluice/project/names";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import { type QueueTopology, shardOf, workerOf } from "@sluice/protocol";
import type { LineFilter } from "../../report/console.ts";
import { withUsersFiles } from "../../stacks/build-places.ts";
import { withoutOwnFrames } from "../../stacks/own-frames.ts";
import { BindingsTable, type QueueBinding } from "./bindings-table.ts";

/** Names and paths by which `wranglerLines` recognizes the lines to hide or change. */
export interface LinesContext {
  /** Names of the Workers that run in this Wrangler: the broker's too, unless another session runs it. */
  readonly workers: readonly string[];
  readonly broker: string;
  /** Absolute path of the generated file that says which queues there are; it changes while Wrangler runs. */
  readonly topologyFile: string;
  /** Folder that Wrangler runs in, and the one that everything was generated into. Absolute. */
  readonly workingDirectory: string;
  readonly generatedFolder: string;
  readonly secrets: readonly PlacedSecrets[];
  /** Folders of our own sources, as stack traces name them. Absolute. */
  readonly ownSources: readonly string[];
  /** Ports that options or configurations ask for. Wrangler chooses free ones for the rest. */
  readonly askedPorts: readonly number[];
}

const ATTACHING = "Attaching additional modules:";
const STATUS_EXPLANATION = /^\s*Service bindings, Durable Object bindings, and Tail consumers connect to /;
/** Wrangler's line for a request that was answered with a status below 500. */
const ANSWERED = /^\[wrangler:\w+\] [A-Z]+ (\S+) [1-4]\d\d /;

/**
 * Wrangler's error line for a call by an outdated map of shards (docs/design/shards.md). It is no fault: the caller
 * repeats the call by the newer map.
 */
const STALE_SHARD_MAP =
  /^\s*(?:\[[^\]]*\] )?(?:\S )?\[ERROR\] (?:\[[^\]]*\] )?Uncaught (?:\(in promise\) )?ShardMapError: /;

/**
 * The broker's error about a missing entrypoint of a consumer. It follows only from a Worker that throws while it is
 * loaded, which is reported by itself. Its spaces may be line breaks.
 */
const NO_CONSUMER = new RegExp(
  `Worker "core:\\S+"'s binding "\\S+" refers to service "core:user:\\S+" with a named entrypoint "${CONSUMER_ENTRYPOINT}",`.replaceAll(
    " ",
    "\\s+",
  ),
);

/** Line of the broker for a delivery. It names the queue's object; of a queue with shards, the shard's. */
const DELIVERED = /^(?:\[[^\]]*\] )?QUEUE (\S+) \d+\/\d+ acknowledged /;

/** Line of a handler in an earlier Wrangler: our name of the batch comes before Wrangler's name of the Worker. */
const BATCH_BEFORE_WORKER = /^(\[\S+ [0-9a-f]{8}\??\] |\[\S+, \d+ messages\??\] )(\[([^\]]+)\] )/;

/** Wrangler's error for a socket or a port that is in use. The terminal's width may break it at any space. */
const SOCKET_IN_USE = /Address already in use\s+\((?:socket\s+"|\S+:(\d+)\))/;

/** Whether Wrangler could not open a socket that it has chosen itself. @param asked ports that were asked for. */
export function isSocketInUse(message: string, asked: readonly number[]): boolean {
  const found = SOCKET_IN_USE.exec(message);
  if (found === null) return false;
  const [, port] = found;
  // A socket that is named instead of numbered was not asked for.
  return port === undefined || !asked.includes(Number(port));
}

/**
 * Makes the filter that shows Wrangler's lines as they would be without Sluice: queues instead of the bindings to the
 * broker, no lines about Sluice's own files and requests, stack traces without Sluice's frames.
 */
export function wranglerLines(context: LinesContext): LineFilter {
  let table: BindingsTable | null = null;
  /** Wrangler explains its connection status once, after whichever table comes first. */
  let heldExplanation: string | null = null;
  let hasShownStatus = false;
  /** Title of a table of modules. It is dropped if the table turns out to be the broker's. */
  let heldAttaching: string | null = null;

  /** Takes a message while a table is open. At the message after the table, shows the table. */
  const inTable = (current: BindingsTable, message: string): readonly string[] => {
    if (current.takes(message)) return [];
    table = null;
    if (message !== "") return [...current.asGiven(), ...shown(message)];
    if (current.worker === context.broker) return [];
    const lines = current.lines(queuesOf(current.worker, context));
    hasShownStatus ||= lines.some((line) => line.includes("connected]"));
    if (!hasShownStatus || heldExplanation === null) return lines;
    const explained = [...lines, heldExplanation];
    heldExplanation = null;
    return explained;
  };

  const shown = (message: string): readonly string[] => {
    if (table !== null) return inTable(table, message);
    const plain = stripVTControlCharacters(message);
    const title = BindingsTable.workerIn(plain);
    if (title !== null) {
      // The title names no Worker where only one runs.
      table = new BindingsTable(message, title || (context.workers[0] ?? ""), context.workers);
      return [];
    }
    if (heldAttaching !== null) {
      const held = heldAttaching;
      heldAttaching = null;
      return plain.includes(READY_FILE) ? [] : [held, ...shown(message)];
    }
    if (plain === ATTACHING) {
      heldAttaching = message;
      return [];
    }
    if (STATUS_EXPLANATION.test(plain) && !hasShownStatus) {
      heldExplanation = message;
      return [];
    }
    if (STALE_SHARD_MAP.test(plain) || NO_CONSUMER.test(plain)) return [];
    const secrets = secretsPath(plain);
    if (secrets !== null) return secretsLine(message, secrets, context);
    const path = ANSWERED.exec(plain)?.[1];
    if (path !== undefined && isOwnRequest(path)) return [];
    const delivered = DELIVERED.exec(plain)?.[1];
    if (delivered !== undefined) return [byConsumer(message, consumerElsewhere(delivered, context))];
    const { generatedFolder, broker, workingDirectory } = context;
    // The folders of all Workers are beside the broker's.
    const named = withUsersFiles(message, join(generatedFolder, broker), workingDirectory);
    return [withoutOwnFrames(named, context.ownSources)];
  };

  return (given) => shown(withWorkerFirst(given, context.workers));
}

function withWorkerFirst(message: string, workers: readonly string[]): string {
  return message.replace(BATCH_BEFORE_WORKER, (prefix, batch: string, of: string, worker: string) =>
    workers.includes(worker) ? `${of}${batch}` : prefix,
  );
}

/**
 * Whether a request is one of the dashboard's, the commands' or this process's. Such requests show their own result,
 * and changes of queues have log lines of their own.
 */
function isOwnRequest(path: string): boolean {
  const page = path.slice(SLUICE_PATH.length);
  return path.startsWith(SLUICE_PATH) && /^(?:\/?|\/api(?:\/.*)?|\/app\.[0-9a-f]+\.(?:js|css))$/.test(page);
}

/** The queues that a Worker sends to. */
function queuesOf(worker: string, context: LinesContext): QueueBinding[] {
  return Object.entries(queuesIn(context)).flatMap(([queue, { producers }]) =>
    producers.filter((producer) => producer.worker === worker).map(({ binding }) => ({ binding, queue })),
  );
}

/** Reads the queues of the topology; none while the file is being written and is no JSON. */
function queuesIn({ topologyFile }: LinesContext): QueueTopology["queues"] {
  try {
    return (JSON.parse(readFileSync(topologyFile, "utf8")) as QueueTopology).queues;
  } catch {
    return {};
  }
}

/** Names the Worker of another process that a queue's object delivers to; `null` for a Worker of this Wrangler. */
function consumerElsewhere(object: string, context: LinesContext): string | null {
  const worker = workerOf(queuesIn(context)[shardOf(object).queue]?.consumer);
  return worker === null || context.workers.includes(worker) ? null : worker;
}

function byConsumer(message: string, worker: string | null): string {
  return worker === null
    ? message
    : message.replace(" acknowledged ", ` acknowledged by ${worker} elsewhere `);
}

/** Shows a line about a file of secrets by the user's own file; nothing for the broker's generated one. */
function secretsLine(message: string, path: string, context: LinesContext): readonly string[] {
  const { generatedFolder, workingDirectory, broker, secrets } = context;
  const isBrokers = isBelow(resolve(workingDirectory, path), join(generatedFolder, broker));
  return isBrokers ? [] : ownSecretsLines(message, path, secrets, workingDirectory);
}
