import type { ReferenceRow } from "../scenario/row.ts";
import { MINIFLARE, proven, test } from "./reference.ts";

const BINDING = "packages/producer/src/queue-producer.workerd.test.ts";
const PRODUCER = "packages/producer/src/queue-producer.test.ts";

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
];
