import type { ReferenceRow } from "../scenario/row.ts";
import { MINIFLARE, proven, test } from "./reference.ts";

const BINDING = "packages/producer/src/queue-producer.workerd.test.ts";
const PRODUCER = "packages/producer/src/queue-producer.test.ts";

const PROTOCOL = "packages/gateway/src/binding/binding-app.test.ts";
const NATIVE = "apps/broker/test/queue-binding.workerd.test.ts";

/** The producer binding where a scenario could not see enough. */
export const PRODUCER_REFERENCES: readonly ReferenceRow[] = [
  proven(
    "binding-differential",
    ["1.1 prototype", "1.2 function", "1.3 json", "1.4 coercion", "1.4 omitted", "1.4 zero", "1.4 null"],
    "Every other use of the binding, right or wrong, ends as with workerd's own: several hundred calls are compared",
    MINIFLARE.yes,
    test(BINDING, "does what workerd's own binding does, compatibility date $compatibilityDate"),
  ),
  proven(
    "binding-failures",
    ["1.8 flag on", "1.8 flag off", "1.9 15000", "1.9 10250"],
    "What a broker's refusals and failures look like in the Worker, by `queue_expose_error_codes`",
    MINIFLARE.differs("no cause and no code: Unknown Internal Error (15000)"),
    test(BINDING, "fails as workerd's own binding does, exposeErrorCodes $exposeErrorCodes"),
    test(PRODUCER, "is overloaded when the platform says so: 10250"),
  ),
  proven(
    "types",
    ["1.1 types"],
    "The objects have the types of `@cloudflare/workers-types`: `Queue`, `MessageBatch`, `Message`",
    MINIFLARE.yes,
    test(
      "packages/producer/src/types.test.ts",
      "QueueProducer<T> can be used as Queue<T> of @cloudflare/workers-types",
    ),
    test(
      "packages/consumer/src/types.test.ts",
      "QueueController<T> can be used as MessageBatch<T> of @cloudflare/workers-types",
    ),
  ),
  proven(
    "native-binding",
    ["1.7 message", "1.7 batch", "1.7 metrics", "1.8 success", "1.8 headers"],
    "The runtime's own binding can be pointed at the broker: requests for a message, a batch and metrics",
    MINIFLARE.yes,
    test(NATIVE, "sends and delivers: %s"),
    test(PROTOCOL, "stores a message as it comes, under an id of its own"),
    test(PROTOCOL, "stores a batch in its order, with the batch's delay beside the messages' own"),
    test(NATIVE, "shows the cause of a failed %s without queue_expose_error_codes"),
  ),
  proven(
    "native-binding-metrics",
    ["1.8 flat metrics", "1.8 zero timestamp"],
    "It gets metrics without a wrapper, and 0 for the oldest message of an empty queue",
    MINIFLARE.yes,
    test(PROTOCOL, "tells figures without a wrapper around them, and 0 for a queue where nothing waits"),
  ),
  proven(
    "native-binding-without-type",
    ["1.2 no header", "1.2 v8 bytes"],
    "A request that names no content type carries V8's own serialization, and is read as that",
    MINIFLARE.yes,
    test(NATIVE, "takes what a Worker sends whose compatibility date lets it name no content type"),
    test(PROTOCOL, "takes a message without a content type for V8's serialization"),
    test("packages/protocol/src/v8-native.test.ts", "arrives as V8 itself reads it"),
  ),
  proven(
    "native-binding-refusals",
    [
      "1.9 10202",
      "1.9 10203",
      "1.9 10204",
      "1.9 10205",
      "1.9 10206",
      "1.9 10207",
      "1.9 10208",
      "1.10 content type",
    ],
    "It is refused with code and cause in headers and a status line of one line: sizes, counts, delays, content types, bad JSON",
    MINIFLARE.differs("without code and cause; delays out of range as an internal error"),
    test(PROTOCOL, "refuses %s with code and cause"),
    test(NATIVE, "refuses %s with its code: %s"),
  ),
  proven(
    "deleted-queue",
    ["1.9 10104"],
    "A send to a queue that was deleted is refused with 10104",
    MINIFLARE.no("queues cannot be deleted"),
    test(
      "packages/broker/test/directory.workerd.test.ts",
      "refuses sends, and begins empty when it is created again",
    ),
  ),
  {
    ...proven(
      "throughput-limit",
      ["0 throughput", "1.6 throughput"],
      "A queue takes 5,000 messages a second; more are refused with 10250",
      MINIFLARE.no("no limit"),
      test(
        "packages/broker/src/intake.test.ts",
        "are taken up to 32 MB, then refused with 10250: %i bytes over are taken: %s",
      ),
    ),
    sluice: { kind: "differs", observed: "10250 when more than 32 MB wait to be stored" },
    reason:
      "the limit is a share of Cloudflare's machines, and a laptop's speed says nothing about it; what a queue refuses is what it cannot keep up with",
  },
];
