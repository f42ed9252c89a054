import { ackedResult, type ConsumerPort, failedResult } from "@sluice/broker";
import {
  type Delivery,
  type DeliveryResult,
  joinPacked,
  PackedIndex,
  type QueueTopology,
  type Settlement,
  settle,
} from "@sluice/protocol";
import type { EndingFault, Fault, FaultKind } from "../api.ts";
import { type DeliveryLine, endedBeginning } from "../wire.ts";
import type { InterruptibleDelivery, Interruption } from "./interruptions.ts";
import type { Recorder } from "./recorder.ts";

type DeliveryAnswer = Awaited<ReturnType<ConsumerPort["deliver"]>>;
type Verdict = Settlement<null>;

/** Outcome of a batch, or of a part of it: a verdict for each message, and the error that its handler threw. */
interface Outcome {
  readonly verdicts: ReadonlyMap<string, Verdict>;
  readonly error: Pick<DeliveryResult, "error" | "stack"> | null;
}

/** Faults that cost an attempt. They spare a message's last attempt, because its loss would be no bug. */
const COSTLY: readonly FaultKind[] = ["lostAck", "throwAfter", "crash", "endBefore", "endAfter"];
const ENDING: readonly EndingFault[] = ["endBefore", "endAfter"];

/** Makes deliveries go wrong by the faults of a history, which are addressed by message and number of its delivery. */
export class FaultyConsumers {
  readonly #topology: QueueTopology;
  readonly #recorder: Recorder;
  readonly #tell: (line: DeliveryLine) => void;
  #faults: readonly Fault[] = [];
  #begun = 0;
  readonly #deliveries = new Map<string, number>();

  /** @param tell called at the start and at the end of each delivery. */
  constructor(topology: QueueTopology, recorder: Recorder, tell: (line: DeliveryLine) => void = () => {}) {
    this.#topology = topology;
    this.#recorder = recorder;
    this.#tell = tell;
  }

  /** Replaces all faults, and counts deliveries from now on. */
  plan(faults: readonly Fault[]): void {
    this.#faults = faults;
    this.#deliveries.clear();
  }

  /** Wraps the consumer of a queue so that its deliveries are reported and get their faults. */
  wrap(queue: string, consumer: ConsumerPort): ConsumerPort {
    return {
      name: consumer.name,
      ...(consumer.returnsOnTrial === undefined ? {} : { returnsOnTrial: consumer.returnsOnTrial }),
      callsOf: (deliveryId) => consumer.callsOf(deliveryId),
      ping: () => consumer.ping(),
      deliver: (delivery) => this.#deliverReported(queue, consumer, delivery),
    };
  }

  async #deliverReported(queue: string, consumer: ConsumerPort, delivery: Delivery): Promise<DeliveryAnswer> {
    this.#begun += 1;
    const n = this.#begun;
    const messages = new PackedIndex(delivery.packed).ids().length;
    this.#tell({ n, began: { queue, consumer: consumer.name, messages } });
    try {
      return await (this.#faults.length === 0
        ? consumer.deliver(delivery)
        : this.#deliver(queue, consumer, delivery));
    } finally {
      this.#tell({ n });
    }
  }

