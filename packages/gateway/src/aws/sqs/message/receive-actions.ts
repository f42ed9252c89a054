import { unknownAccessKey } from "@sluice/aws";
import { PackedIndex, type ReceiveReply, type ReceiveRequest } from "@sluice/protocol";
import type { SqsContext } from "../context.ts";
import { invalidValue, refuse, SQS_ERRORS } from "../errors.ts";
import type { KnownQueue } from "../known-queues.ts";
import type { SqsInput, SqsOutput } from "../model.ts";
import { onQueue } from "../on-queue.ts";
import { shownMessage } from "./received-message.ts";

/** Ranges of `ReceiveMessage` (spec sqs 2.3). */
export const MESSAGES_MAX = 10;
export const WAIT_SECONDS_MAX = 20;
export const VISIBILITY_SECONDS_MAX = 43_200;

/**
 * Receives messages. Waits for one if the request or the queue says so, at most until the listening process is about to
 * end. If the client disconnects its wait ends, and messages that it was given meanwhile are released.
 */
export function receiveMessage(
  context: SqsContext,
  input: SqsInput<"ReceiveMessage">,
): Promise<SqsOutput<"ReceiveMessage">> {
  return onQueue(context, input.QueueUrl, async (queue) => {
    checkRanges(input);
    const reply = await receive(context, queue, input);
    if (reply.kind === "empty") return {};
    if (reply.kind === "overLimit") {
      throw refuse(SQS_ERRORS.overLimit, "The maximum number of in flight messages is reached.");
    }
    const index = new PackedIndex(reply.packed);
    const wanted = {
      // Some clients send both names of the list, one of them empty.
      systemAttributes: [...(input.MessageSystemAttributeNames ?? []), ...(input.AttributeNames ?? [])],
      messageAttributes: input.MessageAttributeNames ?? [],
      isPrintable: context.isQuery,
    };
    return { Messages: reply.receipts.map((_, i) => shownMessage(index, i, reply, wanted, context)) };
  });
}

/** A receive that waits at the queue's object, by its id there. */
interface Wait {
  receiverId: string | null;
}

async function receive(
  context: SqsContext,
  queue: KnownQueue,
  input: SqsInput<"ReceiveMessage">,
): Promise<ReceiveReply> {
  const { ports, keepAlive, client } = context;
  const { name } = queue;
  if (client.aborted) return { kind: "empty" };
  const wait: Wait = { receiverId: null };
  const receiving = receiveFor(wait, context, queue, input);
  const endWait = async () => {
    if (wait.receiverId !== null) await ports.queue(name).cancelReceive(name, wait.receiverId);
  };
  const undo = async () => {
    await endWait();
    const reply = await receiving;
    if (reply.kind !== "received") return;
    await ports.queue(name).release(name, reply.receipts);
  };
  // A failure is not reported: a queue that is gone has nothing to release, and other failures show in the next calls.
  client.addEventListener("abort", () => keepAlive(undo().catch(() => {})));
  return ports.waits.during(receiving, endWait);
}

async function receiveFor(
  wait: Wait,
  context: SqsContext,
  { name, isFifo }: KnownQueue,
  input: SqsInput<"ReceiveMessage">,
): Promise<ReceiveReply> {
  const { ports, calls, client } = context;
  const { MaxNumberOfMessages: max = 1, VisibilityTimeout, WaitTimeSeconds, ReceiveRequestAttemptId } = input;
  const request: ReceiveRequest = {
    max,
    ...(VisibilityTimeout === undefined ? {} : { visibilityTimeoutMs: 1_000 * VisibilityTimeout }),
    ...(WaitTimeSeconds === undefined ? {} : { waitMs: 1_000 * WaitTimeSeconds }),
    ...(ReceiveRequestAttemptId === undefined || !isFifo ? {} : { attemptId: ReceiveRequestAttemptId }),
  };
  // A receive that finds messages does not wait, and shares its call with others.
  const now = await calls.receiveNow(name, request, context.keepAlive);
  if (now.kind === "received") return now;
  if (now.kind !== "unserved" && WaitTimeSeconds === 0) return now;
  // The client disconnected before there was a wait to end.
  if (client.aborted) return { kind: "empty" };
  const { isStopped } = ports.waits;
  if (isStopped && now.kind !== "unserved") return { kind: "empty" };
  wait.receiverId = crypto.randomUUID();
  const waited = { ...request, ...(isStopped ? { waitMs: 0 } : {}), receiverId: wait.receiverId };
  const reply = await ports.queue(name).receive(name, waited);
  if (reply.kind === "received") {
    context.noteWait();
    await checkKeyAgain(context, name, reply.receipts);
  }
  return reply;
}

/**
 * Releases the messages of a receive whose key was revoked, or ended, while the receive has waited. Throws `AwsError`
 * (`InvalidClientTokenId`) then.
 */
async function checkKeyAgain(
  { ports, caller: { token, accessKeyId } }: SqsContext,
  name: string,
  receipts: readonly string[],
): Promise<void> {
  if (token === null) return;
  let counts = false;
  try {
    counts = ((await ports.authority.accessKeys()).get(accessKeyId)?.untilMs ?? 0) > ports.now();
  } finally {
    if (!counts) await ports.queue(name).release(name, receipts);
  }
  if (!counts) throw unknownAccessKey();
}

function checkRanges(input: SqsInput<"ReceiveMessage">): void {
  const { MaxNumberOfMessages: max, VisibilityTimeout: visibility, WaitTimeSeconds: wait } = input;
  if (max !== undefined && !(max >= 1 && max <= MESSAGES_MAX)) {
    throw invalidValue(max, "MaxNumberOfMessages", `Must be between 1 and ${MESSAGES_MAX}, if provided.`);
  }
  if (wait !== undefined && !(wait >= 0 && wait <= WAIT_SECONDS_MAX)) {
    throw invalidValue(wait, "WaitTimeSeconds", `Must be >= 0 and <= ${WAIT_SECONDS_MAX}, if provided.`);
  }
  if (visibility !== undefined && !(visibility >= 0 && visibility <= VISIBILITY_SECONDS_MAX)) {
    throw invalidValue(
      visibility,
      "VisibilityTimeout",
      `Must be >= 0 and <= ${VISIBILITY_SECONDS_MAX}, if provided.`,
    );
  }
  const attempt = input.ReceiveRequestAttemptId;
  if (attempt !== undefined && !/^[\x21-\x7e]{1,128}$/.test(attempt)) {
    throw invalidValue(
      attempt,
      "ReceiveRequestAttemptId",
      "ReceiveRequestAttemptId can only include alphanumeric and punctuation characters. 1 to 128 in length.",
    );
  }
}
