import { expect, it } from "vitest";
import { exposition, type MetricFamily } from "./exposition.ts";

const family = (changes: Partial<MetricFamily>): MetricFamily => ({
  name: "queue_messages",
  help: "Messages.",
  type: "gauge",
  samples: [{ labels: { queue: "a" }, value: 1 }],
  ...changes,
});

it("writes each family under its help and type, and ends the last line too", () => {
  const samples = [
    { labels: { queue: "a", state: "ready" }, value: 1.5 },
    { labels: { queue: "b", state: "ready" }, value: 0 },
  ];
  expect(exposition([family({ samples }), family({ name: "rows_total", type: "counter" })])).toBe(
    [
      "# HELP queue_messages Messages.",
      "# TYPE queue_messages gauge",
      'queue_messages{queue="a",state="ready"} 1.5',
      'queue_messages{queue="b",state="ready"} 0',
      "# HELP rows_total Messages.",
      "# TYPE rows_total counter",
      'rows_total{queue="a"} 1',
      "",
    ].join("\n"),
  );
});

it("writes a number that is not one of many without labels", () => {
  expect(exposition([family({ samples: [{ labels: {}, value: 3 }] })])).toContain("\nqueue_messages 3\n");
});

it("leaves families out that nothing is known of", () => {
  expect(exposition([family({ samples: [] })])).toBe("");
});

it("escapes what would end a label's value", () => {
  expect(exposition([family({ samples: [{ labels: { queue: 'a"b\\c\nd' }, value: 1 }] })])).toContain(
    '{queue="a\\"b\\\\c\\nd"} 1',
  );
});
