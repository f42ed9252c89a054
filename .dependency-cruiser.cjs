/**
 * Dependencies point one way (docs/design/architecture.md). Each rule names the other packages that a package may
 * import. Only the apps and the CLI, which wire everything, import any package.
 */
const only = (from, ...to) => ({
  name: `${from}-imports-only-${to.join("-") || "nothing"}`,
  severity: "error",
  from: { path: `^packages/${from}/src` },
  to: { path: "^(packages|apps)/", pathNot: [from, ...to].map((name) => `^packages/${name}/`) },
});

/** The sources of a package, of an app, or of a folder of a package: `engine`, `apps/bench`, `broker/src/history`. */
const sources = (name) => {
  if (name.includes("/src/")) return `^packages/${name}/`;
  return `^${name.includes("/") ? name : `packages/${name}`}/src/`;
};

/**
 * The folders of a package, an app or a folder, in layers: a folder imports itself, the folders that are named before
 * it, and the files beside the folders, except the package's entry.
 */
const layers = (name, folders) =>
  folders
    .split(" ")
    .map((folder, at, all) => ({
      name: `${name.replaceAll("/", "-")}-${folder}-imports-what-is-below`,
      severity: "error",
      from: { path: `${sources(name)}${folder}/` },
      to: {
        path: sources(name),
        pathNot: `${sources(name)}((${all.slice(0, at + 1).join("|")})/|(?!index)[^/]+$)`,
      },
    }));

/**
 * The folders of a package or an app, each with those that it may import besides itself. The files beside them wire
 * them and import any.
 */
const folders = (name, allowed) =>
  Object.entries(allowed).map(([folder, others]) => ({
    name: `${name.replace("/", "-")}-${folder}-imports-only-${others.join("-") || "nothing"}`,
    severity: "error",
    from: { path: `${sources(name)}${folder}/` },
    to: { path: sources(name), pathNot: `${sources(name)}(${[folder, ...others].join("|")})/` },
  }));

