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
    expect(wranglerEnvironment({ PATH: "/bin" }, "localhost")).toEqual({
      PATH: "/bin",
      X_LOCAL_OBSERVABILITY: "false",
      WRANGLER_SEND_METRICS: "false",
    });
    const given = { X_LOCAL_OBSERVABILITY: "true", WRANGLER_SEND_METRICS: "true" };
    expect(wranglerEnvironment(given, "127.0.0.1")).toEqual(given);
  });

  it("names no environment: the generated configurations have none left to choose from", () => {
    expect(wranglerEnvironment({ CLOUDFLARE_ENV: "staging" }, "::1")).not.toHaveProperty("CLOUDFLARE_ENV");
  });

  it.each(["0.0.0.0", "::", "192.168.1.2", "*", ""])(
    "turns the Local Explorer off on %j, whatever the user has said",
    (host) => {
      for (const given of [{}, { X_LOCAL_EXPLORER: "true" }]) {
        expect(wranglerEnvironment(given, host)).toMatchObject({ X_LOCAL_EXPLORER: "false" });
      }
    },
  );

  it("leaves the Local Explorer as the user has it on loopback", () => {
    expect(wranglerEnvironment({}, "localhost")).not.toHaveProperty("X_LOCAL_EXPLORER");
    expect(wranglerEnvironment({ X_LOCAL_EXPLORER: "false" }, "localhost").X_LOCAL_EXPLORER).toBe("false");
  });
});
