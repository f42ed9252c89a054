import {
  type QueueWork,
  type QueueWorkDone,
  type ReceiveNowReply,
  SQS_RECORD_BYTES_MAX,
} from "@sluice/protocol";
import type { Receivers } from "../receive/receivers.ts";
import { changeByReceipt, deleteByReceipt } from "../receive/settle-receipts.ts";
import type { Intake } from "../send/intake.ts";
import type { CallerMap } from "../shards/caller-map.ts";
import type { QueueContext } from "../turn/context.ts";
import type { QueuePart } from "./queue-part.ts";

/** A queue with the parts that requests with visibility timeouts use. */
interface WorkedQueue extends QueueContext {
  readonly intake: Intake;
  readonly receivers: Receivers;
  readonly part: QueuePart | null;
}

/** Does what several requests want of the queue in one turn: deletes, changes visibilities, stores and receives. */
export async function doWork(
  queue: WorkedQueue,
  { enqueue, receive, remove, change }: QueueWork,
  callerMap?: CallerMap,
): Promise<QueueWorkDone> {
  const acceptable =
    enqueue === undefined
      ? undefined
      : queue.intake.check([enqueue], {
          messageBytesMax: SQS_RECORD_BYTES_MAX,
          by: enqueue.attempts === undefined ? "SQS" : "import",
        });
  const lent = receive === undefined ? null : (queue.part?.forClient() ?? null);
  if (lent !== null) await lent;
  let received = undefined as Promise<ReceiveNowReply[]> | undefined;
  const turn = queue.submit((): QueueWorkDone => {
    // A refused call must receive nothing: the messages would reach no client.
    callerMap?.check();
    received = receive === undefined ? undefined : queue.receivers.receiveInTurn(receive);
    // If the turn fails, the call does too.
    received?.catch(() => {});
    const removed = remove?.map((receipt) => deleteByReceipt(queue, receipt));
    const changed = change?.map((each) => changeByReceipt(queue, each));
    const enqueued = acceptable?.ok === true ? acceptable.accept(callerMap) : acceptable;
    return { ...(removed && { removed }), ...(changed && { changed }), ...(enqueued && { enqueued }) };
  });
  try {
    const done = await turn;
    const replies = await received;
    return replies === undefined ? done : { ...done, received: replies };
  } finally {
    if (acceptable?.ok === true) acceptable.release();
  }
}
