import { describe, expect, test } from "vitest";
import { diagnosticsOf, readToml } from "../../test/project.ts";
import { buildTopology } from "../index.ts";

const queue = (line: string) => `name = "w"\n[sluice.queues.q]\n${line}`;

describe("history, in [sluice.queues.NAME]", () => {
  test.each([
    [`"1m"`, 60],
    [`"90s"`, 90],
    [`"1h"`, 3_600],
    [`"14d"`, 1_209_600],
    [`"off"`, 0],
    ["false", 0],
  ])("%s is %i seconds", (value, historySeconds) => {
    const config = readToml(queue(`history = ${value}`));
    expect(buildTopology([config]).queues.q).toMatchObject({ historySeconds });
  });

  test("is not in the topology where no file names it", () => {
    expect(buildTopology([readToml(queue("delivery_delay = 1"))]).queues.q).not.toHaveProperty(
      "historySeconds",
    );
  });

  test.each([`"59s"`, `"1209601s"`, `"15d"`, `"1 h"`, `""`, `"on"`, "true", "3600"])(
    "%s is refused",
    (value) => {
      const text = 'should be a time from "1m" to "14d", as in "90s" or "1h", or "off"';
      const [refusal] = diagnosticsOf(() => readToml(queue(`history = ${value}`)));
      expect(refusal).toMatchObject({ line: 3, key: "sluice.queues.q.history" });
      expect(refusal?.text).toBe(`The field "sluice.queues.q.history" ${text} but got ${value}.`);
    },
  );
});

describe("logs, in [sluice.queues.NAME]", () => {
  test.each([true, false])("%s is in the topology", (logs) => {
    expect(buildTopology([readToml(queue(`logs = ${logs}`))]).queues.q).toMatchObject({ logs });
  });

  test("is not in the topology where no file names it", () => {
    expect(buildTopology([readToml(queue("delivery_delay = 1"))]).queues.q).not.toHaveProperty("logs");
  });

  test.each([`"1h"`, "1"])("%s is refused", (value) => {
    const [refusal] = diagnosticsOf(() => readToml(queue(`logs = ${value}`)));
    expect(refusal).toMatchObject({ line: 3, key: "sluice.queues.q.logs" });
    expect(refusal?.text).toBe(`The field "sluice.queues.q.logs" should be true or false but got ${value}.`);
  });
});

describe("finished, in [sluice.queues.NAME]", () => {
  test.each([0, 1, 1_000])("%i is a number of messages", (finishedMessages) => {
    const config = readToml(queue(`finished = ${finishedMessages}`));
    expect(buildTopology([config]).queues.q).toMatchObject({ finishedMessages });
  });

  test("is not in the topology where no file names it", () => {
    expect(buildTopology([readToml(queue(`history = "1h"`))]).queues.q).not.toHaveProperty(
      "finishedMessages",
    );
  });

  test.each([
    ["-1", "should be a whole number of messages from 0 to 1000 but got -1."],
    ["1001", "should be a whole number of messages from 0 to 1000 but got 1001."],
    ["1.5", "should be a whole number of messages from 0 to 1000 but got 1.5."],
    [`"1h"`, `should be a number but got "1h".`],
    ["true", "should be a number but got true."],
  ])("%s is refused", (value, text) => {
    const [refusal] = diagnosticsOf(() => readToml(queue(`finished = ${value}`)));
    expect(refusal).toMatchObject({ line: 3, key: "sluice.queues.q.finished" });
    expect(refusal?.text).toBe(`The field "sluice.queues.q.finished" ${text}`);
  });
});
