import { describe, expect, it } from "vitest";
import { chosenEnvironment, wranglerEnvironment } from "./environment.ts";

describe("chosenEnvironment", () => {
  it.each([
    ["staging", "production", "staging"],
    [undefined, "production", "production"],
    ["", "production", ""],
    [undefined, undefined, ""],
  ])("of --env %s and CLOUDFLARE_ENV %s is %j", (option, variable, expected) => {
    expect(chosenEnvironment(option, variable === undefined ? {} : { CLOUDFLARE_ENV: variable })).toBe(
      expected,
    );
  });
});

describe("wranglerEnvironment", () => {
  it("turns local observability and telemetry off unless the user has said something", () => {
    expect(wranglerEnvironment({ PATH: "/bin" })).toEqual({
      PATH: "/bin",
      X_LOCAL_OBSERVABILITY: "false",
      WRANGLER_SEND_METRICS: "false",
    });
    const said = { X_LOCAL_OBSERVABILITY: "true", WRANGLER_SEND_METRICS: "true" };
    expect(wranglerEnvironment(said)).toEqual(said);
  });

  it("names no environment: the generated configurations have none left to choose from", () => {
    expect(wranglerEnvironment({ CLOUDFLARE_ENV: "staging" })).not.toHaveProperty("CLOUDFLARE_ENV");
  });
});
