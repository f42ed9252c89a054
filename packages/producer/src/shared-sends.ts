import {
  joinPacked,
  type KeepAlive,
  QUEUE_ERROR_CODES,
  REGATHER_MS_MAX,
  type SendReply,
  type SendRequest,
  SharedCall,
  setTimer,
} from "@sluice/protocol";
import { CALL_BYTES_FULL } from "./outbox.ts";

/** What a broker refuses for its content. Nothing of the call was stored then, so the others can go without it. */
const CODES_OF_CONTENT: readonly number[] = [
  QUEUE_ERROR_CODES.batchDelayInvalid,
  QUEUE_ERROR_CODES.messageMetadataInvalid,
  QUEUE_ERROR_CODES.messageSizeOutOfBounds,
  QUEUE_ERROR_CODES.batchSizeOutOfBounds,
  QUEUE_ERROR_CODES.batchCountOutOfBounds,
];

/** Makes one call to the queue's object on behalf of the request that it is given. It must not reject. */
export type Dispatch = (requests: readonly SendRequest[]) => Promise<SendReply>;

/** What one request sends at a moment. */
type Parcel = readonly SendRequest[];

/**
 * Lets the requests of one isolate share calls to the broker: what is sent while a call is under way that was begun just now
 * goes with the next one.
 */
export class SharedSends {
  readonly #shared: SharedCall<Parcel, SendReply>;
  readonly #keepAlive: KeepAlive;

  constructor(dispatch: Dispatch, keepAlive: KeepAlive) {
    this.#keepAlive = keepAlive;
    this.#shared = new SharedCall({
      call: (parcels) => sendAll(dispatch, parcels),
      weightOf: bytesOf,
      weightMax: CALL_BYTES_FULL,
      regatherMs: REGATHER_MS_MAX,
      now: () => Date.now(),
      setTimer,
    });
  }

  /** Rejects with `SharedCallLostError` when nobody knows whether the parcel arrived. */
  send(parcel: Parcel): Promise<SendReply> {
    return this.#shared.run(parcel, this.#keepAlive);
  }
}

async function sendAll(dispatch: Dispatch, parcels: readonly Parcel[]): Promise<readonly SendReply[]> {
  const reply = await dispatch(joined(parcels));
  const isOfOne = !reply.ok && CODES_OF_CONTENT.includes(reply.code);
  if (parcels.length === 1 || !isOfOne) return parcels.map(() => reply);
  return Promise.all(parcels.map(dispatch));
}

/** The parcels in their order, neighbours of the same delay as one: an object takes few large batches faster. */
function joined(parcels: readonly Parcel[]): readonly SendRequest[] {
  const [only] = parcels;
  if (parcels.length === 1 && only !== undefined) return only;
  const groups: { readonly delaySeconds: number | undefined; readonly packed: Uint8Array[] }[] = [];
  for (const { packed, delaySeconds } of parcels.flat()) {
    const last = groups.at(-1);
    if (last !== undefined && last.delaySeconds === delaySeconds) last.packed.push(packed);
    else groups.push({ delaySeconds, packed: [packed] });
  }
  return groups.map(({ delaySeconds, packed }) => {
    const request = { packed: joinPacked(packed) };
    return delaySeconds === undefined ? request : { ...request, delaySeconds };
  });
}

function bytesOf(parcel: Parcel): number {
  return parcel.reduce((sum, { packed }) => sum + packed.byteLength, 0);
}
