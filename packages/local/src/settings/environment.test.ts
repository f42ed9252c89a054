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
  it("turns telemetry off unless the user has said something, and leaves observability to Wrangler", () => {
    expect(wranglerEnvironment({ PATH: "/bin" })).toEqual({ PATH: "/bin", WRANGLER_SEND_METRICS: "false" });
    const given = { X_LOCAL_OBSERVABILITY: "false", WRANGLER_SEND_METRICS: "true" };
    expect(wranglerEnvironment(given, { host: "127.0.0.1", observability: true })).toEqual(given);
  });

  it.each([{ observability: false }, { host: "0.0.0.0" }, { host: "", observability: true }])(
    "has nothing traced with %j, whatever the user has said",
    (settings) => {
      expect(wranglerEnvironment({ X_LOCAL_OBSERVABILITY: "true" }, settings)).toMatchObject({
        X_LOCAL_OBSERVABILITY: "false",
      });
    },
  );

  it("names no environment: the generated configurations have none left to choose from", () => {
    expect(wranglerEnvironment({ CLOUDFLARE_ENV: "staging" }, { host: "::1" })).not.toHaveProperty(
      "CLOUDFLARE_ENV",
    );
  });

  it.each(["0.0.0.0", "::", "192.168.1.2", "*", ""])(
    "turns the Local Explorer off on %j, whatever the user has said",
    (host) => {
      for (const given of [{}, { X_LOCAL_EXPLORER: "true" }]) {
        expect(wranglerEnvironment(given, { host })).toMatchObject({ X_LOCAL_EXPLORER: "false" });
      }
    },
  );

  it("leaves the Local Explorer as the user has it on loopback", () => {
    expect(wranglerEnvironment({}, { host: "localhost" })).not.toHaveProperty("X_LOCAL_EXPLORER");
    expect(wranglerEnvironment({ X_LOCAL_EXPLORER: "false" }).X_LOCAL_EXPLORER).toBe("false");
  });
});
