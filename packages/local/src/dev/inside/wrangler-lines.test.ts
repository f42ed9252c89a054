import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { projectFolder } from "@sluice/project/test/project-folder";
import { describe, expect, it } from "vitest";
import { isSocketInUse, wranglerLines } from "./wrangler-lines.ts";

const EXPLANATION =
  "\nService bindings, Durable Object bindings, and Tail consumers connect to other Wrangler or Vite " +
  "dev processes running locally, ...\n";
const FOLDER = "/repo/packages";

function filter(folder = projectFolder({}), workers = ["api", "mail", "sluice"]) {
  const producers = [{ worker: "api", binding: "ORDERS" }];
  const topologyFile = join(folder, "topology.json");
  writeFileSync(topologyFile, JSON.stringify({ queues: { orders: { producers }, dead: { producers: [] } } }));
  const lines = wranglerLines({
    workers,
    broker: "sluice",
    topologyFile,
    workingDirectory: folder,
    generatedFolder: join(folder, ".sluice/dev/api"),
    secrets: [{ directory: join(folder, ".sluice/dev/api/api"), userDirectory: folder, env: "" }],
    ownSources: [FOLDER],
    askedPorts: [],
  });
  return (...messages: string[]) => messages.flatMap((message) => lines(message));
}

/** As Wrangler pads and colours a row. */
function row(name: string, value: string, type: string, mode = "local"): string {
  const binding = `\u001b[37menv.${name}\u001b[39m (\u001b[2m${value}\u001b[22m)`;
  const pad = " ".repeat(60 - `env.${name} (${value})`.length);
  return `${binding}${pad}\u001b[36m${type.padEnd(20)}\u001b[39m      ${mode}`;
}
const NOT_CONNECTED = "\u001b[34mlocal\u001b[39m\u001b[31m [not connected]\u001b[39m";
const HEADING = `${"Binding".padEnd(60)}${"Resource".padEnd(20)}      Mode`;
const BROKER_ROW = row("__SLUICE_QUEUES", "QueueBroker, defined in sluice", "Durable Object", NOT_CONNECTED);

const plain = (lines: readonly string[]) => lines.map((line) => stripVTControlCharacters(line));

it("a delivery names the Worker that has got it, if another process runs that", () => {
  const folder = projectFolder({});
  const lines = filter(folder);
  const consumer = (worker: string) => ({ producers: [], consumer: { type: "worker", worker } });
  const queues = { orders: consumer("far"), mails: consumer("mail") };
  writeFileSync(join(folder, "topology.json"), JSON.stringify({ queues }));
  const delivered = [
    "[sluice] QUEUE orders 1/2 acknowledged (69ms)",
    "QUEUE mails 2/2 acknowledged (1 batch)",
  ];
  const ofShard = "QUEUE orders#1 3/3 acknowledged (7ms)";
  expect(lines(ofShard, ...delivered, "QUEUE gone 1/1 acknowledged (1ms)")).toEqual([
    "QUEUE orders#1 3/3 acknowledged by far elsewhere (7ms)",
    "[sluice] QUEUE orders 1/2 acknowledged by far elsewhere (69ms)",
    delivered[1],
    "QUEUE gone 1/1 acknowledged (1ms)",
  ]);
});

it.each([
  ["[orders 5f1c52a0?] [mail] lamp", "[mail] [orders 5f1c52a0?] lamp"],
  ["[orders 5f1c52a0] [mail] lamp\nvase", "[mail] [orders 5f1c52a0] lamp\nvase"],
  ["[orders, 12 messages] [mail] lamp", "[mail] [orders, 12 messages] lamp"],
  ["[mail] [orders 5f1c52a0] lamp", "[mail] [orders 5f1c52a0] lamp"],
  ["[orders 5f1c52a0] [lamp] a Worker without a name", "[orders 5f1c52a0] [lamp] a Worker without a name"],
])("a handler's line has its Worker first, whatever Wrangler's version: %j", (text, shown) => {
  expect(filter()(text)).toEqual([shown]);
});

it("a later map that a shard has told its caller is no error, and any other is", () => {
  const uncaught = (name: string) =>
    `\u001b[31m✘ \u001b[41;31m[\u001b[41;97mERROR\u001b[41;31m]\u001b[0m \u001b[1mUncaught ${name}: queue ` +
    '"orders" is called by an older map, its shards are: 17 2 2;\u001b[0m\n\n      at f (file:///a.ts:1:2)\n';
  expect(filter()(uncaught("ShardMapError"), uncaught("Error"))).toEqual([uncaught("Error")]);
});