  async #deliver(queue: string, consumer: ConsumerPort, delivery: Delivery): Promise<DeliveryAnswer> {
    const ids = new PackedIndex(delivery.packed).ids();
    // A FIFO queue keeps its order in any case.
    const isFifo = this.#topology.queues[queue]?.fifo !== undefined;
    const isLastAttempt = this.#isLastAttempt(queue, delivery);
    const canCome = ({ kind }: Fault) =>
      !(isFifo && kind === "reorder") && !(isLastAttempt && COSTLY.includes(kind));
    const due = new Map(ids.map((id) => [id, this.#faultsOf(id).filter(canCome)]));
    const all = [...due.values()].flat();
    if (all.length === 0) return consumer.deliver(delivery);
    this.#recorder.due(queue, all);
    const run = new FaultyDelivery({
      queue,
      consumer,
      delivery,
      ids,
      due,
      isLastAttempt,
      came: (fault) => this.#recorder.fault(queue, fault),
    });
    return run.deliver();
  }

  /** Lists the faults of a message in the delivery that begins. */
  #faultsOf(id: string): readonly Fault[] {
    const attempt = (this.#deliveries.get(id) ?? 0) + 1;
    this.#deliveries.set(id, attempt);
    const message = this.#recorder.numberOf(id);
    return this.#faults.filter((fault) => fault.message === message && fault.attempt === attempt);
  }

  /** Whether a message of a delivery has no attempt left after it. */
  #isLastAttempt(queue: string, { attempts }: Delivery): boolean {
    const settings = this.#topology.queues[queue]?.consumer?.settings;
    const most = typeof attempts === "number" ? attempts : Math.max(...attempts);
    return settings !== undefined && most > settings.maxRetries;
  }
}

interface FaultyDeliveryInput {
  readonly queue: string;
  readonly consumer: ConsumerPort;
  readonly delivery: Delivery;
  readonly ids: readonly string[];
  /** Faults that can come, by message. */
  readonly due: ReadonlyMap<string, readonly Fault[]>;
  readonly isLastAttempt: boolean;
  came(fault: Fault): void;
}

class FaultyDelivery {
  readonly #input: FaultyDeliveryInput;
  readonly #index: PackedIndex;

  constructor(input: FaultyDeliveryInput) {
    this.#input = input;
    this.#index = new PackedIndex(input.delivery.packed);
  }

  async deliver(): Promise<DeliveryAnswer> {
    const { held, order } = this.#order();
    const outcomes: Outcome[] = [];
    for (const part of this.#parts(order)) {
      const answer = await this.#handle(part);
      // An answer other than a handler's result, such as an endpoint's refusal, counts for the whole batch.
      if (answer !== "acknowledged" && "rejected" in answer) return answer;
      outcomes.push(this.#outcomeOf(part, answer === "acknowledged" ? ackedResult() : answer));
    }
    for (const id of order) if (this.#take(id, "duplicate") !== null) await this.#again(id);
    return resultOf([...outcomes, held]);
  }

  #order(): { readonly held: Outcome; readonly order: readonly string[] } {
    const { ids, isLastAttempt } = this.#input;
    const held = new Map<string, Verdict>();
    let order = [...ids];
    for (const id of ids) {
      const fault = this.#due(id, "reorder");
      if (fault === undefined) continue;
      const isHeld = (fault.arg ?? 0) > 0 || ids.length === 1;
      if (isHeld && isLastAttempt) continue;
      this.#input.came(fault);
      order = order.filter((each) => each !== id);
      if (isHeld) held.set(id, { kind: "retry", delaySeconds: Math.max(1, fault.arg ?? 0) });
      else order.push(id);
    }
    const error = held.size === 0 ? null : { error: "fault reorder: it comes later" };
    return { held: { verdicts: held, error }, order };
  }

  #parts(order: readonly string[]): readonly (readonly string[])[] {
    if (order.length === 0) return [];
    if (order.length === 1) return [order];
    const parts: string[][] = [[]];
    for (const [i, id] of order.entries()) {
      const isCut = this.#take(id, "split") !== null;
      if (isCut && i > 0) parts.push([]);
      parts.at(-1)?.push(id);
      if (isCut && i === 0) parts.push([]);
    }
    return parts.filter((part) => part.length > 0);
  }

  /** Gives a part of the batch to the handler, which may be interrupted. */
  async #handle(part: readonly string[]): Promise<DeliveryAnswer> {
    for (const id of part) {
      const thrown = this.#take(id, "crash") ?? this.#take(id, "throwAfter");
      if (thrown !== null) {
        const kind = thrown.kind === "crash" ? "crash" : "throwAfter";
        return interrupted(await this.#handleUntil(part, { id, kind }), thrown);
      }
      for (const kind of ENDING) {
        const ending = this.#due(id, kind);
        if (ending === undefined) continue;
        const answer = await this.#handleUntil(part, { kind, call: ending.arg ?? 1 });
        // The handler may make fewer calls.
        if (hasEnded(answer, kind)) this.#input.came(ending);
        return answer;
      }
    }
    return this.#input.consumer.deliver(this.#partOf(part));
  }

