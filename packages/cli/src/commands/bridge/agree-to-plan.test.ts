import { expect, it } from "vitest";
import type { OnBroker } from "../on-broker.ts";
import { agreeToPlan } from "./agree-to-plan.ts";
import type { Plan } from "./plan.ts";

const PLAN: Plan = {
  from: "here",
  to: "there",
  settings: {},
  differences: [],
  notCopied: [],
  backlog: { waiting: 1, inFlight: null, delayed: null },
  notes: [],
  steps: ["move"],
  refusal: null,
};

it.each([
  [{ json: false, yes: false }, "out"],
  [{ json: true, yes: false }, "err"],
  [{ json: true, yes: true }, null],
])("a plan is shown before the question, beside the data: %j", async ({ json, yes }, stream) => {
  const shown: [string, string][] = [];
  const on = {
    json,
    printer: {
      print: (text: string) => shown.push(["out", text]),
      warn: (text: string) => shown.push(["err", text]),
    },
    surroundings: {
      isInteractive: true,
      ask: async (question: string) => {
        shown.push(["asked", question]);
        return "y";
      },
    },
  } as unknown as OnBroker;
  expect(await agreeToPlan(on, PLAN, { dryRun: false, yes })).toBe(true);
  const asked = yes ? [] : ["asked"];
  expect(shown.map(([to]) => to)).toEqual(stream === null ? asked : [stream, ...asked]);
});