describe("the bindings of a Worker", () => {
  it("show queues by the names of the user's bindings, in Wrangler's columns, and none of ours", () => {
    const shown = filter()(
      "api has access to the following bindings:",
      HEADING,
      BROKER_ROW,
      row("CACHE", "abc", "KV Namespace"),
      row("__SLUICE_BROKER", "sluice", "Worker", NOT_CONNECTED),
      "",
      EXPLANATION,
    );
    expect(plain(shown)).toEqual([
      "api has access to the following bindings:",
      "Binding                  Resource                  Mode",
      "env.ORDERS (orders)      Queue                     local",
      "env.CACHE (abc)          KV Namespace              local",
      "",
    ]);
  });

  it("show queues where a narrow terminal has values in lines of their own", () => {
    const wrapped = `env.__SLUICE_QUEUES    Durable Object    local [not connected]\n  QueueBroker, defined in sluice`;
    const shown = filter()(
      "api has access to the following bindings:",
      "Binding                Resource          Mode",
      wrapped,
      "",
    );
    expect(shown.slice(1, -1)).toEqual([
      "Binding       Resource          Mode",
      "env.ORDERS    Queue             local\n  orders",
    ]);
  });

  it("are connected to what runs in the same Wrangler, and the others as Wrangler says, with its explanation", () => {
    const shown = filter()(
      "api has access to the following bindings:",
      HEADING,
      row("MAIL", "mail#Entry", "Worker", NOT_CONNECTED),
      row("BOX", "Box, defined in mail", "Durable Object", NOT_CONNECTED),
      "",
      EXPLANATION,
      "mail has access to the following bindings:",
      HEADING,
      row("AUTH", "auth", "Worker", NOT_CONNECTED),
      "",
    );
    expect(plain(shown).filter((line) => line.includes("connected]"))).toEqual([
      expect.stringContaining("env.AUTH (auth)"),
    ]);
    expect(shown.at(-1)).toBe(EXPLANATION);
  });

  it("are no table where there are none but ours, and of the broker never", () => {
    const broker = row("SLUICE_QUEUES", "QueueBroker", "Durable Object");
    const say = filter();
    expect(say("mail has access to the following bindings:", HEADING, "")).toEqual([]);
    expect(say("sluice has access to the following bindings:", HEADING, broker, "", EXPLANATION)).toEqual([]);
    expect(say("after")).toEqual(["after"]);
  });

  it("have no name in the title where one Worker runs alone", () => {
    const title = "Your Worker has access to the following bindings:";
    const broker = row("SLUICE_QUEUES", "QueueBroker", "Durable Object");
    expect(filter(projectFolder({}), ["sluice"])(title, HEADING, broker, "")).toEqual([]);
    expect(filter(projectFolder({}), ["api"])(title, HEADING, BROKER_ROW, "").join("\n")).toContain(
      "env.ORDERS",
    );
  });
});

it("what only looks like the title of a table takes nothing with it", () => {
  const lines = ["x has access to the following bindings:", "env.A", "something else"];
  expect(filter()(...lines)).toEqual(lines);
});

it("a line that breaks a table off is shown as any other is", () => {
  const own = "[wrangler:info] GET /__sluice/api/queues 200 OK (1916ms)";
  const title = "api has access to the following bindings:";
  expect(filter()(title, own)).toEqual([title]);
  expect(filter()("Attaching additional modules:", own)).toEqual(["Attaching additional modules:"]);
});

describe("lines about files of secrets", () => {
  it("name the user's file, and leave out the broker's, which nobody wrote", () => {
    const folder = projectFolder({ ".dev.vars": "A=1", "other/.dev.vars": "B=1" });
    for (const name of ["api", "sluice"])
      mkdirSync(join(folder, ".sluice/dev/api", name), { recursive: true });
    symlinkSync(join(folder, ".dev.vars"), join(folder, ".sluice/dev/api/api/.dev.vars"));
    writeFileSync(join(folder, ".sluice/dev/api/sluice/.dev.vars"), "");
    const say = filter(folder);
    expect(say("Using secrets defined in .sluice/dev/api/api/.dev.vars")).toEqual([
      "Using secrets defined in .dev.vars",
    ]);
    expect(say("Using secrets defined in .sluice/dev/api/sluice/.dev.vars")).toEqual([]);
    expect(say("Using vars defined in .sluice/dev/api/sluice/.dev.vars")).toEqual([]);
    expect(say("Using secrets defined in other/.dev.vars")).toEqual([
      "Using secrets defined in other/.dev.vars",
    ]);
  });
});

