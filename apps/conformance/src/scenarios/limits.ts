import type { AnyQueue, Scenario } from "../scenario/scenario.ts";
import { bindingCase } from "./binding-case.ts";

const text = (bytes: number) => ({ body: "x".repeat(bytes), contentType: "text" });
const many = (count: number) => Array.from({ length: count }, () => text(1));
/** Two messages of half the size each. */
const halves = (bytes: number) => [text(Math.floor(bytes / 2)), text(Math.ceil(bytes / 2))];

async function taken(sent: Promise<unknown>): Promise<string> {
  await sent;
  return "taken";
}

interface Limit {
  readonly id: string;
  readonly covers: readonly string[];
  readonly what: string;
  readonly atMost: string;
  readonly call: (queue: AnyQueue, over: number) => Promise<unknown>;
  readonly code: string;
}

/** Two scenarios: at a limit, and one over it. */
function limit({ id, covers, what, atMost, call, code }: Limit): Scenario[] {
  return [
    bindingCase({
      id: `${id}-at-limit`,
      covers,
      production: `${what} ${atMost} is taken`,
      call: (q) => taken(call(q, 0)),
      expected: "taken",
    }),
    bindingCase({
      id: `${id}-over-limit`,
      covers,
      production: `${what} more than that is refused with ${code}`,
      call: (q) => taken(call(q, 1)),
      byCode: true,
      expected: code,
    }),
  ];
}

/** What a broker refuses, and how a Worker learns of it. */
export const LIMITS: readonly Scenario[] = [
  ...limit({
    id: "message-size",
    covers: ["1.6 message size", "1.9 10204"],
    what: "A message of",
    atMost: "128,000 bytes",
    call: (q, over) => q.send("x".repeat(128_000 + over), { contentType: "text" }),
    code: "10204",
  }),
  ...limit({
    id: "batch-message-size",
    covers: ["1.6 message size", "1.9 10204"],
    what: "A batch with a message of",
    atMost: "128,000 bytes",
    call: (q, over) => q.sendBatch([text(128_000 + over)]),
    code: "10204",
  }),
  ...limit({
    id: "batch-size",
    covers: ["1.6 batch size", "1.9 10205"],
    what: "A batch of",
    atMost: "256,000 bytes",
    call: (q, over) => q.sendBatch([...halves(255_999), text(1 + over)]),
    code: "10205",
  }),
  ...limit({
    id: "batch-count",
    covers: ["1.6 batch size", "1.9 10206"],
    what: "A batch of",
    atMost: "100 messages",
    call: (q, over) => q.sendBatch(many(100 + over)),
    code: "10206",
  }),
  ...limit({
    id: "message-delay",
    covers: ["0 delay", "1.4 86401", "1.9 10203"],
    what: "A delay of",
    atMost: "86,400 s (24 hours)",
    call: (q, over) => q.send("a", { delaySeconds: 86_400 + over }),
    code: "10203",
  }),
  ...limit({
    id: "batch-delay",
    covers: ["0 delay", "1.4 86401", "1.9 10202"],
    what: "A batch's delay of",
    atMost: "86,400 s",
    call: (q, over) => q.sendBatch([text(1)], { delaySeconds: 86_400 + over }),
    code: "10202",
  }),
  bindingCase({
    id: "negative-delay",
    covers: ["1.4 negative", "1.9 10203"],
    production: "A negative delay is refused with 10203",
    call: (q) => q.send("a", { delaySeconds: -3 }),
    byCode: true,
    expected: "10203",
  }),
  bindingCase({
    id: "negative-batch-delay",
    covers: ["1.4 negative", "1.9 10202"],
    production: "A batch's negative delay is refused with 10202",
    call: (q) => q.sendBatch([text(1)], { delaySeconds: -3 }),
    byCode: true,
    expected: "10202",
  }),
  bindingCase({
    id: "error-has-cause-and-code",
    covers: ["1.8 flag on"],
    production: "From compatibility date 2026-03-12 on, a refused send says `Error: CAUSE (CODE)`",
    call: async (q) => {
      const error: Error = await q.send("x".repeat(128_001)).catch((reason: Error) => reason);
      return /^Error: .{10,} \((?!15000)\d{5}\)$/.test(String(error)) ? "cause (code)" : String(error);
    },
    expected: "cause (code)",
  }),
  bindingCase({
    id: "old-send-error",
    covers: ["1.8 flag off", "1.10 message size"],
    production:
      "Before, `Error: Queue send failed: ` and the status line; test suites know the one about the size",
    sender: "old-sender",
    call: (q) => taken(q.send("x".repeat(128_001), { contentType: "text" })),
    expected: "Error: Queue send failed: message length of 128001 bytes exceeds limit of 128000",
  }),
  bindingCase({
    id: "old-send-batch-count-error",
    covers: ["1.8 flag off", "1.10 batch count"],
    production:
      "Before that date, of a batch with too many messages: `Error: Queue sendBatch failed: STATUS TEXT`",
    sender: "old-sender",
    call: (q) => taken(q.sendBatch(many(101))),
    expected: "Error: Queue sendBatch failed: batch message count of 101 exceeds limit of 100",
  }),
  bindingCase({
    id: "old-send-batch-largest-error",
    covers: ["1.8 flag off", "1.10 largest"],
    production: "The same of a batch with a message that is too large",
    sender: "old-sender",
    call: (q) => taken(q.sendBatch([text(128_001)])),
    expected:
      "Error: Queue sendBatch failed: message in batch has length 128001 bytes which exceeds single message size limit of 128000",
  }),
  bindingCase({
    id: "old-send-batch-size-error",
    covers: ["1.8 flag off", "1.10 batch bytes"],
    production: "The same of a batch that is too large, with production's limit in the sentence",
    sender: "old-sender",
    call: (q) => taken(q.sendBatch([...halves(256_000), text(1)])),
    expected: "Error: Queue sendBatch failed: batch size of 256001 bytes exceeds limit of 256000",
  }),
  bindingCase({
    id: "old-delay-error",
    covers: ["1.8 flag off", "1.10 delay"],
    production: "A delay out of range is refused with its reason, not as an internal error",
    sender: "old-sender",
    call: async (q) => {
      const error = String(await q.send("a", { delaySeconds: 86_401 }).catch((reason: Error) => reason));
      return error.startsWith("Error: Queue send failed: message delay 86401 is invalid")
        ? "a reason"
        : error;
    },
    expected: "a reason",
  }),
];
