import { describe, expect, it } from "vitest";
import { buildTopology } from "../topology/topology.ts";
import { readWorkerTables } from "./worker-config.ts";

/** Reads a configuration with these tables. */
function configOf(sluice: object, name = "shop") {
  return readWorkerTables(`${name}.toml`, "/shop", { name, sluice });
}

function alertsOf(alerts: object) {
  return configOf({ alerts }).alerts;
}

const DEFAULTS = {
  format: "webhook",
  deadLetters: true,
  failures: { share: 0.5, deliveries: 20 },
  stalledSeconds: 300,
};

describe("[sluice.alerts]", () => {
  it("has its defaults, and a URL that may come from a variable", () => {
    expect(alertsOf({})).toEqual(DEFAULTS);
    expect(alertsOf({ url: "https://a.example/b" })).toEqual({ url: "https://a.example/b", ...DEFAULTS });
    expect(configOf({}).alerts).toBeUndefined();
  });

  it("takes every setting, and turns each off", () => {
    expect(
      alertsOf({
        format: "slack",
        dead_letters: false,
        oldest_message: "1h",
        failures: 0,
        failures_of: 1,
        stalled: "60s",
      }),
    ).toEqual({
      format: "slack",
      deadLetters: false,
      oldestMessageSeconds: 3_600,
      failures: { share: 0, deliveries: 1 },
      stalledSeconds: 60,
    });
    expect(alertsOf({ dead_letters: false, oldest_message: "off", failures: false, stalled: false })).toEqual(
      { format: "webhook", deadLetters: false },
    );
  });

  it.each([
    [{ oldest_message: "60s" }, { oldest_message: "59s" }],
    [{ oldest_message: "14d" }, { oldest_message: "1209601s" }],
    [{ stalled: "1m" }, { stalled: "0m" }],
    [{ failures: 0 }, { failures: -0.01 }],
    [{ failures: 0.99 }, { failures: 1 }],
    [{ failures_of: 1 }, { failures_of: 0 }],
    [{ failures_of: 1_000 }, { failures_of: 1_001 }],
    [{ failures_of: 2 }, { failures_of: 2.5 }],
    [{ url: "http://a.example" }, { url: "ftp://a.example" }],
    [{ url: "https://a.example" }, { url: "https://user:pass@a.example" }],
    [{ format: "slack" }, { format: "mail" }],
    [
      { failures: 0.1, failures_of: 5 },
      { failures: false, failures_of: 5 },
    ],
    [{}, { secret: "whsec_a" }],
  ])("takes %j and refuses %j, by the key", (good, bad) => {
    expect(() => alertsOf(good)).not.toThrow();
    const [key] = Object.keys(bad).slice(-1);
    expect(() => alertsOf(bad)).toThrow(key === "secret" ? /sluice\.alerts/ : `sluice.alerts.${key}`);
  });

  it("may stand in several files if it is the same", () => {
    const same = [configOf({ alerts: { stalled: "off" } }), configOf({ alerts: { stalled: false } }, "mail")];
    expect(buildTopology(same).alerts).toEqual({ ...DEFAULTS, stalledSeconds: undefined });
    const other = [...same, configOf({ alerts: {} }, "third")];
    expect(() => buildTopology(other)).toThrow(
      /two \[sluice\.alerts\] tables that differ: one is in shop\.toml/,
    );
    expect(buildTopology([configOf({})])).not.toHaveProperty("alerts");
  });
});

describe("alerts_silent_until", () => {
  const until = (value: unknown) =>
    configOf({ queues: { orders: { alerts_silent_until: value } } }).queueSettings.orders
      ?.alertsSilentUntilMs;

  it("is a time with its zone, as a text or as TOML has it", () => {
    const ms = Date.UTC(2026, 11, 24, 18);
    expect(until("2026-12-24T18:00:00Z")).toBe(ms);
    expect(until("2026-12-24T19:00:00+01:00")).toBe(ms);
    expect(until(new Date(ms))).toBe(ms);
  });

  it.each(["2026-12-24", "tomorrow", "2026-13-24T18:00:00Z", "2026-02-30T18:00:00Z", 5])(
    "is not %j",
    (value) => {
      expect(() => until(value)).toThrow("alerts_silent_until");
    },
  );
});
