import type { ReferenceRow } from "../scenario/row.ts";
import { MINIFLARE, proven, test } from "./reference.ts";

const WRANGLER = "packages/config/src/wrangler-conformance.e2e.test.ts";
const CONSUMER = "packages/config/src/consumer.test.ts";
const PRODUCER = "packages/config/src/producer.test.ts";
const ENVIRONMENT = "packages/config/src/environment.test.ts";
const QUEUES = "packages/config/src/queues.test.ts";

/** How configurations are read. */
export const CONFIGURATION_REFERENCES: readonly ReferenceRow[] = [
  proven(
    "wranglers-own-messages",
    [
      "3.3 queues not an object",
      "3.3 unknown key",
      "3.3 consumers not an array",
      "3.3 consumer not an object",
      "3.3 consumer without queue",
      "3.3 wrong type",
      "3.3 wrong field type",
      "3.3 producer not an object",
      "3.3 producer without binding",
      "3.3 producer queue",
      "3.3 delivery_delay",
    ],
    "A configuration is refused and warned about in Wrangler's words: random ones are compared with the installed Wrangler's verdict",
    MINIFLARE.yes,
    test(WRANGLER, "about any configuration, this package says what Wrangler says"),
    test(CONSUMER, "what Wrangler refuses in a consumer"),
    test(PRODUCER, "what Wrangler refuses in a producer"),
    test(QUEUES, "unknown keys are warned of, all in one warning"),
  ),
  proven(
    "pages-projects",
    ["3.3 Pages"],
    "A Pages project cannot have consumers",
    MINIFLARE.yes,
    test(ENVIRONMENT, "may not have consumers"),
  ),
  proven(
    "environments",
    ["3.3 missing in env", "3.3 no inheritance"],
    "An environment has its own queues and none of the top level's; Wrangler warns where it has none",
    MINIFLARE.yes,
    test(ENVIRONMENT, "are its own, not those of the top level"),
    test(ENVIRONMENT, "are none when only the top level has some, with a warning"),
  ),
  {
    ...proven(
      "producer-delivery-delay",
      ["3.1 delivery_delay", "3.3 delivery_delay"],
      "`delivery_delay` of a producer is deprecated, warned of and without effect",
      MINIFLARE.differs("warned of, and applied"),
      test(PRODUCER, "is honoured, with Wrangler's deprecation and a word on what becomes of it"),
    ),
    sluice: { kind: "differs", observed: "warned of, and applied" },
    reason:
      "projects that are run by `wrangler dev` know it applied; a warning says that production will not",
  },
];
