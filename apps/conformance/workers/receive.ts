import { type HandlerTools, queueName, type Scenario, type SeenBatch } from "../src/scenario/scenario.ts";
import { SCENARIOS } from "../src/scenarios/index.ts";

const seen: SeenBatch[] = [];

const scenarioOf = new Map<string, Scenario>(
  SCENARIOS.flatMap((scenario) =>
    Object.entries(scenario.queues).map(([key, spec]) => [queueName(scenario, key, spec), scenario] as const),
  ),
);

/** Records a batch, and calls its scenario's handler: returns its result, and throws its error. */
export function receive(batch: MessageBatch, ctx: HandlerTools["ctx"]): unknown {
  const { queue } = batch;
  const delivery = seen.filter((earlier) => earlier.queue === queue).length + 1;
  const record: SeenBatch = {
    queue,
    atMs: Date.now(),
    messages: batch.messages.map(({ id, timestamp, attempts, body }) => ({
      id,
      timestampMs: timestamp.getTime(),
      attempts,
      body: describeBody(body),
    })),
    notes: [],
  };
  seen.push(record);
  const end = () => {
    record.endedAtMs = Date.now();
  };
  const note = (value: unknown) => record.notes.push(value);
  let result: unknown;
  try {
    result = scenarioOf.get(queue)?.handle?.(batch, { ctx, delivery, note });
  } finally {
    if (result instanceof Promise) result.then(end, end);
    else end();
  }
  return result;
}

/** Makes an answer with all batches so far. */
export function seenSoFar(): Response {
  return Response.json(seen);
}

/** Makes a text of a message's body, with its type. */
function describeBody(body: unknown): string {
  const tag = Object.prototype.toString.call(body).slice(8, -1);
  if (body instanceof ArrayBuffer) return `${tag} ${[...new Uint8Array(body)]}`;
  if (ArrayBuffer.isView(body)) {
    return `${tag} ${[...new Uint8Array(body.buffer, body.byteOffset, body.byteLength)]}`;
  }
  if (body instanceof Date) return `${tag} ${body.getTime()}`;
  if (body instanceof Map || body instanceof Set) return `${tag} ${JSON.stringify([...body])}`;
  if (typeof body === "bigint" || body === undefined) return `${tag} ${body}`;
  return `${tag} ${JSON.stringify(body)}`;
}