describe("lines about requests", () => {
  it.each([
    ["GET /__sluice/api/queues 200 OK (1916ms)", false],
    ["GET /__sluice/ 200 OK (7ms)", false],
    ["GET /__sluice/app.0123456789ab.js 200 OK (7ms)", false],
    ["GET /__sluice/api/queues/orders/messages/x 404 Not Found (2ms)", false],
    ["POST /__sluice/api/queues/orders/redrive 200 OK (2ms)", false],
    ["GET /__sluice/api/queues 500 Internal Server Error (2ms)", true],
    ["POST /__sluice/aws 200 OK (2ms)", true],
    ["GET /__sluice/apish 200 OK (2ms)", true],
    ["GET /api/queues 200 OK (2ms)", true],
  ])("of the page and the commands are not shown unless the broker failed: %s", (text, isShown) => {
    const line = `\u001b[32m[wrangler:info]\u001b[39m \u001b[1m${text.slice(0, 4)}\u001b[22m${text.slice(4)}`;
    expect(filter()(line)).toEqual(isShown ? [line] : []);
  });
});

describe("stack traces", () => {
  it("hold the user's code and not ours", () => {
    const trace = [
      "✘ [ERROR] Error: card declined",
      "",
      "      at oops (file:///home/me/shop/src/index.ts:13:25)",
      "      at null.<anonymous> (file:///repo/packages/consumer/src/queue-consumer.ts:45:45)",
      "      at \u001b[2mfile:///repo/packages/consumer/src/run-delivery.ts:45:13\u001b[22m",
      "      at async Object.fetch (file:///home/me/a%20shop/index.ts:1:2)",
      "",
    ];
    expect(filter()(trace.join("\n"))).toEqual([[...trace.slice(0, 3), ...trace.slice(5)].join("\n")]);
  });

  it("hold no other either where a narrow terminal breaks their lines", () => {
    const trace = [
      "✘ [ERROR] Error: card declined",
      "      at oops",
      "  (file:///home/me/shop/src/index.ts:13:25)",
      "      at null.<anonymous>",
      "  (file:///repo/packages/consumer/src/queue-consumer.ts:45:45)",
      "      at async Object.fetch",
    ];
    expect(filter()(trace.join("\n"))).toEqual([[...trace.slice(0, 3), ...trace.slice(5)].join("\n")]);
  });

  it("keep what opens the properties of an error behind our last frame", () => {
    const trace = [
      "      at oops (file:///home/me/shop/src/index.ts:13:25)",
      "      at deliver (file:///repo/packages/consumer/src/queue-consumer.ts:45:45) {",
      "    [cause]: Error: bank says no",
      "        at oops (file:///home/me/shop/src/index.ts:14:1) {",
    ];
    const shown = [
      "      at oops (file:///home/me/shop/src/index.ts:13:25) {",
      "    [cause]: Error: bank says no",
      "        at oops (file:///home/me/shop/src/index.ts:14:1) {",
    ];
    expect(filter()(trace.join("\n"))).toEqual([shown.join("\n")]);
  });

  it("are whole where there is no other code than ours", () => {
    const trace = "Error: disk\n    at commit (file:///repo/packages/broker/src/store.ts:1:2)";
    expect(filter()(trace)).toEqual([trace]);
  });
});

it.each([
  ['✘ [ERROR] Address already in use (socket "direct:1:default"). Please check that you are not', true],
  ['✘ [ERROR] Address already in use\n  (socket "direct:0:default"). Please', true],
  ["✘ [ERROR] Address already in use (localhost:8788). Please check that you are not", true],
  ["✘ [ERROR] Address already in use\n  (127.0.0.1:9230).", true],
  ["✘ [ERROR] Address already in use ([::1]:9230).", true],
  ["✘ [ERROR] Address already in use (localhost:8787). Please check that you are not", false],
  ["✘ [ERROR] Address already in use (127.0.0.1:9229).", false],
])(
  "a socket that Wrangler has chosen itself is told from an address that somebody asked for: %j",
  (text, expected) => {
    expect(isSocketInUse(text, [8787, 9229])).toBe(expected);
  },
);

it("what only follows for the broker from a Worker that does not load is not shown", () => {
  const missing = (entrypoint: string) =>
    `✘ [ERROR] Worker "core:user:sluice"'s binding "CONSUMER_API" refers to service\n  "core:user:api" with a named ` +
    `entrypoint "${entrypoint}", but "core:user:api" has no such named entrypoint.`;
  const thrown = "✘ [ERROR] service core:user:api: Uncaught Error: at load";
  const proxy = missing("SluiceQueueConsumer").replace("core:user:sluice", "core:entry");
  expect(filter()(thrown, missing("SluiceQueueConsumer"), proxy)).toEqual([thrown]);
  expect(filter()(missing("Inbox"))).toEqual([missing("Inbox")]);
});

describe("a table of modules that Wrangler does not bundle", () => {
  const title = "Attaching additional modules:";

  it("is shown of the user's Workers", () => {
    const table = "| words.wasm | compiled-wasm | 1.00 KiB |";
    expect(filter()(title, table, "next")).toEqual([title, table, "next"]);
  });

  it("is not shown of the broker", () => {
    expect(filter()(title, "| sluice-broker.js | esm | 1070.00 KiB |", "next")).toEqual(["next"]);
  });
});
