import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { diagnosticsOf, errorsOf, project, readJson, readToml, warningsOf } from "../../test/project.ts";
import { readWorkerConfig } from "../index.ts";

const TWO_ENVIRONMENTS = `name = "shop"
[[queues.producers]]
binding = "Q"
queue = "orders"
[env.staging]
[[env.staging.queues.producers]]
binding = "Q"
queue = "orders-staging"
[[env.staging.queues.consumers]]
queue = "orders-staging"
max_retries = 7
[env.production]
name = "the-shop"
vars = { A = "b" }`;

describe("the name of a Worker", () => {
  test("is the top-level one without an environment", () => {
    expect(readToml(TWO_ENVIRONMENTS)).toMatchObject({ workerName: "shop", env: null });
    expect(readToml(TWO_ENVIRONMENTS, "")).toMatchObject({ workerName: "shop", env: null });
  });

  test("has the environment behind it when the environment names none", () => {
    expect(readToml(TWO_ENVIRONMENTS, "staging")).toMatchObject({
      workerName: "shop-staging",
      env: "staging",
    });
  });

  test("is the environment's own when it has one", () => {
    expect(readToml(TWO_ENVIRONMENTS, "production")).toMatchObject({
      workerName: "the-shop",
      env: "production",
    });
  });

  test.each([["My Shop"], ["shop.1"], ["-shop"], [5], [null]])("cannot be %j", (name) => {
    const text =
      `Expected "name" to be of type string, alphanumeric and lowercase with dashes only but got ` +
      `${JSON.stringify(name)}.`;
    expect(diagnosticsOf(() => readJson({ name }))).toMatchObject([{ key: "name", text }]);
    expect(diagnosticsOf(() => readJson({ name: "w", env: { a: { name } } }, "a"))).toMatchObject([
      { key: "env.a.name", text },
    ]);
  });

  test.each(["a", "0", "_a", "a_b-c", "__proto__"])("can be %j", (name) => {
    expect(readJson({ name }).workerName).toBe(name);
  });

  test("is that of the folder when there is none, with a warning", () => {
    const folder = project({ "My Shop_2!/wrangler.toml": `[env.staging]`, "!/wrangler.toml": `name = ""` });
    const file = join(folder, "My Shop_2!", "wrangler.toml");
    const config = readWorkerConfig(file);
    expect(config.workerName).toBe("my-shop-2");
    expect(warningsOf(config)).toEqual([
      `There is no "name". The Worker is called "my-shop-2", after its folder.`,
    ]);
    expect(readWorkerConfig(file, { env: "staging" }).workerName).toBe("my-shop-2-staging");
    expect(readWorkerConfig(join(folder, "!", "wrangler.toml")).workerName).toBe("worker");
  });
});

describe("the queues of an environment", () => {
  // conformance: environments
  test("the queues of an environment are its own, not those of the top level", () => {
    const config = readToml(TWO_ENVIRONMENTS, "staging");
    expect(config.producers).toEqual([{ binding: "Q", queue: "orders-staging" }]);
    expect(config.consumers).toMatchObject([{ queue: "orders-staging", settings: { maxRetries: 7 } }]);
    expect(config.warnings).toEqual([]);
  });

  // conformance: environments
  test("the queues of an environment are none when only the top level has some, with a warning", () => {
    const config = readToml(TWO_ENVIRONMENTS, "production");
    expect(config).toMatchObject({ producers: [], consumers: [] });
    expect(config.warnings).toEqual([
      {
        severity: "warning",
        file: config.file,
        line: 12,
        key: "env.production.queues",
        text:
          `"queues" exists at the top level, but not on "env.production".\nThis is not what you probably ` +
          `want, since "queues" is not inherited by environments.\nPlease add "queues" to "env.production".`,
      },
    ]);
  });

  test("the queues of an environment are none without a warning when no environment has any, or one has an empty table", () => {
    expect(readToml(`name = "w"\n[env.a]`, "a").warnings).toEqual([]);
    expect(readToml(`${TWO_ENVIRONMENTS}\nqueues = {}`, "production").warnings).toEqual([]);
  });

  test.each([
    [{ consumers: [5] }, `"env.a.queues.consumers[0]" should be a objects, but got 5`],
    [{ consumers: [{}] }, `"env.a.queues.consumers[0]" should have a string "queue" field but got {}.`],
    [{ consumers: 5 }, `The field "env.a.queues.consumers" should be an array but got 5.`],
    [{ producers: 5 }, `The field "env.a.queues.producers" should be an array but got 5.`],
    [{ producers: [5] }, `"queue" bindings should be objects, but got 5`],
    [
      { producers: [{}] },
      `"env.a.queues.producers[0]" bindings should have a string "binding" field but got {}.`,
    ],
    [
      { consumers: [{ queue: "q", max_retries: 101 }] },
      `The field "env.a.queues.consumers[0].max_retries" should be a whole number of retries from 0 to ` +
        "100 but got 101.",
    ],
    [5, `The field "env.a.queues" should be an object but got 5.`],
    [null, `The field "env.a.queues" should be an object but got null.`],
  ])("the queues of an environment are checked under their own path: %j", (queues, text) => {
    expect(errorsOf(() => readJson({ name: "w", env: { a: { queues } } }, "a"))).toEqual([text]);
  });

  test("the queues of an environment are warned of under their own path", () => {
    const queues = { x: 1, producers: [{ binding: "Q", queue: "q", delivery_delay: 1 }] };
    expect(warningsOf(readJson({ name: "w", env: { a: { queues } } }, "a")).slice(0, 2)).toEqual([
      `Unexpected fields found in env.a.queues field: "x"`,
      `The "delivery_delay" field in "env.a.queues.producers[0]" is deprecated and has no effect. ` +
        `Queue-level settings should be configured using "wrangler queues update" instead. This setting ` +
        "will be removed in a future version.",
    ]);
  });

  test("the queues of an environment are not looked at in an environment that is not in force", () => {
    expect(readJson({ name: "w", env: { a: { queues: 5 } } }).warnings).toEqual([]);
  });

  test("the queues of an environment do not keep Wrangler from checking the top level, whose ranges and names do not matter then", () => {
    const env = { a: { queues: {} } };
    expect(errorsOf(() => readJson({ name: "w", queues: { consumers: [{}] }, env }, "a"))).toEqual([
      `"queues.consumers[0]" should have a string "queue" field but got {}.`,
    ]);
    const outOfRange = { consumers: [{ queue: "NO", max_retries: 101 }] };
    expect(readJson({ name: "w", queues: outOfRange, env }, "a").consumers).toEqual([]);
  });
});

