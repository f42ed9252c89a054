import type { AwsError } from "@sluice/aws";
import type { KeepAlive } from "@sluice/coalesce";
import type { AuditRpc, DirectoryRefusal, QueueChange, QueueReceiveRpc, QueueRecord } from "@sluice/protocol";
import type { AccountDirectory } from "../../account/queue-directory.ts";
import { SHARDS_REFUSED } from "../../account/shards-refused.ts";
import type { Waits } from "../../account/waits.ts";
import type { Authority } from "../../rights/authority.ts";
import { mayUse } from "../../rights/rights.ts";
import { accessDenied } from "../access-denied.ts";
import type { Caller } from "../caller.ts";
import type { Change } from "../change.ts";
import type { Home } from "../queue-address.ts";
import { addressOf, arnOf, directoryName, type QueueAddress } from "../queue-address.ts";
import { parseQueueUrl, queueUrl } from "./address.ts";
import { missingParameter, refuse, SQS_ERRORS } from "./errors.ts";
import type { KnownQueues } from "./known-queues.ts";
import type { QueueCalls } from "./queue-calls.ts";

/** Longest name that is looked up, in characters: longer than any queue's, regions and accounts included. */
const LOOKED_UP_LENGTH_MAX = 256;

/** Most attempts at a change while other requests change the queue too. */
const CHANGE_ATTEMPTS_MAX = 20;

/** Parts of the broker that SQS uses. */
export interface SqsPorts {
  readonly account: AccountDirectory;
  readonly audit: Pick<AuditRpc, "noteAudit">;
  /** Access keys that the broker keeps. */
  readonly authority: Pick<Authority, "accessKeys" | "take">;
  /** A queue's object. */
  queue(name: string): QueueReceiveRpc & { purge(queue: string): Promise<{ readonly purged: number }> };
  now(): number;
  readonly waits: Waits;
  /** Whether the objects run in this process. */
  readonly isLocal: boolean;
}

/** Settings of SQS. The defaults suit development better than AWS's own behaviour. */
export interface SqsSettings {
  readonly home: Home;
  /** Whether a queue can be purged, and a name be used again, only once in 60 s, as on AWS. Default false. */
  readonly isStrictAboutTime: boolean;
  /**
   * Whether a receive that has waited checks that its client is still there before it answers (`client-disconnect.ts`):
   * for clients that connect to workerd itself, which does not see them disconnect. Default false.
   */
  readonly looksForClients?: boolean;
}

/** One request: its caller, and the parts of the broker that it uses. */
export interface SqsContext {
  readonly ports: SqsPorts;
  readonly settings: SqsSettings;
  readonly known: KnownQueues;
  readonly calls: QueueCalls;
  readonly keepAlive: KeepAlive;
  readonly caller: Caller;
  /** Address of the endpoint for the client, without the queue's part: queue URLs begin with it. */
  readonly endpoint: string;
  /** Whether the request came in the Query protocol, some of whose texts differ. */
  readonly isQuery: boolean;
  /** The body of the request. */
  readonly text: string;
  /** Path of the request behind the endpoint: in the Query protocol it can name the queue. */
  readonly path: string;
  /** Aborted when the client disconnects. */
  readonly client: AbortSignal;
  /** Name of the action. */
  readonly action: string;
  /** Change that the request makes. */
  readonly change: Change;
  /** Notes that the client has waited, and may have disconnected by now. */
  noteWait(): void;
  /** `X-Amzn-Trace-Id` of the request. */
  readonly traceHeader: string | null;
  /** Trace context of the request, by its `traceparent`. */
  readonly trace: Uint8Array | null;
}

/** A queue that a request is about. */
export interface FoundQueue {
  readonly address: QueueAddress;
  readonly record: QueueRecord;
}

/**
 * Finds the queue that a request names: by its `QueueUrl`, or in the Query protocol by its path. Throws `AwsError`:
 * `MissingParameter`, `InvalidAddress`, `QueueDoesNotExist`.
 */
export async function queueOf(context: SqsContext, url: string | undefined): Promise<FoundQueue> {
  const address = parseQueueUrl(requestedUrl(context, url), context.caller);
  const record = await findQueue(context, address);
  if (record === null) throw queueDoesNotExist(context);
  return { address, record };
}

/** Returns the name that a request gives its queue: a URL, or a path. Throws `AwsError`: `MissingParameter`. */
export function requestedUrl({ path }: SqsContext, url: string | undefined): string {
  const text = url !== undefined && url !== "" ? url : path;
  if (text === "" || text === "/") throw missingParameter("QueueUrl");
  return text;
}

/**
 * Changes the queue that a request names. `alter` makes the new values of the old ones. If another request changes the
 * queue in between, `alter` is called again, so that neither change is lost. Throws what `queueOf` and `alter` throw.
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
    if (reply.refusal.kind !== "changedMeanwhile")
      throw refusedSettings(reply.refusal) ?? queueDoesNotExist(context);
  }
  throw refuse(SQS_ERRORS.requestThrottled, "The queue is being changed by too many at once. Try again.");
}

/** Returns the error for settings that the directory refuses; `null` where it is not for the settings. */
export function refusedSettings(refusal: DirectoryRefusal): AwsError | null {
  switch (refusal.kind) {
    case "otherJurisdiction":
      return refuse(
        SQS_ERRORS.invalidAttributeValue,
        "Dead letters would leave the jurisdiction of their queue.",
      );
    case "shardsRefused":
      return refuse(SQS_ERRORS.invalidAttributeValue, SHARDS_REFUSED[refusal.reason]);
    default:
      return null;
  }
}

export async function findQueue(context: SqsContext, address: QueueAddress): Promise<QueueRecord | null> {
  return findByName(context, directoryName(address, context.settings.home));
}

/** Finds a queue by its name in the directory. */
export async function findByName(context: SqsContext, name: string): Promise<QueueRecord | null> {
  checkQueue(context, name);
  const { ports } = context;
  return name.length > LOOKED_UP_LENGTH_MAX ? null : ports.account.findByName(name);
}

/** Notes the name of a request's queue. Throws `AwsError` (`AccessDenied`) if the caller may not use it. */
export function checkQueue({ caller, settings, action, change }: SqsContext, name: string): void {
  change.name(name);
  if (mayUse(caller.rights, name)) return;
  throw accessDenied(caller, `sqs:${action.toLowerCase()}`, arnOf(addressOf(name, settings.home)));
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
