import {
  type DeleteOutcome,
  type EnqueueReply,
  PackedWriter,
  QUEUE_ERROR_CODES,
  QueueError,
  type QueueReceiveRpc,
  type QueueWork,
  type QueueWorkDone,
  type ReceiveNowReply,
  type ReceiveRequest,
  type RecordToWrite,
  type VisibilityChange,
  type VisibilityOutcome,
} from "@sluice/protocol";

/** Messages of one request. They are packed when their call is made, all into one buffer. */
export interface MessagesToSend {
  readonly records: readonly RecordToWrite[];
  /** Revision of the queue's record that they were checked by. */
  readonly revision: number;
}

/** Operation of one request on a queue. */
export type Operation =
  | { readonly kind: "enqueue"; readonly messages: MessagesToSend }
  /** Without waiting. */
  | { readonly kind: "receive"; readonly request: ReceiveRequest }
  | { readonly kind: "remove"; readonly receipts: readonly string[] }
  | { readonly kind: "change"; readonly changes: readonly VisibilityChange[] };

/** The outcome of an operation, by its kind. */
export interface Outcomes {
  readonly enqueue: EnqueueReply;
  readonly receive: ReceiveNowReply;
  readonly remove: readonly DeleteOutcome[];
  readonly change: readonly VisibilityOutcome[];
}
export type Outcome = Outcomes[keyof Outcomes];

/** Runs the operations of several requests in one call to the queue's object, which stores all in one commit. */
export async function runOperations(
  object: QueueReceiveRpc,
  name: string,
  operations: readonly Operation[],
): Promise<Outcome[]> {
  const reply = await object.work(name, workOf(operations));
  if (!reply.ok) {
    if (operations.every(({ kind }) => kind === "enqueue")) return operations.map(() => reply);
    throw new QueueError(reply.code, reply.cause);
  }
  const outcomes = outcomesOf(operations, reply);
  const { enqueued } = reply;
  const sends = operations.filter(({ kind }) => kind === "enqueue");
  if (enqueued === undefined || enqueued.ok === true || sends.length < 2 || !isForOneRequest(enqueued))
    return outcomes;
  // No message was stored. Each send gets a call of its own, so that none is refused for the messages of another.
  const replies = await Promise.all(sends.map((send) => sendAlone(object, name, send)));
  // There is one reply for each send.
  return operations.map(({ kind }, i) => (kind === "enqueue" ? replies.shift() : outcomes[i]) as Outcome);
}

/**
 * Makes a call for one send. A call that fails answers that send alone, whose messages may be stored: what the others
 * want is done already.
 */
async function sendAlone(object: QueueReceiveRpc, name: string, send: Operation): Promise<Outcome> {
  try {
    return (await runOperations(object, name, [send]))[0] as Outcome; // of one
  } catch (error) {
    console.error(`a send to queue "${name}" failed: ${error instanceof Error ? error.stack : error}`);
    const cause = "The broker failed; its log says why.";
    return { ok: false, code: QUEUE_ERROR_CODES.unknownInternalError, cause };
  }
}

/** Shared by all calls: it is filled and read without an `await` in between. */
const writer = new PackedWriter();

function workOf(operations: readonly Operation[]): QueueWork {
  writer.clear();
  const records: RecordToWrite[] = [];
  const receive: ReceiveRequest[] = [];
  const remove: string[] = [];
  const change: VisibilityChange[] = [];
  // A request with an older revision than the others makes all of them repeat: that is rare, and costs only time.
  let revision = Infinity;
  for (const operation of operations) {
    switch (operation.kind) {
      case "enqueue":
        records.push(...operation.messages.records);
        revision = Math.min(revision, operation.messages.revision);
        break;
      case "receive":
        receive.push(operation.request);
        break;
      case "remove":
        remove.push(...operation.receipts);
        break;
      case "change":
        change.push(...operation.changes);
        break;
    }
  }
  writer.appendEach(records);
  return {
    ...(records.length === 0 ? {} : { enqueue: { packed: writer.slice(0, writer.byteLength), revision } }),
    ...(receive.length === 0 ? {} : { receive }),
    ...(remove.length === 0 ? {} : { remove }),
    ...(change.length === 0 ? {} : { change }),
  };
}

/** Splits the reply into the outcomes of the operations. */
function outcomesOf(operations: readonly Operation[], done: QueueWorkDone): Outcome[] {
  const { enqueued = { ok: "outdated" } as const, received = [], removed = [], changed = [] } = done;
  const next = { enqueue: 0, receive: 0, remove: 0, change: 0 };
  const take = <Element>(kind: keyof Outcomes, elements: readonly Element[], count: number): Element[] => {
    next[kind] += count;
    const taken = elements.slice(next[kind] - count, next[kind]);
    if (taken.length < count) throw new Error(`a queue answered "${kind}" with too few outcomes`);
    return taken;
  };
  const outcomeOf = (operation: Operation): Outcome => {
    switch (operation.kind) {
      case "enqueue": {
        if (enqueued.ok !== true || enqueued.messages === null) return enqueued;
        return { ok: true, messages: take("enqueue", enqueued.messages, operation.messages.records.length) };
      }
      case "receive":
        return take("receive", received, 1)[0] as ReceiveNowReply; // of one
      case "remove":
        return take("remove", removed, operation.receipts.length);
      case "change":
        return take("change", changed, operation.changes.length);
    }
  };
  return operations.map(outcomeOf);
}

/** Refusals of a queue, whatever the messages are. More calls would be a load on one that has too much to do. */
const OF_THE_QUEUE: readonly number[] = [
  QUEUE_ERROR_CODES.queueNotFound,
  QUEUE_ERROR_CODES.queueOverloaded,
  QUEUE_ERROR_CODES.queueStorageLimitExceeded,
];

/** Whether the messages of one request alone may be why the call was refused. */
function isForOneRequest(reply: Exclude<EnqueueReply, { ok: true }>): boolean {
  return reply.ok !== "outdated" && !OF_THE_QUEUE.includes(reply.code);
}
