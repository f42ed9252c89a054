import { join } from "node:path";
import { expect, test } from "vitest";
import { diagnosticsOf, errorsOf, project, readToml } from "../../test/project.ts";
import { deploymentNames, readWorkerConfig } from "../index.ts";

function workers(...texts: string[]) {
  const folder = project(Object.fromEntries(texts.map((text, i) => [`${i}/wrangler.toml`, text])));
  return texts.map((_, i) => readWorkerConfig(join(folder, String(i), "wrangler.toml")));
}

test("a file names the broker and the project that its Worker is deployed with", () => {
  const all = workers(
    `name = "a"`,
    `name = "b"\n[sluice]\nbroker = "queues"`,
    `name = "c"\n[sluice]\nbroker = "queues"\nproject = "@shop/all"`,
  );
  expect(deploymentNames(all)).toEqual({ broker: "queues", project: "@shop/all" });
  expect(deploymentNames([])).toEqual({ broker: null, project: null });
});

test("two files that name different brokers are refused with both places", () => {
  const [a, b] = workers(
    `name = "a"\n[sluice]\nbroker = "one"`,
    `name = "b"\n\n[sluice]\nproject = "p"\nbroker = "two"`,
  );
  expect(diagnosticsOf(() => deploymentNames([a, b].flatMap((worker) => worker ?? [])))).toEqual([
    {
      severity: "error",
      file: b?.file,
      line: 5,
      text: `"sluice.broker" has two values: "one" (${a?.file}:3) and "two" (${b?.file}:5)`,
    },
  ]);
});

test.each([["My Broker"], [""], [5], ["-a"]])("a broker cannot be called %j", (broker) => {
  const [error] = errorsOf(() => readToml(`name = "w"\n[sluice]\nbroker = ${JSON.stringify(broker)}`));
  expect(error).toBe(
    `The field "sluice.broker" should be a Worker's name, alphanumeric and lowercase with dashes only, ` +
      `but got ${JSON.stringify(broker)}.`,
  );
});

test("a project's name is one word", () => {
  const [error] = errorsOf(() => readToml(`name = "w"\n[sluice]\nproject = "my shop"`));
  expect(error).toMatch(/^The field "sluice.project" should be a name of at most 100 letters/);
});
