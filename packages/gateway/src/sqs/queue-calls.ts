import {
  type DeleteOutcome,
  type EnqueueReply,
  type KeepAlive,
  type QueueReceiveRpc,
  RECORD_HEADER_BYTES,
  type ReceiveNowReply,
  type ReceiveRequest,
  type RecordToWrite,
  SharedCall,
  SharedCalls,
  setTimer,
  type VisibilityChange,
  type VisibilityOutcome,
} from "@sluice/protocol";
import { Arrivals } from "../arrivals.ts";
import { CALL_WEIGHT_MAX } from "../call-weight.ts";
import { type Errand, type MessagesToSend, type Outcome, type Outcomes, runErrands } from "./shared-work.ts";

/** Weight of what is small: so that a call takes some hundreds of them. */
const SMALL_WEIGHT = 4_000;

/** On whose behalf a call is made. */
export interface CallingRequest {
  readonly keepAlive: KeepAlive;
  /** Says that the request has come as far as to a call. */
  arrived(): void;
}

/**
 * Calls to queues' objects on behalf of requests: whatever those of the same moment want of a queue goes in one. Measured with
 * senders and receivers of one queue, a call and a commit for each kind cost them a third more CPU time.
 */
export class QueueCalls {
  readonly #objectOf: (name: string) => QueueReceiveRpc;
  readonly #now: () => number;
  /** Of the requests that may make calls: a call waits for those on their way. */
  readonly arrivals = new Arrivals();
  readonly #queues = new SharedCalls<Errand, Outcome>();

  constructor(objectOf: (name: string) => QueueReceiveRpc, now: () => number) {
    this.#objectOf = objectOf;
    this.#now = now;
  }

  /** What is sent together is stored together; each request learns of its own messages. */
  enqueue(name: string, messages: MessagesToSend, by: CallingRequest): Promise<EnqueueReply> {
    return this.#share(name, { kind: "enqueue", messages }, by);
  }

  /** Receives without waiting. */
  receiveNow(name: string, request: ReceiveRequest, by: CallingRequest): Promise<ReceiveNowReply> {
    return this.#share(name, { kind: "receive", request }, by);
  }

  deleteBatch(
    name: string,
    receipts: readonly string[],
    by: CallingRequest,
  ): Promise<readonly DeleteOutcome[]> {
    return this.#share(name, { kind: "remove", receipts }, by);
  }

  changeVisibilityBatch(
    name: string,
    changes: readonly VisibilityChange[],
    by: CallingRequest,
  ): Promise<readonly VisibilityOutcome[]> {
    return this.#share(name, { kind: "change", changes }, by);
  }

  #share<Kind extends Errand["kind"]>(
    name: string,
    errand: Errand & { readonly kind: Kind },
    { keepAlive, arrived }: CallingRequest,
  ): Promise<Outcomes[Kind]> {
    const call = this.#queues.of(name, () => this.#begin(name));
    arrived();
    // An errand of a kind brings back what that kind does.
    return call.run(errand, keepAlive) as Promise<Outcomes[Kind]>;
  }

  #begin(name: string): SharedCall<Errand, Outcome> {
    return new SharedCall<Errand, Outcome>({
      // Each call takes the object anew: it belongs to the request that makes the call.
      call: (errands) => runErrands(this.#objectOf(name), name, errands),
      weightOf,
      weightMax: CALL_WEIGHT_MAX,
      gather: () => this.arrivals.company(),
      now: this.#now,
      setTimer,
    });
  }
}

function weightOf(errand: Errand): number {
  switch (errand.kind) {
    case "enqueue":
      return errand.messages.records.reduce((sum, record) => sum + weightOfRecord(record), 0);
    case "receive":
      // What it will be answered with: at most a batch of the largest messages, hardly ever that.
      return errand.request.max * SMALL_WEIGHT;
    case "remove":
      return errand.receipts.length * SMALL_WEIGHT;
    case "change":
      return errand.changes.length * SMALL_WEIGHT;
  }
}

/** About its bytes. A body that is no ASCII has up to three for each unit: a call may be that much heavier. */
function weightOfRecord({ body, extension }: RecordToWrite): number {
  return RECORD_HEADER_BYTES + body.length + (extension?.byteLength ?? 0);
}
