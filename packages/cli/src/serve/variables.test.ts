import { describe, expect, it } from "vitest";
import { admit, brokerVariables, isLoopback } from "./variables.ts";

describe("the broker's variables", () => {
  it("let everybody who reaches an address of this machine alone use the broker", () => {
    expect(brokerVariables({}, {}, "127.0.0.1")).toEqual({ SLUICE_ENV: "local" });
  });

  it("leave the broker closed on an address that other machines reach", () => {
    expect(brokerVariables({}, {}, "0.0.0.0")).toEqual({});
  });

  it("are the configuration's own where it has some, and the environment's before those", () => {
    const own = { SLUICE_ENV: "development", SLUICE_API_TOKENS: "a", OTHER: 1 };
    const env = { SLUICE_API_TOKENS: "b", SLUICE_ALLOWED_HOSTS: "queues.example.com", PATH: "/bin" };
    expect(brokerVariables(own, env, "127.0.0.1")).toEqual({
      SLUICE_ENV: "development",
      SLUICE_API_TOKENS: "b",
      SLUICE_ALLOWED_HOSTS: "queues.example.com",
      OTHER: 1,
    });
    expect(brokerVariables(own, { SLUICE_ENV: "" }, "127.0.0.1")).toEqual(own);
    expect(brokerVariables({}, { SLUICE_ENV: "local" }, "::")).toEqual({ SLUICE_ENV: "local" });
  });

  it.each(["127.0.0.1", "127.1.2.3", "localhost", "::1"])("count %s as this machine's alone", (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(["0.0.0.0", "::", "192.168.1.2", "127.0.0.1.example.com", "*"])(
    "count %s as everybody's",
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});

describe("the broker's admin API", () => {
  it.each([{ SLUICE_ENV: "local" }, { SLUICE_ENV: "development", SLUICE_API_TOKENS: " " }])(
    "is used without a token where it is open to everybody: %o",
    (vars) => {
      expect(admit(vars, "own")).toEqual({ vars, headers: {} });
    },
  );

  it.each([
    [{}, ",own"],
    [{ SLUICE_API_TOKENS: "a,b", SLUICE_ENV: "local" }, "a,b,own"],
    [{ SLUICE_ENV: "production" }, ",own"],
  ])("lets this process in by a token of its own where it is not: %o", (vars, tokens) => {
    expect(admit(vars, "own")).toEqual({
      vars: { ...vars, SLUICE_API_TOKENS: tokens },
      headers: { authorization: "Bearer own" },
    });
  });
});