describe("an environment that is not in the file", () => {
  test("is refused when there are others", () => {
    expect(diagnosticsOf(() => readToml(TWO_ENVIRONMENTS, "stagin"))).toMatchObject([
      {
        line: 5,
        key: "env",
        text: `No environment found in configuration with name "stagin".
Before using \`--env=stagin\` there should be an equivalent environment section in the configuration.
The available configured environment names are: ["staging","production"]

Consider adding an environment configuration section to the wrangler.toml file:
\`\`\`
[env.stagin]
\`\`\``,
      },
    ]);
  });

  test("is the top level under its name when there is none at all, with a warning", () => {
    const config = readJson({ name: "w", queues: { producers: [{ binding: "Q", queue: "q" }] } }, "staging");
    expect(config).toMatchObject({ workerName: "w-staging", env: "staging", producers: [{ queue: "q" }] });
    expect(warningsOf(config)).toEqual([
      `No environment found in configuration with name "staging".
Before using \`--env=staging\` there should be an equivalent environment section in the configuration.

Consider adding an environment configuration section to the wrangler.json file:
\`\`\`
[env.staging]
\`\`\``,
    ]);
  });

  test("is not found among what every object has", () => {
    expect(errorsOf(() => readJson({ name: "w", env: { a: {} } }, "constructor"))).toHaveLength(1);
  });

  test.each([[5], [null], [[]], ["x"]])(
    "an environment that is not in the file nor is %j one",
    (environment) => {
      expect(errorsOf(() => readJson({ name: "w", env: { a: environment } }, "a"))).toEqual([
        `The field "env.a" should be an object but got ${JSON.stringify(environment)}.`,
      ]);
    },
  );
});

describe("a configuration that a build tool has flattened to one environment", () => {
  const flattened = {
    name: "shop-staging",
    topLevelName: "shop",
    targetEnvironment: "staging",
    definedEnvironments: ["staging"],
    queues: { producers: [{ binding: "Q", queue: "q" }], consumers: [] },
  };

  test.each([undefined, "staging"])("keeps its name and its queues, asked for %s", (env) => {
    expect(readJson(flattened, env)).toMatchObject({
      workerName: "shop-staging",
      env: "staging",
      producers: [{ binding: "Q", queue: "q" }],
      warnings: [],
    });
  });

  test("a configuration that a build tool has flattened to one environment without a target takes the environment that is asked for, and adds no suffix", () => {
    const { targetEnvironment: _, ...untargeted } = flattened;
    expect(readJson(untargeted, "other")).toMatchObject({ workerName: "shop-staging", env: "other" });
    expect(readJson(untargeted)).toMatchObject({ workerName: "shop-staging", env: null });
  });

  test("is refused for another environment", () => {
    expect(errorsOf(() => readJson(flattened, "production"))).toEqual([
      `You have specified the environment "production". This does not match the target environment ` +
        `"staging" that was used when building the application.\nPerhaps you need to re-run the custom ` +
        `build of the project with "production" as the selected environment?`,
    ]);
  });

  test("is refused when it has environments after all", () => {
    expect(errorsOf(() => readJson({ ...flattened, env: { a: {}, b: {} } }))).toEqual([
      "Redirected configurations cannot include environments but the following have been found:\n\t- a\n\t- b",
    ]);
  });
});

describe("a Pages project", () => {
  const pages = `name = "site"\npages_build_output_dir = "dist"\n`;
  const consumer = `queues.consumers]]\nqueue = "q"\n`;
  const text = `Configuration file for Pages projects does not support "queues.consumers"`;

  test("may have producers", () => {
    const config = readToml(`${pages}[[queues.producers]]\nbinding = "Q"\nqueue = "q"`);
    expect(config.producers).toEqual([{ binding: "Q", queue: "q" }]);
    expect(readToml(`${pages}[queues]\nconsumers = []`).consumers).toEqual([]);
  });

  // conformance: pages-projects
  test("may not have consumers", () => {
    expect(diagnosticsOf(() => readToml(`${pages}[[${consumer}`))).toMatchObject([
      { line: 3, key: "queues.consumers", text },
    ]);
  });

  test("may not have consumers in the environment in force", () => {
    const toml = `${pages}[[env.preview.${consumer}`;
    expect(readToml(toml).consumers).toEqual([]);
    expect(diagnosticsOf(() => readToml(toml, "preview"))).toMatchObject([
      { line: 3, key: "env.preview.queues.consumers", text },
    ]);
  });

  test("uses its top level for an environment that it does not spell out", () => {
    const toml = `${pages}[[queues.producers]]\nbinding = "Q"\nqueue = "q"\n[env.preview]`;
    expect(readToml(toml, "production")).toMatchObject({ producers: [{ queue: "q" }], warnings: [] });
  });
});
