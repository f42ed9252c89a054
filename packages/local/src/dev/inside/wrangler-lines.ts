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

/** Names and paths by which Wrangler's lines are told apart. */
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
  /** Ports that options or configurations ask for. Of others Wrangler chooses free ones. */
  readonly askedPorts: readonly number[];
}

const ATTACHING = "Attaching additional modules:";
const STATUS_EXPLANATION = /^\s*Service bindings, Durable Object bindings, and Tail consumers connect to /;
/** A request that was answered, other than by a failure of the server; Wrangler marks its lines with a level. */
const ANSWERED = /^\[wrangler:\w+\] [A-Z]+ (\S+) [1-4]\d\d /;

/**
 * Wrangler's error line for a call by an outdated map of shards. It is no fault: the caller takes the later map and
 * repeats the call.
 */
const STALE_SHARD_MAP =
  /^\s*(?:\[[^\]]*\] )?(?:\S )?\[ERROR\] (?:\[[^\]]*\] )?Uncaught (?:\(in promise\) )?ShardMapError: /;

/**
 * The broker's error about a missing entrypoint of a consumer, which only follows from a Worker that throws while it is
 * loaded. Its spaces may be line breaks.
 */
const NO_CONSUMER = new RegExp(
  `Worker "core:\\S+"'s binding "\\S+" refers to service "core:user:\\S+" with a named entrypoint "${CONSUMER_ENTRYPOINT}",`.replaceAll(
    " ",
    "\\s+",
  ),
);

/** Line of the broker for a delivery. It names the object, which of a queue with shards is one of these. */
const DELIVERED = /^(?:\[[^\]]*\] )?QUEUE (\S+) \d+\/\d+ acknowledged /;

/** Line of a handler by an earlier Wrangler, which has our name of the batch before its own name of the Worker. */
const BATCH_BEFORE_WORKER = /^(\[\S+ [0-9a-f]{8}\??\] |\[\S+, \d+ messages\??\] )(\[([^\]]+)\] )/;

/** Wrangler's error for a socket or a port, in its words, wherever the terminal makes it break the line. */
const SOCKET_IN_USE = /Address already in use\s+\((?:socket\s+"|\S+:(\d+)\))/;

/** Whether Wrangler could not open a socket that nobody but itself has chosen. @param asked ports that were asked for. */
export function isSocketInUse(message: string, asked: readonly number[]): boolean {
  const found = SOCKET_IN_USE.exec(message);
  if (found === null) return false;
  const [, port] = found;
  // A socket has a name in the place of a port: nobody asks for one.
  return port === undefined || !asked.includes(Number(port));
}

/**
 * Shows what Wrangler says as it would be without Sluice in between: queues in the place of the bindings to the broker,
 * no line about what Sluice does on its own account, stack traces up to the user's code.
 */
export function wranglerLines(context: LinesContext): LineFilter {
  let table: BindingsTable | null = null;
  /** Wrangler explains its connection status once, after whichever table comes first. */
  let heldExplanation: string | null = null;
  let hasShownStatus = false;
  /** Comes before a table of modules: the broker's are nobody's business. */
  let heldAttaching: string | null = null;

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
      // A Worker that runs alone has no name in the title.
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

/** Reads the queues of the topology; none for a file that is being written anew, of which a part is no JSON. */
function queuesIn({ topologyFile }: LinesContext): QueueTopology["queues"] {
  try {
    return (JSON.parse(readFileSync(topologyFile, "utf8")) as QueueTopology).queues;
  } catch {
    return {};
  }
}

/** Names the Worker of another process that an object delivers to; `null` where it is one of this Wrangler. */
function consumerElsewhere(object: string, context: LinesContext): string | null {
  const worker = workerOf(queuesIn(context)[shardOf(object).queue]?.consumer);
  return worker === null || context.workers.includes(worker) ? null : worker;
}

function byConsumer(message: string, worker: string | null): string {
  return worker === null
    ? message
    : message.replace(" acknowledged ", ` acknowledged by ${worker} elsewhere `);
}

/** Files of secrets by the user's own names; nothing of the broker's, which is no Worker of the user's. */
function secretsLine(message: string, path: string, context: LinesContext): readonly string[] {
  const { generatedFolder, workingDirectory, broker, secrets } = context;
  const isBrokers = isBelow(resolve(workingDirectory, path), join(generatedFolder, broker));
  return isBrokers ? [] : ownSecretsLines(message, path, secrets, workingDirectory);
}
