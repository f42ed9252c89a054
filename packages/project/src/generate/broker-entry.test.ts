import { expect, it } from "vitest";
import { brokerEntrySource, readyBrokerParts } from "./broker-entry.ts";

const CONSUMERS = [{ worker: "mail", binding: "CONSUMER_MAIL" }];

it("a bundled broker gets its mark, its queues, its consumers and its source map", () => {
  const { module, entry, vars } = readyBrokerParts(
    { code: "export function readyBroker() {}", map: "/sluice/broker.js.map", paint: (text) => `*${text}*` },
    "sluice",
    { queues: {} } as never,
    CONSUMERS,
  );
  expect(module).toBe("export function readyBroker() {}\n//# sourceMappingURL=/sluice/broker.js.map\n");
  expect(entry).toContain('import { readyBroker } from "./sluice-broker.js";');
  expect(entry).toContain("readyBroker(JSON.parse(env.SLUICE_BROKER_OPTIONS))");
  expect(JSON.parse(vars.SLUICE_BROKER_OPTIONS ?? "")).toEqual({
    mark: "*[sluice]*",
    topology: { queues: {} },
    consumers: { mail: "CONSUMER_MAIL" },
  });
  expect(entry).toMatch(/export default broker\.handler;\n$/);
});

it("a bundled broker has the same sources whatever its queues and consumers are", () => {
  const ready = { code: "export function readyBroker() {}", map: null, paint: (text: string) => text };
  const [before, after] = [[], CONSUMERS].map((consumers) =>
    readyBrokerParts(ready, "sluice", { queues: { [`${consumers.length}`]: {} } } as never, consumers),
  );
  expect({ ...before, vars: null }).toEqual({ ...after, vars: null });
  expect(before?.vars).not.toEqual(after?.vars);
});

it("an unbundled broker imports its code, its queues and the page", () => {
  const source = brokerEntrySource(CONSUMERS, "../runtime/broker.js");
  expect(source).toContain('import { defineBroker } from "../runtime/broker.js";');
  expect(source).toContain('defineBroker({ topology, consumers: {"mail":"CONSUMER_MAIL"}, page })');
});