module.exports = {
  forbidden: [
    only("engine"),
    only("retry"),
    only("prices"),
    only("protocol"),
    only("shards", "protocol"),
    only("aws"),
    only("objects"),
    only("coalesce"),
    only("sns", "aws", "retry"),
    only("sqsd", "aws"),
    only("config", "protocol", "retry", "sqsd"),
    only("producer", "protocol", "coalesce", "shards"),
    only("consumer", "protocol"),
    only("broker", "engine", "protocol", "retry", "aws", "sns", "sqsd"),
    only("gateway", "protocol", "coalesce", "aws", "retry", "sns", "sqsd"),
    only("broker-worker", "broker", "gateway", "objects", "aws", "protocol", "shards"),
    only("project", "config", "producer", "consumer", "protocol", "aws"),
    only(
      "local",
      "project",
      "broker-worker",
      "objects",
      "broker",
      "gateway",
      "config",
      "producer",
      "protocol",
      "aws",
      "sqsd",
    ),
    only("testing", "broker", "broker-worker", "consumer", "local", "producer", "project", "protocol"),
    only("vite", "broker-worker", "config", "local", "producer", "project", "protocol"),
    {
      name: "engine-is-pure",
      comment: "No library, no Node, no platform: the engine runs anywhere and depends on nothing.",
      severity: "error",
      from: { path: "^packages/engine/src" },
      to: { pathNot: "^packages/engine/src" },
    },
    {
      name: "retry-is-pure",
      comment: "As the engine: no library, no Node, no platform.",
      severity: "error",
      from: { path: "^packages/retry/src" },
      to: { pathNot: "^packages/retry/src" },
    },
    {
      name: "prices-are-pure",
      comment: "Numbers and sums: the page, the command and the bench all use them.",
      severity: "error",
      from: { path: "^packages/prices/src" },
      to: { pathNot: "^packages/prices/src" },
    },
    {
      name: "examples-know-nothing-of-us",
      comment: "They are ordinary Cloudflare Queues projects.",
      severity: "error",
      from: { path: "^apps/shop-" },
      to: { path: "^(packages|apps/broker)" },
    },
    {
      name: "dialects-do-not-know-each-other",
      severity: "error",
      from: { path: "^packages/gateway/src/(aws|admin|cloudflare|binding)/" },
      to: {
        path: "^packages/gateway/src/(aws|admin|cloudflare|binding|page)/",
        pathNot: "^packages/gateway/src/$1/",
      },
    },
    {
      name: "sqs-and-sns-do-not-know-each-other",
      severity: "error",
      from: { path: "^packages/gateway/src/aws/(sqs|sns)/" },
      to: { path: "^packages/gateway/src/aws/(sqs|sns)/", pathNot: "^packages/gateway/src/aws/$1/" },
    },
    {
      name: "what-dialects-share-knows-none-of-them",
      severity: "error",
      from: { path: "^packages/gateway/src/(http|account)/" },
      to: { path: "^packages/gateway/src/(aws|admin|cloudflare|binding|page)/" },
    },
    {
      name: "dashboard-knows-what-the-admin-api-answers",
      severity: "error",
      from: { path: "^packages/dashboard/src" },
      to: {
        path: "^(packages|apps)/",
        pathNot:
          "^packages/(dashboard/|prices/|protocol/src/(stack|words)\\.ts|gateway/src/admin/views\\.ts)",
      },
    },
    {
      name: "page-knows-no-dialect",
      severity: "error",
      from: { path: "^packages/gateway/src/page/" },
      to: { path: "^packages/gateway/src/", pathNot: "^packages/gateway/src/page/" },
    },
    {
      name: "no-cycles",
      comment: "Imports of types count: a circle of files is one file in several pieces.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    ...layers("protocol", "filter v8 wire r2 trace topology shards rpc"),
    ...layers("aws", "values signature protocols"),
    ...layers("config", "file tables topology"),
    ...layers("project", "node-version runtime wrangler files register read generate"),
    ...layers(
      "local",
      "docs settings report stacks node processes data generation http watchdog broker r2 reset workerd standalone " +
        "serve miniflare platform-proxy dev",
    ),
    ...layers("cli", "client commands"),
    ...layers("dashboard", "api text ui cost development page redrive message queue overview topic"),
    ...layers(
      "apps/bench",
      "measure process report workload lab peers systems compare sqs backlog price start scale",
    ),
    ...layers("apps/conformance", "orders scenario scenarios project systems references spec measure sheet"),
    ...layers("apps/soak-process", "cluster scenario ledger load rollouts damage sqs runs power"),
    ...folders("broker", {
      platform: [],
      rpc: [],
      usage: [],
      shards: [],
      tracing: [],
      store: ["platform", "rpc", "usage"],
      history: ["store"],
      turn: ["history", "platform", "store", "tracing", "usage"],
      send: ["history", "shards", "store", "turn"],
      alerts: ["rpc", "shards", "store", "turn"],
      transfer: ["alerts", "history", "platform", "rpc", "send", "shards", "store", "turn"],
      why: ["turn"],
      push: ["alerts", "history", "platform", "transfer", "turn", "why"],
      faults: ["platform", "push"],
      receive: ["history", "send", "store", "transfer", "turn"],
      endpoint: ["alerts", "platform", "push", "receive", "send", "store", "turn", "why"],
      look: ["history", "receive", "store", "turn", "why"],
      queue: [
        "alerts",
        "history",
        "platform",
        "shards",
        "store",
        "turn",
        "send",
        "transfer",
        "push",
        "receive",
        "endpoint",
        "look",
        "tracing",
        "usage",
      ],
      directory: ["platform", "rpc", "store"],
      object: [
        "alerts",
        "platform",
        "rpc",
        "shards",
        "store",
        "turn",
        "push",
        "faults",
        "endpoint",
        "queue",
        "tracing",
        "usage",
      ],
    }),
    ...layers("protocol/src/rpc", "queue directory"),
    ...layers("broker/src/directory", "tables topics"),
    ...layers("broker/src/history", "journal figures finished story"),
    ...layers(
      "gateway/src/admin",
      "alerts messages history search queues topics development access backup metrics openapi mcp",
    ),
    ...layers("objects", "sqlite files alarms instance"),
    ...layers("apps/soak", "ledger world scenario platform checkers actors history shards planted"),
    ...layers("engine", "segments order queue commands push views"),
    {
      name: "engine-stored-imports-the-state-alone",
      comment: "What is stored depends on the state of a queue and not on what changes it.",
      severity: "error",
      from: { path: "^packages/engine/src/stored/" },
      to: { path: "^packages/engine/src/", pathNot: "^packages/engine/src/(segments|order|queue|stored)/" },
    },
    {
      name: "nothing-unresolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: "^((cloudflare|workerd|sluice):|(old|new)-broker$)" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|dist-package|node_modules|\\.sluice|\\.wrangler|test)/|\\.test\\.ts$" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "default"] },
    moduleSystems: ["es6"],
    // TypeScript 7 has no programming interface to parse with yet.
    parser: "swc",
  },
};
