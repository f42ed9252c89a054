import type { RowHead } from "../scenario/row.ts";
import { type AnyQueue, outcome, type Scenario } from "../scenario/scenario.ts";

/** Case of a body. `expected` is the body that the consumer gets, as described by `describeBody`. */
interface BodyCase extends RowHead, Pick<Scenario, "sender" | "expected"> {
  readonly send: (queue: AnyQueue) => Promise<unknown>;
}

function bodyCase({ send, ...row }: BodyCase): Scenario {
  return {
    queues: { q: { consumer: { max_batch_timeout: 0 } } },
    send: ({ q }) => outcome(() => send(q)),
    observe: ({ batches }) => batches[0]?.messages[0]?.body ?? null,
    ...row,
  };
}

const bytes = () => new Uint8Array([1, 2, 3]);

/** Scenarios of content types. */
export const CONTENT_TYPES: readonly Scenario[] = [
  bodyCase({
    id: "bytes-arrive-as-uint8array",
    covers: ["1.2 bytes", "2.8 bytes"],
    production: "`bytes` takes a view and delivers its bytes as a `Uint8Array`",
    send: (q) => q.send(new DataView(bytes().buffer, 1, 2), { contentType: "bytes" }),
    expected: "Uint8Array 2,3",
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
  {
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
];
