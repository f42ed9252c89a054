import { expect, it } from "vitest";
import { parseSqsdOptions, SQSD_RANGES, type SqsdOptions } from "./options.ts";

function optionsOf(raw: Record<string, unknown>, hasDeadLetterQueue = true): SqsdOptions {
  const parsed = parseSqsdOptions(raw, hasDeadLetterQueue);
  if (parsed.kind === "invalid") throw new Error(JSON.stringify(parsed.issues));
  return parsed.options;
}

function issuesOf(raw: Record<string, unknown>): string[] {
  const parsed = parseSqsdOptions(raw, true);
  return parsed.kind === "invalid" ? parsed.issues.map((issue) => `${issue.option} ${issue.message}`) : [];
}

function warningsOf(raw: Record<string, unknown>, hasDeadLetterQueue = true): string[] {
  const parsed = parseSqsdOptions(raw, hasDeadLetterQueue);
  return parsed.kind === "options" ? parsed.warnings.map(({ option }) => option) : [];
}

it("options of the worker daemon (spec sqsd 2) have Elastic Beanstalk's defaults; ErrorVisibilityTimeout has none", () => {
  expect(optionsOf({})).toEqual({
    HttpPath: null,
    MimeType: "application/json",
    HttpConnections: 50,
    ConnectTimeout: 5,
    InactivityTimeout: 299,
    VisibilityTimeout: 300,
    ErrorVisibilityTimeout: null,
    RetentionPeriod: 345_600,
    MaxRetries: 10,
  });
  expect(warningsOf({})).toEqual([]);
});

it.each(Object.entries(SQSD_RANGES))(
  "options of the worker daemon (spec sqsd 2) %s has a range",
  (option, [min, max]) => {
    for (const value of [min, min + 1, max - 1, max, String(max)]) {
      expect(optionsOf({ [option]: value })).toHaveProperty(option, Number(value));
    }
    for (const value of [min - 1, max + 1, min + 0.5, "many", "", null, true]) {
      expect(issuesOf({ [option]: value })).toEqual([
        `${option} should be a whole number from ${min} to ${max} but is ${JSON.stringify(value)}`,
      ]);
    }
  },
);

it("options of the worker daemon (spec sqsd 2) take 0 for a value, not for the absence of one", () => {
  expect(optionsOf({ ErrorVisibilityTimeout: 0 }).ErrorVisibilityTimeout).toBe(0);
});

it.each([
  [300, 299],
  [100, 99],
  [1, 1],
  [0, 1],
  [600, 299],
])(
  "options of the worker daemon (spec sqsd 2) with VisibilityTimeout %i wait %i s for an answer",
  (VisibilityTimeout, InactivityTimeout) => {
    expect(optionsOf({ VisibilityTimeout }).InactivityTimeout).toBe(InactivityTimeout);
  },
);

it("options of the worker daemon (spec sqsd 2) have a path that begins with a slash, and any media type", () => {
  expect(optionsOf({ HttpPath: "jobs?x=1" }).HttpPath).toBe("/jobs?x=1");
  expect(optionsOf({ MimeType: "application/vnd.shop+xml" }).MimeType).toBe("application/vnd.shop+xml");
  for (const option of ["HttpPath", "MimeType"]) {
    expect(issuesOf({ [option]: "a\r\nb" })).toHaveLength(1);
    expect(issuesOf({ [option]: 5 })).toHaveLength(1);
  }
});

it("options of the worker daemon (spec sqsd 2) are told all at once what is wrong with them", () => {
  expect(issuesOf({ HttpConnections: 0, MaxRetries: 101, Timeout: 5 })).toEqual([
    "Timeout is no option of the worker daemon: those are HttpPath, MimeType, HttpConnections, ConnectTimeout, " +
      "InactivityTimeout, VisibilityTimeout, ErrorVisibilityTimeout, RetentionPeriod, MaxRetries",
    "HttpConnections should be a whole number from 1 to 100 but is 0",
    "MaxRetries should be a whole number from 1 to 100 but is 101",
  ]);
});

it("options of the worker daemon (spec sqsd 2) are warned of what AWS takes as well", () => {
  expect(warningsOf({ InactivityTimeout: 300, VisibilityTimeout: 300 })).toEqual(["InactivityTimeout"]);
  expect(warningsOf({ InactivityTimeout: 299, VisibilityTimeout: 300 })).toEqual([]);
  expect(warningsOf({ VisibilityTimeout: 0 })).toEqual(["VisibilityTimeout"]);
  expect(warningsOf({ MaxRetries: 5 }, false)).toEqual(["MaxRetries"]);
  expect(warningsOf({}, false)).toEqual([]);
});
