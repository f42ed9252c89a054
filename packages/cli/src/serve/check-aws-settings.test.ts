import { expect, it } from "vitest";
import { CliError } from "../errors.ts";
import { checkAwsSettings } from "./check-aws-settings.ts";

it.each([
  {},
  { SLUICE_AWS_ACCESS_KEYS: "", SLUICE_AWS_ACCOUNT_ID: "" },
  { SLUICE_AWS_ACCESS_KEYS: "A:one,B:two", SLUICE_AWS_ACCOUNT_ID: "123456789012" },
])("takes settings that the broker can use: %j", (variables) => {
  checkAwsSettings(variables);
});

it.each([
  [
    { SLUICE_AWS_ACCESS_KEYS: "A:one,B" },
    "SLUICE_AWS_ACCESS_KEYS must be KEY:SECRET, several of them separated by commas.",
  ],
  [{ SLUICE_AWS_ACCOUNT_ID: "42" }, "SLUICE_AWS_ACCOUNT_ID must have twelve digits."],
])("refuses %j and does not repeat a secret", (variables, message) => {
  expect(() => checkAwsSettings(variables)).toThrow(new CliError(message));
});
