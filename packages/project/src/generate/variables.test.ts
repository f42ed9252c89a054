import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { brokerVariables, ownVariablesOf } from "./variables.ts";

describe("the broker's variables", () => {
  it("are the configuration's, overridden by the environment's", () => {
    const own = { SLUICE_ENV: "development", SLUICE_API_TOKENS: "a", OTHER: 1 };
    const env = { SLUICE_API_TOKENS: "b", SLUICE_ALLOWED_HOSTS: "queues.example.com", PATH: "/bin" };
    expect(brokerVariables(own, env)).toEqual({
      SLUICE_ENV: "development",
      SLUICE_API_TOKENS: "b",
      SLUICE_ALLOWED_HOSTS: "queues.example.com",
      OTHER: 1,
    });
    expect(brokerVariables(own, { SLUICE_ENV: "" })).toEqual(own);
    expect(brokerVariables({}, { SLUICE_ENV: "local" })).toEqual({ SLUICE_ENV: "local" });
  });
});

it.each([
  [{ A: "1" }, { A: "1", SECRET: "s" }],
  [{ SLUICE_ENV: "local" }, { SLUICE_ENV: "local", SECRET: "s" }],
])(
  "the broker's own variables are those of %j and of its .dev.vars, without SLUICE_ENV of the latter",
  async (vars, expected) => {
    const config = JSON.stringify({ name: "sluice", vars });
    const directory = projectFolder({
      "wrangler.json": config,
      ".dev.vars": "SLUICE_ENV=development\nSECRET=s\n",
    });
    const broker = {
      name: "sluice",
      directory,
      configFile: join(directory, "wrangler.json"),
      userDirectory: directory,
      files: { "wrangler.json": config },
      wranglerDirectory: null,
    };
    expect(await ownVariablesOf(broker)).toEqual(expected);
  },
);
