/**
 * Dependencies point one way (docs/design/architecture.md). Each rule says what a package may import of the others; a
 * package that is not named may not be imported by anybody but the apps and the CLI, which wire everything.
 */
const only = (from, ...to) => ({
  name: `${from}-imports-only-${to.join("-") || "nothing"}`,
  severity: "error",
  from: { path: `^packages/${from}/src` },
  to: { path: "^(packages|apps)/", pathNot: [from, ...to].map((name) => `^packages/${name}/`) },
});

module.exports = {
  forbidden: [
    only("engine"),
    only("retry"),
    only("protocol"),
    only("aws"),
    only("objects"),
    only("sns", "aws", "retry"),
    only("sqsd", "aws"),
    only("config", "protocol", "retry", "sqsd"),
    only("producer", "protocol"),
    only("consumer", "protocol"),
    only("broker", "engine", "protocol", "retry", "aws", "sns", "sqsd"),
    only("gateway", "protocol", "aws", "retry", "sns"),
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
      name: "examples-know-nothing-of-us",
      comment: "They are ordinary Cloudflare Queues projects.",
      severity: "error",
      from: { path: "^apps/shop-" },
      to: { path: "^(packages|apps/broker)" },
    },
    {
      name: "dialects-do-not-know-each-other",
      severity: "error",
      from: { path: "^packages/gateway/src/([^/]+)/", pathNot: "^packages/gateway/src/dashboard/" },
      to: { path: "^packages/gateway/src/([^/]+)/", pathNot: "^packages/gateway/src/$1/" },
    },
    {
      name: "dashboard-knows-what-the-admin-api-answers",
      severity: "error",
      from: { path: "^packages/gateway/src/dashboard/" },
      to: {
        path: "^packages/gateway/src/([^/]+)/",
        pathNot: "^packages/gateway/src/(dashboard/|admin/[a-z-]+-view\\.ts)",
      },
    },
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "nothing-unresolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: "^cloudflare:" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|node_modules|\\.sluice|\\.wrangler|test)/|\\.test\\.ts$" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "default"] },
    moduleSystems: ["es6"],
    // TypeScript 7 has no programming interface to parse with yet.
    parser: "swc",
  },
};
