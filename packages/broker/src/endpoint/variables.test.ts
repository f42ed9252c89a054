import type { QueueTopology } from "@sluice/protocol";
import { expect, it } from "vitest";
import { endpointVariablesOf } from "./variables.ts";

const settings = {
  url: "https://shop.example/tasks",
  signingSecret: "UNSET",
  headers: { A: "$KEY", B: "$SLUICE_API_TOKENS", C: "$BINDING" },
};
const topology = {
  queues: { orders: { consumer: { type: "http_push", settings } } },
} as unknown as QueueTopology;
const env = { KEY: "k", OTHER: "o", SLUICE_API_TOKENS: "secret", BINDING: {} };
const find = endpointVariablesOf(env, topology);

it("a variable that the configuration names for an endpoint has its value there", () => {
  expect(find("KEY", settings.url)).toEqual({ value: "k" });
  expect(find("KEY", "https://shop.example/other?page=1")).toEqual({ value: "k" });
});

it.each([
  ["KEY", "https://evil.example/tasks", /^no configuration names the environment variable KEY/],
  ["OTHER", settings.url, /^no configuration names the environment variable OTHER/],
  ["constructor", settings.url, /^no configuration names/],
  ["SLUICE_API_TOKENS", settings.url, /^the variable SLUICE_API_TOKENS is the broker's own/],
  ["UNSET", settings.url, /^the environment variable UNSET is not set$/],
  ["BINDING", settings.url, /^the environment variable BINDING is not set$/],
])("%s has no value for an endpoint at %s", (name, url, refusal) => {
  expect(find(name, url)).toEqual({ refusal: expect.stringMatching(refusal) });
});

it("the key of alerts has its value for their webhook alone, whose URL a variable may have", () => {
  const url = "https://hooks.example/alerts";
  const alerts = { ...topology, alerts: { url, format: "webhook", deadLetters: true } } as const;
  const withKey = { ...env, SLUICE_ALERTS_SECRET: "whsec_a" };
  const refusal = expect.stringMatching(/is the broker's own, and is never sent$/);
  const ofFile = endpointVariablesOf(withKey, alerts);
  expect(ofFile("SLUICE_ALERTS_SECRET", url)).toEqual({ value: "whsec_a" });
  expect(ofFile("SLUICE_ALERTS_SECRET", "https://hooks.example/other")).toEqual({ refusal });
  expect(ofFile("SLUICE_API_TOKENS", url)).toEqual({ refusal });
  expect(endpointVariablesOf(env, alerts)("SLUICE_ALERTS_SECRET", url)).toEqual({
    refusal: "the environment variable SLUICE_ALERTS_SECRET is not set",
  });
  const ofVariable = endpointVariablesOf({ ...withKey, SLUICE_ALERTS_URL: "https://other.example/" }, alerts);
  expect(ofVariable("SLUICE_ALERTS_SECRET", url)).toEqual({ refusal });
  expect(ofVariable("SLUICE_ALERTS_SECRET", "https://other.example/")).toEqual({ value: "whsec_a" });
  expect(endpointVariablesOf(withKey, topology)("SLUICE_ALERTS_SECRET", url)).toEqual({ refusal });
});
