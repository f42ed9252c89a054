import { expect, it } from "vitest";
import { endpointVariables } from "./endpoint-variables.ts";
import type { ConsumerDefinition, HttpPushSettings, QueueTopology } from "./topology.ts";

function topologyOf(...endpoints: Partial<HttpPushSettings>[]): QueueTopology {
  const queues = endpoints.map((settings, i) => {
    const consumer = { type: "http_push", settings } as unknown as ConsumerDefinition;
    return [
      `q${i}`,
      { deliveryDelaySeconds: 0, messageRetentionSeconds: 60, producers: [], consumer },
    ] as const;
  });
  return { queues: Object.fromEntries(queues) };
}

const SHOP = {
  url: "https://shop.example/tasks",
  signingSecret: "KEY",
  headers: { A: "$TOKEN", B: "plain" },
};
const MAIL = { url: "https://mail.example/", headers: { A: "$TOKEN", B: "$ANOTHER" } };

it("variables are those that endpoints of the configuration ask for, each once", () => {
  expect(endpointVariables(topologyOf(SHOP, MAIL))).toEqual(["ANOTHER", "KEY", "TOKEN"]);
});

it("variables of a URL are those that endpoints of the same origin ask for", () => {
  const topology = topologyOf(SHOP, MAIL);
  expect(endpointVariables(topology, "https://shop.example/elsewhere")).toEqual(["KEY", "TOKEN"]);
  for (const url of [
    "https://evil.example/tasks",
    "http://shop.example/",
    "https://shop.example:444/",
    "x",
  ]) {
    expect(endpointVariables(topology, url)).toEqual([]);
  }
});

it("the broker's own settings are never variables of an endpoint", () => {
  const own = {
    url: SHOP.url,
    signingSecret: "SLUICE_API_TOKENS",
    headers: { A: "$SLUICE_AWS_ACCESS_KEYS" },
  };
  expect(endpointVariables(topologyOf(own))).toEqual([]);
});
