import { outcome } from "../scenario/outcome.ts";
import type { AnyQueue, Scenario, SenderName } from "../scenario/scenario.ts";
import { bindingCase } from "./binding-case.ts";

interface BodyCase {
  readonly id: string;
  readonly covers: readonly string[];
  readonly production: string;
  readonly sender?: SenderName;
  readonly send: (queue: AnyQueue) => Promise<unknown>;
  /** Body that the consumer gets, as `describeBody` puts it. */
  readonly expected: string;
}

/** A scenario that looks at the body a consumer gets. */
function bodyCase({ send, ...row }: BodyCase): Scenario {
  return {
    kind: "scenario",
    queues: { q: { consumer: { max_batch_timeout: 0 } } },
    send: ({ q }) => outcome(() => send(q)),
    observe: ({ batches }) => batches[0]?.messages[0]?.body ?? null,
    ...row,
  };
}

const bytes = () => new Uint8Array([1, 2, 3]);

/** What bodies may be, and what of them arrives. */
export const CONTENT_TYPES: readonly Scenario[] = [
  bodyCase({
    id: "text-arrives-as-string",
    covers: ["1.2 text"],
    production: "`text` takes a string, stores it as UTF-8 and delivers it as a string",
    send: (q) => q.send("grüße \u{1f40c}", { contentType: "text" }),
    expected: 'String "grüße 🐌"',
  }),
  bodyCase({
    id: "bytes-arrive-as-uint8array",
    covers: ["1.2 bytes", "2.8 bytes"],
    production: "`bytes` takes a view and delivers its bytes as a `Uint8Array`",
    send: (q) => q.send(new DataView(bytes().buffer, 1, 2), { contentType: "bytes" }),
    expected: "Uint8Array 2,3",
  }),
  bodyCase({
    id: "json-arrives-parsed",
    covers: ["1.2 json"],
    production: "`json` delivers what `JSON.parse` makes of `JSON.stringify`",
    send: (q) => q.send({ a: [1, undefined], b: new Date(0) }, { contentType: "json" }),
    expected: 'Object {"a":[1,null],"b":"1970-01-01T00:00:00.000Z"}',
  }),
  bodyCase({
    id: "v8-arrives-cloned",
    covers: ["1.2 v8"],
    production: "`v8` delivers a structured clone: a `Map` is a `Map` again",
    send: (q) => q.send(new Map([["a", 1]]), { contentType: "v8" }),
    expected: 'Map [["a",1]]',
  }),
  bodyCase({
    id: "json-is-the-default",
    covers: ["1.2 default"],
    production: "Without a content type a message is `json`, from compatibility date 2024-03-18 on",
    send: (q) => q.send(new Date(0)),
    expected: 'String "1970-01-01T00:00:00.000Z"',
  }),
  bodyCase({
    id: "v8-was-the-default",
    covers: ["1.2 default"],
    production: "Without a content type a message was `v8` before that date",
    sender: "old-sender",
    send: (q) => q.send(new Date(0)),
    expected: "Date 0",
  }),
  bodyCase({
    id: "null-is-a-body",
    covers: ["1.2 null"],
    production: "`null` is a body like any other",
    send: (q) => q.send(null),
    expected: "Null null",
  }),
  bodyCase({
    id: "empty-string-is-a-body",
    covers: ["1.2 null"],
    production: "The empty string as `text` is a body too",
    send: (q) => q.send("", { contentType: "text" }),
    expected: 'String ""',
  }),
  bindingCase({
    id: "send-detaches-bytes",
    covers: ["1.2 detach"],
    production: "`send` of `bytes` takes the buffer away from the caller",
    call: async (q) => {
      const view = bytes();
      await q.send(view, { contentType: "bytes" });
      return view.byteLength;
    },
    expected: "0",
  }),
  bindingCase({
    id: "send-batch-leaves-bytes",
    covers: ["1.2 detach"],
    production: "`sendBatch` of `bytes` leaves the buffer to the caller",
    call: async (q) => {
      const view = bytes();
      await q.sendBatch([{ body: view, contentType: "bytes" }]);
      return view.byteLength;
    },
    expected: "3",
  }),
  {
    kind: "scenario",
    id: "json-of-a-function",
    covers: ["1.2 function"],
    production:
      "A function sent as `json` has no JSON text; the queue survives it and delivers what is sent next",
    queues: { q: { consumer: { max_batch_timeout: 0, max_retries: 0 } } },
    send: async ({ q }) => {
      await outcome(() => q.send(() => 1, { contentType: "json" }));
      await q.send("next");
    },
    expected: 'String "next"',
    observe: ({ batches }) => batches.at(-1)?.messages.at(-1)?.body ?? null,
  },
  bindingCase({
    id: "send-ignores-case-of-content-type",
    covers: ["1.2 case"],
    production: "`send` ignores the case of a content type",
    call: async (q) => Object.keys(await q.send("a", { contentType: "JSON" })).join(),
    expected: "metadata",
  }),
  bindingCase({
    id: "send-batch-minds-case-of-content-type",
    covers: ["1.2 case"],
    production: "`sendBatch` does not: `JSON` is no content type",
    call: (q) => q.sendBatch([{ body: "a", contentType: "JSON" }]),
    expected: "TypeError: Unsupported queue message content type: JSON",
  }),
];
