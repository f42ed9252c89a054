import { uuidOf } from "@sluice/aws";
import type { MessagePosition } from "@sluice/engine";
import {
  changeSpan,
  encodeTrace,
  FLAG_SAMPLED,
  formatTraceparent,
  hexOf,
  joinPacked,
  PackedIndex,
  packMessages,
  type TraceParent,
  traceParentIn,
} from "@sluice/protocol";
import type { Attributes, Span } from "./otlp.ts";

/** Values of `messaging.system`: those that OpenTelemetry has registered, and one for Cloudflare's queues. */
const SYSTEMS: Readonly<Record<string, string>> = { SQS: "aws_sqs", SNS: "aws_sns" };
const SYSTEM_DEFAULT = "cloudflare_queues";

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/** Work of a client that settles messages: of OpenTelemetry's type `settle`. */
type Settlement = "ack" | "retry" | "change_visibility";
/** Work of a span. Those that settle no message are named as OpenTelemetry's types are. */
export type Operation = "send" | "receive" | "process" | Settlement;

/** Span whose end, or whose commit, is still to come. */
interface OpenSpan extends Omit<Span, "endMs"> {
  readonly endMs: number | null;
}

/** Messages that are accepted. */
interface AcceptedMessages {
  readonly index: PackedIndex;
  /** Their producer, if known. */
  readonly by?: string | null;
  /** Queue that transferred them. Default: a producer sent them. */
  readonly from?: string;
}

/** End of a delivery. */
export interface DeliveryEnd {
  /** How long it took, in ms. */
  readonly tookMs: number;
  /** Messages that are acknowledged. */
  readonly acked: number;
  /** Why it has failed; `null` if it has not. */
  readonly failure: string | null;
}

export interface TracesPorts {
  /** Part of the messages without a trace context that begin a trace, 0 to 1. */
  readonly ratio: number;
  /** The time of day in ms: spans of other programs go by it, and not by a clock that was moved. */
  nowMs(): number;
  /** Random bytes as hexadecimal digits. */
  randomHex(bytes: number): string;
  /** Takes spans whose work is durable. */
  export(spans: readonly Span[]): void;
}

/**
 * Spans of a queue by OpenTelemetry's conventions for messaging. A message that is sampled by its trace context, or by
 * the ratio if it has none, has a span for each thing that is done to it. They are exported once that is durable.
 */
export class Traces {
  readonly #queue: string;
  readonly #ports: TracesPorts;
  /** Spans of this turn. */
  #made: OpenSpan[] = [];
  /** Deliveries under way, by their leases. */
  readonly #deliveries = new Map<number, Omit<OpenSpan, "endMs">>();

  constructor(queue: string, ports: TracesPorts) {
    this.#queue = queue;
    this.#ports = ports;
  }

