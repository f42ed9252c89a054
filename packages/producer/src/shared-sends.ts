import { type KeepAlive, LINGER_MS, SharedCall, setTimer } from "@sluice/coalesce";
import { joinPacked, QUEUE_ERROR_CODES, type SendReply, type SendRequest } from "@sluice/protocol";
import { CALL_BYTES_FULL } from "./send-batcher.ts";

/**
 * Refusals of a message for its content. The broker then stores nothing of the call, so the other batches are sent
 * again without it.
 */
const CODES_OF_CONTENT: readonly number[] = [
  QUEUE_ERROR_CODES.batchDelayInvalid,
  QUEUE_ERROR_CODES.messageMetadataInvalid,
  QUEUE_ERROR_CODES.messageSizeOutOfBounds,
  QUEUE_ERROR_CODES.batchSizeOutOfBounds,
  QUEUE_ERROR_CODES.batchCountOutOfBounds,
];

/** Makes one call to the queue's object, on behalf of the request that it runs in. It must not reject. */
export type Dispatch = (requests: readonly SendRequest[]) => Promise<SendReply>;

/** Send requests that one request of the Worker makes at one moment. */
type PendingBatch = readonly SendRequest[];

/**
 * Lets the requests of one isolate share calls to the broker: what is sent while a call is young goes with the next
 * one.
 */
export class SharedSends {
  readonly #shared: SharedCall<PendingBatch, SendReply>;
  readonly #keepAlive: KeepAlive;

  constructor(dispatch: Dispatch, keepAlive: KeepAlive) {
    this.#keepAlive = keepAlive;
    this.#shared = new SharedCall({
      call: (batches) => sendAll(dispatch, batches),
      weightOf: bytesOf,
      weightMax: CALL_BYTES_FULL,
      lingerMs: LINGER_MS,
      now: () => Date.now(),
      setTimer,
    });
  }

  /** Rejects with `SharedCallLostError` when it is unknown whether the batch arrived. */
  send(batch: PendingBatch): Promise<SendReply> {
    return this.#shared.run(batch, this.#keepAlive);
  }
}

async function sendAll(dispatch: Dispatch, batches: readonly PendingBatch[]): Promise<readonly SendReply[]> {
  const reply = await dispatch(joined(batches));
  const isOfOne = !reply.ok && CODES_OF_CONTENT.includes(reply.code);
  if (batches.length === 1 || !isOfOne) return batches.map(() => reply);
  return Promise.all(batches.map(dispatch));
}

/** The batches in their order, neighbours of the same delay joined: an object takes few large batches faster. */
function joined(batches: readonly PendingBatch[]): readonly SendRequest[] {
  const [only] = batches;
  if (batches.length === 1 && only !== undefined) return only;
  const groups: { readonly delaySeconds: number | undefined; readonly packed: Uint8Array[] }[] = [];
  for (const { packed, delaySeconds } of batches.flat()) {
    const last = groups.at(-1);
    if (last !== undefined && last.delaySeconds === delaySeconds) last.packed.push(packed);
    else groups.push({ delaySeconds, packed: [packed] });
  }
  return groups.map(({ delaySeconds, packed }) => {
    const request = { packed: joinPacked(packed) };
    return delaySeconds === undefined ? request : { ...request, delaySeconds };
  });
}

function bytesOf(batch: PendingBatch): number {
  return batch.reduce((sum, { packed }) => sum + packed.byteLength, 0);
}
