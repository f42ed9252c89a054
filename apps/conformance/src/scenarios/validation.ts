import type { AnyQueue, Scenario } from "../scenario/scenario.ts";
import { bindingCase } from "./binding-case.ts";

/** A call that the binding refuses before anything is sent. */
function refused(
  id: string,
  covers: string,
  when: string,
  call: (queue: AnyQueue) => unknown,
  expected: string,
): Scenario {
  const production = `${when}: \`${expected}\``;
  return bindingCase({ id, covers: [covers], production, call, expected });
}

const cycle = () => {
  const object: { self?: unknown } = {};
  object.self = object;
  return object;
};
const wrongType = (type: string, required: string, received: string) =>
  `TypeError: Content Type "${type}" requires a value of type ${required}, but received: ${received}`;

/** Calls that are refused without a request, with the runtime's own words. */
export const VALIDATION: readonly Scenario[] = [
  refused(
    "send-without-argument",
    "1.3 no argument",
    "`send()` without an argument",
    (q) => q.send(),
    "TypeError: Failed to execute 'send' on 'WorkerQueue': parameter 1 is not of type 'Value'.",
  ),
  refused(
    "send-undefined",
    "1.3 undefined",
    "A body that is `undefined`",
    (q) => q.send(undefined),
    "TypeError: Message body cannot be undefined",
  ),
  refused(
    "batch-item-without-body",
    "1.3 undefined",
    "A message of a batch without a body",
    (q) => q.sendBatch([{ body: 1 }, {}]),
    "TypeError: Message body cannot be undefined",
  ),
  refused(
    "empty-batch",
    "1.3 empty",
    "An empty batch",
    (q) => q.sendBatch([]),
    "TypeError: sendBatch() requires at least one message",
  ),
  refused(
    "batch-not-iterable",
    "1.3 non-iterable",
    "A batch that cannot be iterated",
    (q) => q.sendBatch(5),
    "TypeError: Failed to execute 'sendBatch' on 'WorkerQueue': parameter 1 is not of type 'Sequence'.",
  ),
  refused(
    "unknown-content-type",
    "1.3 unknown type",
    "A content type that does not exist",
    (q) => q.send("a", { contentType: "xml" }),
    "TypeError: Unsupported queue message content type: xml",
  ),
  refused(
    "empty-content-type",
    "1.3 unknown type",
    "An empty content type",
    (q) => q.send("a", { contentType: "" }),
    "TypeError: Unsupported queue message content type: ",
  ),
  refused(
    "text-of-a-number",
    "1.3 text",
    "`text` that is not a string",
    (q) => q.send(5, { contentType: "text" }),
    wrongType("text", "string", "number"),
  ),
  refused(
    "bytes-of-an-arraybuffer",
    "1.3 bytes",
    "`bytes` that are not a view",
    (q) => q.send(new ArrayBuffer(2), { contentType: "bytes" }),
    wrongType("bytes", "ArrayBufferView", "object"),
  ),
  refused(
    "json-of-a-bigint",
    "1.3 json",
    "A BigInt as `json`",
    (q) => q.send(5n, { contentType: "json" }),
    "TypeError: Do not know how to serialize a BigInt",
  ),
  bindingCase({
    id: "json-of-a-cycle",
    covers: ["1.3 json"],
    production: "A cycle as `json`: a TypeError that begins with `Converting circular structure to JSON`",
    call: async (q) => {
      const error = await q.send(cycle(), { contentType: "json" }).catch((reason: Error) => reason);
      return `${error.name}: ${error.message.split("\n")[0]}`;
    },
    expected: "TypeError: Converting circular structure to JSON",
  }),
  refused(
    "v8-of-a-function",
    "1.3 v8",
    "`v8` that cannot be cloned",
    (q) => q.send(() => 1, { contentType: "v8" }),
    "DataCloneError: () => 1 could not be cloned.",
  ),
  refused(
    "delay-outside-int32",
    "1.3 int32",
    "A delay that is no 32-bit integer",
    (q) => q.send("a", { delaySeconds: 2 ** 31 }),
    "TypeError: Value out of range. Must be between -2147483648 and 2147483647 (inclusive).",
  ),
];