  /**
   * Within a turn: makes the spans of messages that are accepted, one for those that share a trace context, and writes
   * their ids into the records: later spans of the messages are children of these.
   *
   * @returns the batch, with other records if messages begin a trace.
   */
  accepted<Batch extends AcceptedMessages>(batch: Batch): Batch {
    const { index, from } = batch;
    const spans = new Map<string, { readonly parent: TraceParent; readonly spanId: string; ids: string[] }>();
    const begun = new Map<number, Uint8Array>();
    for (let i = 0; i < index.count; i++) {
      const stored = traceAt(index, i);
      const parent = traceParentIn(stored);
      if (stored !== undefined && parent !== null) {
        if ((parent.flags & FLAG_SAMPLED) === 0) continue;
        const key = formatTraceparent(parent);
        const span = spans.get(key) ?? { parent, spanId: this.#newSpanId(), ids: [] };
        spans.set(key, span);
        span.ids.push(index.id(i));
        changeSpan(stored, span.spanId);
      } else if (from === undefined) {
        const root = this.#newRoot();
        if (root === null) continue;
        begun.set(i, encodeTrace(formatTraceparent(root)) as Uint8Array); // of valid ids
        this.#make("send", root, { ids: [index.id(i)], batch });
      }
    }
    for (const { parent, spanId, ids } of spans.values()) {
      this.#make("send", { ...parent, spanId }, { ids, batch, parentSpanId: parent.spanId });
    }
    return begun.size === 0 ? batch : { ...batch, index: withTraces(index, begun) };
  }

  /**
   * Within a turn: begins the span of a delivery. It goes on with the trace of its messages if all of them share one,
   * else it begins a trace. It is linked with each message.
   *
   * @param packed the records of its messages.
   * @returns its `traceparent`; `undefined` if none of its messages is sampled.
   */
  delivered(leaseId: number, packed: Uint8Array, consumer: string, attempt: number): string | undefined {
    const index = new PackedIndex(packed);
    const links = linksOf(index);
    if (!links.some(isSampled)) return undefined;
    const only = links.every((link) => isSame(link, links[0])) ? links[0] : undefined;
    const traceId = only?.traceId ?? this.#ports.randomHex(TRACE_ID_BYTES);
    const spanId = this.#newSpanId();
    this.#deliveries.set(leaseId, {
      traceId,
      spanId,
      ...(only === undefined ? {} : { parentSpanId: only.spanId }),
      name: `process ${this.#queue}`,
      kind: "consumer",
      startMs: this.#ports.nowMs(),
      attributes: {
        ...this.#attributes("process", SYSTEM_DEFAULT, index.ids()),
        "cloudflare.queue.batch_size": index.count,
        "sluice.consumer": consumer,
        "sluice.attempt": attempt,
      },
      links,
    });
    return formatTraceparent({ traceId, spanId, flags: FLAG_SAMPLED });
  }

  /** Within a turn: ends the span of a delivery; `null` forgets one that has run nowhere. */
  ended(leaseId: number, end: DeliveryEnd | null): void {
    const span = this.#deliveries.get(leaseId);
    this.#deliveries.delete(leaseId);
    if (span === undefined || end === null) return;
    const { tookMs, acked, failure } = end;
    this.#made.push({
      ...span,
      endMs: span.startMs + tookMs,
      attributes: {
        ...span.attributes,
        "sluice.acked": acked,
        ...(failure === null ? {} : { "error.type": "exception" }),
      },
      ...(failure === null ? {} : { error: failure }),
    });
  }

  /**
   * Within a turn: makes the span of what a client does with messages: it receives them, or settles them.
   *
   * @param by name of the client, in the history.
   */
  used(
    operation: "receive" | Settlement,
    by: string,
    positions: readonly MessagePosition[],
    payloadOf: (segmentId: number) => PackedIndex,
  ): void {
    const messages = positions.flatMap(({ segmentId, index }) => {
      try {
        return [{ payload: payloadOf(segmentId), index }];
      } catch {
        // A message is settled though its damaged record cannot be read. Damage is reported when it is delivered.
        return [];
      }
    });
    const links = messages
      .map(({ payload, index }) => traceParentIn(traceAt(payload, index)))
      .filter((link) => link !== null);
    const [first] = links.filter(isSampled);
    if (first === undefined) return;
    const only = links.every((link) => isSame(link, first)) ? first : undefined;
    this.#made.push({
      traceId: only?.traceId ?? this.#ports.randomHex(TRACE_ID_BYTES),
      spanId: this.#newSpanId(),
      ...(only === undefined ? {} : { parentSpanId: only.spanId }),
      name: `${operation} ${this.#queue}`,
      kind: "client",
      startMs: this.#ports.nowMs(),
      endMs: null,
      attributes: this.#attributes(
        operation,
        SYSTEMS[by] ?? SYSTEM_DEFAULT,
        messages.map(({ payload, index }) => payload.id(index)),
      ),
      links,
    });
  }

  /** Exports the spans of the turns that are durable by now. */
  durable(): void {
    if (this.#made.length === 0) return;
    const made = this.#made;
    this.#made = [];
    const nowMs = this.#ports.nowMs();
    this.#ports.export(made.map((span) => ({ ...span, endMs: span.endMs ?? nowMs })));
  }

  #make(
    operation: "send",
    { traceId, spanId }: TraceParent,
    made: {
      readonly ids: readonly string[];
      readonly batch: AcceptedMessages;
      readonly parentSpanId?: string;
    },
  ): void {
    const { ids, batch, parentSpanId } = made;
    const { by = null, from } = batch;
    const actor =
      from === undefined ? (by === null ? {} : { "sluice.producer": by }) : { "sluice.from": from };
    this.#made.push({
      traceId,
      spanId,
      ...(parentSpanId === undefined ? {} : { parentSpanId }),
      name: `${operation} ${this.#queue}`,
      kind: "producer",
      startMs: this.#ports.nowMs(),
      endMs: null,
      attributes: { ...this.#attributes(operation, SYSTEMS[by ?? ""] ?? SYSTEM_DEFAULT, ids), ...actor },
      links: [],
    });
  }

  #attributes(operation: Operation, system: string, ids: readonly string[]): Attributes {
    const [only = ""] = ids;
    return {
      "messaging.system": system,
      "messaging.operation.name": operation,
      "messaging.operation.type": isSettlement(operation) ? "settle" : operation,
      "messaging.destination.name": this.#queue,
      "cloudflare.queue.name": this.#queue,
      ...(ids.length === 1
        ? // Clients of AWS got the id as a UUID.
          { "messaging.message.id": system === SYSTEM_DEFAULT ? only : uuidOf(only) }
        : { "messaging.batch.message_count": ids.length }),
    };
  }

  /** Begins a trace, or none by the ratio: as OpenTelemetry's sampler does, by the trace id. */
  #newRoot(): TraceParent | null {
    const { ratio, randomHex } = this.#ports;
    const traceId = randomHex(TRACE_ID_BYTES);
    const isSampled = Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32;
    return isSampled ? { traceId, spanId: this.#newSpanId(), flags: FLAG_SAMPLED } : null;
  }

  #newSpanId(): string {
    return this.#ports.randomHex(SPAN_ID_BYTES);
  }
}

