import type { KeepAlive, QueueChange, QueueReceiveRpc, QueueRecord } from "@sluice/protocol";
import type { Caller } from "../aws-caller.ts";
import type { AwsRequest } from "../aws-request.ts";
import type { Home } from "../queue-address.ts";
import { directoryName, type QueueAddress } from "../queue-address.ts";
import type { AccountDirectory } from "../queue-directory.ts";
import { parseQueueUrl, queueUrl } from "./address.ts";
import { missingParameter, refuse, SQS_ERRORS } from "./errors.ts";
import type { KnownQueues } from "./known-queues.ts";
import type { QueueCalls } from "./queue-calls.ts";

/** What SQS needs of the broker. */
export interface SqsPorts {
  readonly account: AccountDirectory;
  /** A queue's object. */
  queue(name: string): QueueReceiveRpc & { purge(queue: string): Promise<{ readonly purged: number }> };
  now(): number;
}

/** How SQS behaves where AWS's own ways are in the way of development. */
export interface SqsSettings {
  readonly home: Home;
  /** Whether a queue can be purged, and a name be used again, only once in 60 s, as on AWS. Default false. */
  readonly isStrictAboutTime: boolean;
  /**
   * Whether a receive that has waited looks whether its client is still there before it hands messages over (`hand-over.ts`):
   * where clients connect to workerd itself, which does not see them go. Default false.
   */
  readonly looksForClients?: boolean;
}

/** One request: who makes it, over what. */
export interface SqsContext {
  readonly ports: SqsPorts;
  readonly settings: SqsSettings;
  readonly known: KnownQueues;
  readonly calls: QueueCalls;
  readonly keepAlive: KeepAlive;
  /** Says that the request has come as far as to a call to a queue. */
  arrived(): void;
  readonly caller: Caller;
  /** Address that the request came to, without the queue's part: queue URLs begin with it. */
  readonly endpoint: string;
  /** Whether the request came in the Query protocol, whose texts differ here and there. */
  readonly isQuery: boolean;
  /** The body of the request. */
  readonly text: string;
  /** Path of the request behind the endpoint: in the Query protocol it can name the queue. */
  readonly path: string;
  /** Who waits for the answer. */
  readonly client: Pick<AwsRequest, "hasClientGone" | "whenClientGoes" | "isStopping" | "whenStopping">;
  /** Says that the client has waited and may have gone by now. */
  noteWait(): void;
  /** `X-Amzn-Trace-Id` of the request. */
  readonly traceHeader: string | null;
}

/** A queue that a request is about. */
export interface FoundQueue {
  readonly address: QueueAddress;
  readonly record: QueueRecord;
}

/**
 * The queue that a request names: by its `QueueUrl`, in the Query protocol else by its path. Throws `AwsError`:
 * `MissingParameter`, `InvalidAddress`, `QueueDoesNotExist`.
 */
export async function queueOf(context: SqsContext, url: string | undefined): Promise<FoundQueue> {
  const address = parseQueueUrl(requestedUrl(context, url), context.caller);
  const record = await findQueue(context, address);
  if (record === null) throw queueDoesNotExist(context);
  return { address, record };
}

/** Longest name that any queue can have, ARNs of other regions included, and some: longer ones are not even looked for. */
const LOOKED_UP_LENGTH_MAX = 256;

/** What a request names its queue by: a URL, or a path. Throws `AwsError`: `MissingParameter`. */
export function requestedUrl({ path }: SqsContext, url: string | undefined): string {
  const text = url !== undefined && url !== "" ? url : path;
  if (text === "" || text === "/") throw missingParameter("QueueUrl");
  return text;
}

/** How often a change is made anew because somebody else was quicker. */
const CHANGE_ATTEMPTS_MAX = 20;

/**
 * Changes the queue that a request names. What is set to is made of what was: when somebody else changes the queue between
 * the two, it is made again, so that neither change is lost. Throws what `queueOf` and `alter` throw.
 */
export async function changeQueue(
  context: SqsContext,
  url: string | undefined,
  alter: (found: FoundQueue) => Omit<QueueChange, "basedOn"> | Promise<Omit<QueueChange, "basedOn">>,
): Promise<void> {
  for (let attempt = 1; attempt <= CHANGE_ATTEMPTS_MAX; attempt++) {
    const found = await queueOf(context, url);
    const { queueId, revision } = found.record;
    const change = { ...(await alter(found)), basedOn: revision };
    const reply = await context.ports.account.changeQueue(queueId, change);
    if (reply.ok) return;
    if (reply.refusal.kind !== "changedMeanwhile") throw queueDoesNotExist(context);
  }
  throw refuse(SQS_ERRORS.requestThrottled, "The queue is being changed by too many at once. Try again.");
}

export async function findQueue(context: SqsContext, address: QueueAddress): Promise<QueueRecord | null> {
  return findByName(context, directoryName(address, context.settings.home));
}

/** The queue of a name in the directory. */
export async function findByName({ ports }: SqsContext, name: string): Promise<QueueRecord | null> {
  return name.length > LOOKED_UP_LENGTH_MAX ? null : ports.account.findByName(name);
}

export function queueDoesNotExist({ isQuery }: Pick<SqsContext, "isQuery">) {
  const text = isQuery
    ? "The specified queue does not exist for this wsdl version."
    : "The specified queue does not exist.";
  return refuse(SQS_ERRORS.queueDoesNotExist, text);
}

export function urlOf({ endpoint, settings }: SqsContext, address: QueueAddress): string {
  return queueUrl(endpoint, address, settings.home);
}
