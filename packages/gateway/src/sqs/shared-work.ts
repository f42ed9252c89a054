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

/** What one request wants of a queue. */
export type Errand =
  | { readonly kind: "enqueue"; readonly messages: MessagesToSend }
  /** Without waiting. */
  | { readonly kind: "receive"; readonly request: ReceiveRequest }
  | { readonly kind: "remove"; readonly receipts: readonly string[] }
  | { readonly kind: "change"; readonly changes: readonly VisibilityChange[] };

/** What an errand of each kind brings back. */
export interface Outcomes {
  readonly enqueue: EnqueueReply;
  readonly receive: ReceiveNowReply;
  readonly remove: readonly DeleteOutcome[];
  readonly change: readonly VisibilityOutcome[];
}
export type Outcome = Outcomes[keyof Outcomes];

/** Runs the errands of several requests in one call to the queue's object. What is sent together is stored together. */
export async function runErrands(
  object: QueueReceiveRpc,
  name: string,
  errands: readonly Errand[],
): Promise<Outcome[]> {
  const reply = await object.work(name, workOf(errands));
  if (!reply.ok) {
    if (errands.every(({ kind }) => kind === "enqueue")) return errands.map(() => reply);
    throw new QueueError(reply.code, reply.cause);
  }
  const outcomes = outcomesOf(errands, reply);
  const { enqueued } = reply;
  const sends = errands.filter(({ kind }) => kind === "enqueue");
  if (enqueued === undefined || enqueued.ok === true || sends.length < 2 || !isOfOne(enqueued))
    return outcomes;
  // Nothing was stored: each goes alone, so that nobody is refused for the messages of another.
  const alone = await Promise.all(sends.map((send) => runErrands(object, name, [send])));
  const replies = alone.flat();
  return errands.map(({ kind }, i) => (kind === "enqueue" ? replies.shift() : outcomes[i]) as Outcome); // one for each
}

/** Used again and again: between its clearing and its reading nothing else can happen. */
const writer = new PackedWriter();

function workOf(errands: readonly Errand[]): QueueWork {
  writer.clear();
  const records: RecordToWrite[] = [];
  const receive: ReceiveRequest[] = [];
  const remove: string[] = [];
  const change: VisibilityChange[] = [];
  // Who goes by an older revision than the others makes all of them begin anew: rare, and nothing is lost by it.
  let revision = Infinity;
  for (const errand of errands) {
    switch (errand.kind) {
      case "enqueue":
        records.push(...errand.messages.records);
        revision = Math.min(revision, errand.messages.revision);
        break;
      case "receive":
        receive.push(errand.request);
        break;
      case "remove":
        remove.push(...errand.receipts);
        break;
      case "change":
        change.push(...errand.changes);
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

/** The outcome of each errand, cut out of those of all. */
function outcomesOf(errands: readonly Errand[], done: QueueWorkDone): Outcome[] {
  const { enqueued = { ok: "outdated" } as const, received = [], removed = [], changed = [] } = done;
  const next = { enqueue: 0, receive: 0, remove: 0, change: 0 };
  const take = <Element>(kind: keyof Outcomes, elements: readonly Element[], count: number): Element[] => {
    next[kind] += count;
    const taken = elements.slice(next[kind] - count, next[kind]);
    if (taken.length < count) throw new Error(`a queue answered "${kind}" with too few outcomes`);
    return taken;
  };
  const outcomeOf = (errand: Errand): Outcome => {
    switch (errand.kind) {
      case "enqueue": {
        if (enqueued.ok !== true || enqueued.messages === null) return enqueued;
        return { ok: true, messages: take("enqueue", enqueued.messages, errand.messages.records.length) };
      }
      case "receive":
        return take("receive", received, 1)[0] as ReceiveNowReply; // of one
      case "remove":
        return take("remove", removed, errand.receipts.length);
      case "change":
        return take("change", changed, errand.changes.length);
    }
  };
  return errands.map(outcomeOf);
}

/** Whether the messages of one request may be what others were refused for. */
function isOfOne(reply: Exclude<EnqueueReply, { ok: true }>): boolean {
  return reply.ok !== "outdated" && reply.code !== QUEUE_ERROR_CODES.queueNotFound;
}