function isSettlement(operation: Operation): operation is Settlement {
  return operation === "ack" || operation === "retry" || operation === "change_visibility";
}

/** Returns random bytes as hexadecimal digits. */
export function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return hexOf(random);
}

function traceAt(index: PackedIndex, i: number): Uint8Array | undefined {
  return index.hasExtension(i) && index.hasReadableExtension(i) ? index.extension(i).trace : undefined;
}

function linksOf(index: PackedIndex): TraceParent[] {
  return Array.from({ length: index.count }, (_, i) => traceParentIn(traceAt(index, i))).filter(
    (link) => link !== null,
  );
}

function isSampled({ flags }: TraceParent): boolean {
  return (flags & FLAG_SAMPLED) !== 0;
}

function isSame(a: TraceParent, b: TraceParent | undefined): boolean {
  return a.traceId === b?.traceId && a.spanId === b.spanId;
}

/** The same records, some of them with a trace context. */
function withTraces(index: PackedIndex, traces: ReadonlyMap<number, Uint8Array>): PackedIndex {
  const records = Array.from({ length: index.count }, (_, i) => {
    const trace = traces.get(i);
    if (trace === undefined) return index.records(i, i + 1);
    const { delaySeconds, ...message } = index.message(i);
    const extension = { ...index.extension(i), trace };
    const delay = delaySeconds === undefined ? {} : { delaySeconds };
    return packMessages([{ ...message, ...delay, earlierReceives: index.earlierReceives(i), extension }]);
  });
  return new PackedIndex(joinPacked(records).slice());
}
