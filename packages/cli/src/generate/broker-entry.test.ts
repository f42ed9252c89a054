import { expect, it } from "vitest";
import { brokerEntrySource, readyBrokerSource } from "./broker-entry.ts";

const CONSUMERS = [{ worker: "mail", binding: "CONSUMER_MAIL" }];

it("a ready broker is told its mark, its queues and its consumers, and stack traces find its source map", () => {
  const topology = { queues: { mails: {} } } as never;
  const code = "globalThis.given = sluiceOptions();";
  const source = readyBrokerSource(
    { code, map: "/sluice/broker.js.map", paint: (text) => `*${text}*` },
    "sluice",
    topology,
    CONSUMERS,
  );
  new Function(source)();
  expect(Reflect.get(globalThis, "given")).toEqual({
    ...{ mark: "*[sluice]*", topology },
    consumers: { mail: "CONSUMER_MAIL" },
  });
  Reflect.deleteProperty(globalThis, "given");
  expect(source.startsWith(code)).toBe(true);
  expect(source.trimEnd().split("\n").at(-1)).toBe("//# sourceMappingURL=/sluice/broker.js.map");
});

it("a broker that is to be bundled imports its code, its queues and the page", () => {
  const source = brokerEntrySource(CONSUMERS, "../runtime/broker.js");
  expect(source).toContain('import { defineBroker } from "../runtime/broker.js";');
  expect(source).toContain('defineBroker({ topology, consumers: {"mail":"CONSUMER_MAIL"}, page })');
});