  #handleUntil(part: readonly string[], interruption: Interruption): Promise<DeliveryAnswer> {
    const delivery: InterruptibleDelivery = { ...this.#partOf(part), interruption };
    return this.#input.consumer.deliver(delivery);
  }

  async #again(id: string): Promise<void> {
    await this.#input.consumer.deliver(this.#partOf([id]));
  }

  #outcomeOf(part: readonly string[], result: DeliveryResult): Outcome {
    const settled = settle(result, part, null);
    const verdicts = part.map((id, i) => this.#changed(id, settled[i] ?? { kind: "ack" }));
    const isLost = verdicts.some(({ kind }, i) => kind === "retry" && settled[i]?.kind === "ack");
    const { outcome, error, stack } = result;
    return {
      verdicts: new Map(part.map((id, i) => [id, verdicts[i] ?? { kind: "ack" }])),
      error:
        outcome !== "ok"
          ? { error: error ?? outcome, ...(stack === undefined ? {} : { stack }) }
          : isLost
            ? { error: "fault lostAck: the acknowledgement did not arrive" }
            : null,
    };
  }

  #changed(id: string, verdict: Verdict): Verdict {
    if (verdict.kind === "ack") {
      return this.#take(id, "lostAck") === null ? verdict : { kind: "retry", delaySeconds: null };
    }
    const late = this.#take(id, "lateRetry");
    return late === null
      ? verdict
      : { ...verdict, delaySeconds: (verdict.delaySeconds ?? 0) + (late.arg ?? 60) };
  }

  #partOf(part: readonly string[]): Delivery {
    const { delivery, ids } = this.#input;
    const places = part.map((id) => ids.indexOf(id));
    const { offsets } = this.#index;
    const { attempts, packed } = delivery;
    return {
      ...delivery,
      packed: joinPacked(places.map((i) => packed.subarray(offsets[i], offsets[i + 1]))),
      attempts: typeof attempts === "number" ? attempts : places.map((i) => attempts[i] ?? 1),
    };
  }

  #due(id: string, kind: FaultKind): Fault | undefined {
    return this.#input.due.get(id)?.find((fault) => fault.kind === kind);
  }

  /** Returns a fault that comes now and counts it; `null` if there is none. */
  #take(id: string, kind: FaultKind): Fault | null {
    const fault = this.#due(id, kind);
    if (fault !== undefined) this.#input.came(fault);
    return fault ?? null;
  }
}

function hasEnded(answer: DeliveryAnswer, kind: EndingFault): boolean {
  return (
    typeof answer === "object" && "error" in answer && answer.error?.startsWith(endedBeginning(kind)) === true
  );
}

/** Makes the result of an interrupted delivery, also where a consumer cannot be interrupted, such as an endpoint. */
function interrupted(answer: DeliveryAnswer, { kind }: Fault): DeliveryAnswer {
  if (answer === "acknowledged") return failedResult(`fault ${kind}`);
  if ("rejected" in answer || answer.outcome !== "ok") return answer;
  return kind === "crash"
    ? failedResult(`fault ${kind}`)
    : { ...answer, outcome: "exception", error: `fault ${kind}` };
}

function resultOf(outcomes: readonly Outcome[]): DeliveryResult {
  const verdicts = outcomes.flatMap((outcome) => [...outcome.verdicts]);
  const error = outcomes.find((outcome) => outcome.error !== null)?.error ?? null;
  return {
    outcome: error === null ? "ok" : "exception",
    ackAll: false,
    retryBatch: { retry: false },
    explicitAcks: verdicts.flatMap(([id, { kind }]) => (kind === "ack" ? [id] : [])),
    retryMessages: verdicts.flatMap(([msgId, verdict]) =>
      verdict.kind === "ack"
        ? []
        : [{ msgId, ...(verdict.delaySeconds === null ? {} : { delaySeconds: verdict.delaySeconds }) }],
    ),
    ...error,
  };
}
