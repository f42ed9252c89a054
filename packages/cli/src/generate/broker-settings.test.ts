import type { HttpPushSettings, QueueTopology } from "@sluice/protocol";
import { expect, it } from "vitest";
import { devVarsFile, endpointVariables, setVariables } from "./broker-settings.ts";

const queue = (settings: Partial<HttpPushSettings> | null) => ({
  deliveryDelaySeconds: 0,
  messageRetentionSeconds: 60,
  producers: [],
  consumer: settings === null ? null : { type: "http_push", settings },
});

it("the broker is given the variables that its endpoints are called with, each once", () => {
  const topology = {
    queues: {
      a: queue({ signingSecret: "KEY", headers: { authorization: "$TOKEN", plain: "text" } }),
      b: queue({ headers: { authorization: "$TOKEN", other: "$ANOTHER" } }),
      c: queue({}),
      d: queue(null),
    },
  } as unknown as QueueTopology;
  expect(endpointVariables(topology)).toEqual(["ANOTHER", "KEY", "TOKEN"]);
});

it("a variable that is not set, or to nothing, is not handed on", () => {
  expect(setVariables(["A", "B", "C"], { A: "1", B: "", D: "4" })).toEqual({ A: "1" });
});

it("a file of variables keeps every value as it is", () => {
  expect(devVarsFile({ A: '$B "c" #d', B: "it's", C: "two\nlines" })).toBe(
    `A='$B "c" #d'\nB="it's"\nC="two\\nlines"\n`,
  );
});
