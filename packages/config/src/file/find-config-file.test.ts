import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { diagnosticsOf, project } from "../../test/project.ts";
import { findConfigFile } from "./find-config-file.ts";

describe("the configuration file of a folder", () => {
  test("is wrangler.json before wrangler.jsonc before wrangler.toml", () => {
    const files = { "wrangler.json": "{}", "wrangler.jsonc": "{}", "wrangler.toml": "" };
    const all = project(files);
    expect(findConfigFile(all)).toBe(join(all, "wrangler.json"));
    const { "wrangler.json": _, ...withoutJson } = files;
    const two = project(withoutJson);
    expect(findConfigFile(two)).toBe(join(two, "wrangler.jsonc"));
    const one = project({ "wrangler.toml": "" });
    expect(findConfigFile(one)).toBe(join(one, "wrangler.toml"));
  });

  test("is never that of a parent folder", () => {
    const folder = project({ "wrangler.json": "{}", "api/wrangler.toml": "", "bare/index.ts": "" });
    expect(findConfigFile(join(folder, "api"))).toBe(join(folder, "api", "wrangler.toml"));
    expect(diagnosticsOf(() => findConfigFile(join(folder, "bare")))).toEqual([
      {
        severity: "error",
        file: join(folder, "bare"),
        text: "No wrangler.json, wrangler.jsonc, wrangler.toml, cloudflare.config.ts in this folder.",
      },
    ]);
  });

  test.each([
    ["is alone", {}],
    ["is beside a [sluice] table", { "wrangler.toml": "[sluice.queues.a]\ndelivery_delay = 1" }],
    ["is beside settings in JSON", { "wrangler.jsonc": '{ "$schema": "x", "sluice": {} }' }],
    ["is beside an empty file", { "wrangler.toml": "" }],
    [
      "is beside a file with neither name nor main",
      { "wrangler.toml": "[slice.queues.a]\ndelivery_delay = 1" },
    ],
  ])("is a cloudflare.config.ts that %s", (_, files) => {
    const folder = project({ "cloudflare.config.ts": "", ...files });
    expect(findConfigFile(folder)).toBe(join(folder, "cloudflare.config.ts"));
  });

  test.each([
    ["a Worker's", 'name = "a"\n[sluice]'],
    ["a Worker's without a name", 'main = "a.js"\n[sluice]'],
    ["broken", "name ="],
  ])("is a Wrangler configuration that is %s before a cloudflare.config.ts", (_, text) => {
    const folder = project({ "cloudflare.config.ts": "", "wrangler.toml": text });
    expect(findConfigFile(folder)).toBe(join(folder, "wrangler.toml"));
  });

  test("is not a folder of that name", () => {
    const folder = project({ "wrangler.json/README.md": "", "wrangler.toml": "" });
    expect(findConfigFile(folder)).toBe(join(folder, "wrangler.toml"));
  });
});

test("a file is taken as it is, whatever its name", () => {
  const folder = project({ "wrangler.json": "{}", "other.toml": "" });
  expect(findConfigFile(join(folder, "other.toml"))).toBe(join(folder, "other.toml"));
});

test("a path that does not exist is refused", () => {
  const path = join(project({}), "absent.toml");
  expect(diagnosticsOf(() => findConfigFile(path))).toEqual([
    { severity: "error", file: path, text: "No such file or folder." },
  ]);
});
