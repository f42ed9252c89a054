import { describe, expect, it } from "vitest";
import { parseCronYaml } from "./cron-yaml.ts";

const task = (lines: Record<string, unknown>) => `version: 1\ncron:\n  - ${JSON.stringify(lines)}\n`;
const GOOD = { name: "nightly", url: "/nightly", schedule: "0 23 * * *" };
const without = (key: keyof typeof GOOD) => {
  const { [key]: _, ...rest } = GOOD;
  return rest;
};
const issuesOf = (text: string) => {
  const parsed = parseCronYaml(text);
  return parsed.kind === "invalid" ? parsed.issues : [];
};

describe("cron.yaml (spec sqsd 8.1)", () => {
  it("is a list of tasks", () => {
    const text = `version: 1
cron:
  - name: "nightly"   # every night
    url: "/nightly"
    schedule: "0 23 * * *"
  - name: halfday
    url: halfday?full=1
    schedule: 0 */12 * * *
`;
    expect(parseCronYaml(text)).toEqual({
      kind: "tasks",
      tasks: [GOOD, { name: "halfday", url: "halfday?full=1", schedule: "0 */12 * * *" }],
      warnings: [],
    });
    expect(parseCronYaml("version: 1\ncron: []")).toEqual({ kind: "tasks", tasks: [], warnings: [] });
  });

  it.each([
    ["http://localhost/nightly?full=1#x", "/nightly?full=1"],
    ["HTTP://LOCALHOST:80", "/"],
    ["//localhost/nightly", "/nightly"],
    ["/http://localhost/nightly", "/http://localhost/nightly"],
    ["../nightly", "../nightly"],
  ])("has tasks at %s, which are posted to %s of the application", (url, path) => {
    expect(parseCronYaml(task({ ...GOOD, url }))).toMatchObject({ tasks: [{ ...GOOD, url: path }] });
  });

  it("warns of a sixth field, which does not count", () => {
    const schedule = "0 0 12 * * *";
    expect(parseCronYaml(task({ ...GOOD, schedule }))).toEqual({
      kind: "tasks",
      tasks: [{ ...GOOD, schedule }],
      warnings: [expect.stringContaining('of task "nightly" is ignored')],
    });
  });

  it.each([
    ["an empty file", "", "the file is empty"],
    ["a file of comments", "# nothing\n", "the file is empty"],
    ["a list", "- 1", 'should have "version" and "cron"'],
    ["no version", "cron: []", '"version" is missing'],
    ["another version", "version: 2\ncron: []", "version 2 is not known"],
    ["a version that is a text", 'version: "1"\ncron: []', 'version "1" is not known'],
    ["no cron", "version: 1", '"cron" is missing'],
    ["a cron that is no list", "version: 1\ncron: {}", "should be a list"],
    ["an entry that is no task", "version: 1\ncron: [5]", "task 1 should have"],
    ["no name", task(without("name")), 'task 1 has no "name"'],
    ["no url", task(without("url")), 'task "nightly" has no "url"'],
    ["no schedule", task(without("schedule")), 'task "nightly" has no "schedule"'],
    ["an empty name", task({ ...GOOD, name: "" }), 'task "" has no "name"'],
    ["a name that is a number", task({ ...GOOD, name: 5 }), "should be a text"],
    ["a name with a line break", task({ ...GOOD, name: "a\nb" }), "control characters"],
    ["a url elsewhere", task({ ...GOOD, url: "https://evil.example/" }), "is no path of the application"],
    [
      "a url that is another host's",
      task({ ...GOOD, url: "//evil.example/" }),
      "is no path of the application",
    ],
    ["a schedule that cannot be read", task({ ...GOOD, schedule: "@daily" }), '"@daily" has 1 fields'],
    ["YAML that is none", "version: [1", "Flow sequence"],
  ])("%s is refused", (_, text, issue) => {
    expect(issuesOf(text)).toEqual([expect.stringContaining(issue)]);
  });

  it("has no two tasks of one name", () => {
    const text = `version: 1\ncron: ${JSON.stringify([GOOD, GOOD, { ...GOOD, name: "b" }])}`;
    expect(issuesOf(text)).toEqual(['two tasks are called "nightly"']);
  });

  it("is told everything that is wrong at once", () => {
    const text = `version: 1\ncron: ${JSON.stringify([{ name: "a" }, { ...GOOD, schedule: "x" }])}`;
    expect(issuesOf(text)).toHaveLength(3);
  });
});
