import type { ReferenceRow, RowHead, TestReference, Verdict } from "../scenario/row.ts";
import { MINIFLARE, proven, test } from "./reference.ts";

const SDK = "apps/broker/test/cloudflare-sdk.workerd.test.ts";
const SDK_CONSUMERS = "apps/broker/test/cloudflare-sdk-consumers.workerd.test.ts";
const WRANGLER = "apps/broker/test/wrangler-queues.e2e.test.ts";
const CONTROL = "packages/gateway/src/cloudflare/control/control.test.ts";

/** A row about the REST API, of which Miniflare has nothing. */
function api(
  id: string,
  covers: RowHead["covers"],
  production: string,
  ...tests: readonly TestReference[]
): ReferenceRow {
  return proven(id, covers, production, MINIFLARE.no("no REST API"), ...tests);
}

const differs = (observed: string): Verdict => ({ kind: "differs", observed });

/** What the real `wrangler queues` and the official SDK find when they are pointed at a broker. */
export const CONTROL_PLANE_REFERENCES: readonly ReferenceRow[] = [
  api(
    "api-clients",
    ["6.1 base URL", "6.1 SDK base URL", "6.1 account", "6.2 account given"],
    "Wrangler (`CLOUDFLARE_API_BASE_URL`) and the SDK (`baseURL`) can be pointed at another API; with an account id they ask for nothing else",
    test(WRANGLER, "create, list, info, update, pause-delivery, resume-delivery, delete"),
    test(SDK, "are created, shown, changed and deleted"),
  ),
  api(
    "api-identity",
    ["6.2 discovery", "6.2 whoami", "6.1 credentials", "5.6 token"],
    "Without an account id Wrangler finds the account by itself; `wrangler whoami` names it; a wrong token is an authentication error, 10000",
    test(WRANGLER, "finds the account by itself, and needs the token of a broker that has one"),
    test(SDK, "lets nobody in without one of the tokens, where there are tokens"),
  ),
  api(
    "api-any-content-type",
    ["6.2 any content type"],
    "JSON bodies are read whatever their content type says",
    test(CONTROL, "are JSON whatever the content type says"),
  ),
  api(
    "api-envelope",
    ["5.1 envelope", "5.6 unknown route", "6.8 7003"],
    "Every answer has `success`, `errors`, `messages` and `result`; an unknown route is 404, 7003",
    test(CONTROL, "answers 7003 to whatever else there is, in the envelope of the API"),
    test(SDK, "answers whatever else there is of Cloudflare's API with 7003 and what is not there"),
  ),
  api(
    "api-paging",
    ["5.1 result_info"],
    "Lists are paged and say so in `result_info`; queues are found by one or several exact names",
    test(SDK, "are paged and found by one or several exact names"),
  ),
  api(
    "api-queue-object",
    ["6.3 Queue", "6.3 Producer", "6.7 queues"],
    "A queue shows id, name, times, producers, consumers and settings",
    test(SDK, "are created, shown, changed and deleted"),
    test(SDK, "are listed, those of the configuration with their producers, each Worker once"),
  ),
  api(
    "api-put-and-patch",
    ["6.7 PUT and PATCH"],
    "PUT replaces a queue's settings, PATCH merges into them",
    test(SDK, "are created, shown, changed and deleted"),
  ),
  api(
    "api-consumers",
    ["6.3 Worker consumer", "6.3 Pull consumer", "6.7 consumers", "4 one consumer"],
    "Consumers are created, shown, replaced and removed, one per queue; a second one is refused with 11004; PUT creates one that is not there",
    test(SDK_CONSUMERS, "are created, shown, replaced and removed: one per queue"),
    test(SDK_CONSUMERS, "are created by an update that finds none"),
  ),
  api(
    "api-purge",
    ["6.7 purge", "4 purge"],
    "A purge is started and its status told",
    test(SDK, "empty a queue, say when that was, and how much waits"),
  ),
  api(
    "api-metrics",
    ["7 REST", "5.2 metrics"],
    "`GET …/metrics` tells `backlog_count`, `backlog_bytes` and `oldest_message_timestamp_ms`",
    test(SDK, "empty a queue, say when that was, and how much waits"),
  ),
  api(
    "api-subscriptions",
    ["6.6 object", "6.6 sources", "6.7 subscriptions"],
    "Event subscriptions are created, listed to their end, changed and deleted; one per source; unknown sources and events are refused",
    test(SDK, "are created, listed to their end, changed and deleted"),
    test(SDK, "are refused with %s"),
  ),
  {
    ...api(
      "api-events",
      ["6.6 delivered body"],
      "Events of Cloudflare's products are delivered to the queue of a subscription",
      test(SDK, "are created, listed to their end, changed and deleted"),
    ),
    sluice: { kind: "no", observed: "subscriptions are kept, and no event ever comes" },
    reason: "the events are those of Cloudflare's own products, which do not run here",
  },
  api(
    "api-settings-ranges",
    ["6.8 100127", "6.4 CLI errors"],
    "Settings out of range are refused with 100127 (consumer) and 100128 (queue), names with 11003 and 11009",
    test(WRANGLER, "create and update: errors"),
    test(SDK, "are not created with %s"),
    test(SDK_CONSUMERS, "take %s from %i to %i"),
  ),
  api(
    "api-bad-ids-and-bodies",
    ["6.8 10107", "5.6 malformed id"],
    "What is no queue id is answered with 10107, a body that cannot be used with 10026",
    test(CONTROL, "answers 10107 to %s, which is no queue id"),
    test(CONTROL, "answers 10026 to %j"),
  ),
  api(
    "api-workers",
    ["6.8 worker not found"],
    "A Worker that does not exist is 404, 10090",
    test(CONTROL, "knows the Workers that its queues name, and no others"),
  ),
  api(
    "jurisdiction",
    ["4 jurisdiction"],
    "A queue can be given a jurisdiction when it is created, and keeps it",
    test(WRANGLER, "create, list, info, update, pause-delivery, resume-delivery, delete"),
    test(
      "packages/broker/src/directory/queues.test.ts",
      "keeps its jurisdiction, its settings and what only a dialect understands",
    ),
  ),
  api(
    "wrangler-queues",
    ["6.4 list", "6.4 create", "6.4 update", "6.4 delete", "6.4 info", "6.4 pause", "4 pause", "4 resume"],
    "`wrangler queues list`, `create`, `update`, `delete`, `info`, `pause-delivery`, `resume-delivery`",
    test(WRANGLER, "create, list, info, update, pause-delivery, resume-delivery, delete"),
  ),
  api("wrangler-queues-purge", ["6.4 purge"], "`wrangler queues purge`", test(WRANGLER, "purge")),
  api(
    "wrangler-queues-consumer-worker",
    ["6.4 consumer add", "6.4 consumer remove", "6.4 consumer list"],
    "`wrangler queues consumer worker add`, `remove`, `list`",
    test(WRANGLER, "consumer worker add, list, remove"),
  ),
  api(
    "wrangler-queues-consumer-http",
    ["6.4 consumer http add", "6.4 consumer http remove"],
    "`wrangler queues consumer http add`, `remove`, `list`",
    test(WRANGLER, "consumer http add, list, remove"),
  ),
  api(
    "wrangler-queues-subscription",
    ["6.4 subscription"],
    "`wrangler queues subscription create`, `list`, `get`, `update`, `delete`",
    test(WRANGLER, "subscription create, list, get, update, delete"),
  ),
  {
    ...api(
      "wrangler-queues-notification",
      ["6.4 notification"],
      "A queue can notify by mail or webhook (beta; the commands are documented and not in Wrangler 4.164)",
      test(CONTROL, "of a consumer: answers 10026 to %s"),
    ),
    sluice: { kind: "no", observed: "refused with 10026" },
    reason: "neither the API behind it nor what it sends is published",
  },
  {
    ...api(
      "wrangler-deploy",
      ["6.5 deploy", "6.5 versions upload"],
      "`wrangler deploy` uploads a Worker and sets its consumers",
      test(
        WRANGLER,
        "deploys a Worker's consumers with triggers deploy, and says at deploy that it cannot upload Workers",
      ),
    ),
    sluice: differs("`wrangler triggers deploy` sets the consumers; an upload is refused with 7003"),
    reason: "a broker keeps queues; Workers are uploaded to Cloudflare, with what `sluice build` writes",
  },
  {
    ...api(
      "graphql",
      ["7 GraphQL"],
      "GraphQL analytics: backlog, operations, concurrency",
      test(CONTROL, "answers 7003 to whatever else there is, in the envelope of the API"),
    ),
    sluice: { kind: "no", observed: "404, 7003" },
    reason:
      "it is an API of its own over sampled data of an account; the figures are at `/__sluice/api/queues`",
  },
  proven(
    "dashboard",
    ["7 dashboard"],
    "A page shows each queue's backlog and consumer",
    MINIFLARE.no("no page"),
    test("packages/gateway/src/index.test.ts", "shows the page of queues, also without the slash at its end"),
  ),
];
