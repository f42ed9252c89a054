import { expect, it } from "vitest";
import { alertsTrouble } from "./alerts-variables.ts";

it("alerts without a URL, or without the key that they are signed with, say what is missing", () => {
  const url = "https://hooks.example/alerts";
  const troubleOf = (alerts: object, env: object) => alertsTrouble({ ...env }, { alerts } as never);
  const signed = { url, format: "webhook" };
  expect(alertsTrouble({}, {})).toBeNull();
  expect(troubleOf(signed, { SLUICE_ALERTS_SECRET: "whsec_a" })).toBeNull();
  expect(troubleOf({ url, format: "slack" }, {})).toBeNull();
  expect(troubleOf(signed, {})).toBe("the environment variable SLUICE_ALERTS_SECRET is not set");
  expect(troubleOf({ format: "slack" }, {})).toMatch(/has no url, and .* SLUICE_ALERTS_URL is not set$/);
  expect(troubleOf({ format: "slack" }, { SLUICE_ALERTS_URL: url })).toBeNull();
  for (const unset of ["", " "]) {
    expect(troubleOf(signed, { SLUICE_ALERTS_SECRET: unset })).toBe(troubleOf(signed, {}));
    expect(troubleOf({ format: "slack" }, { SLUICE_ALERTS_URL: unset })).toBe(
      troubleOf({ format: "slack" }, {}),
    );
  }
});
