import { describe, expect, test } from "vitest";
import { diagnosticsOf, errorsOf, readToml } from "../../test/project.ts";
import { buildTopology } from "../index.ts";

const queue = (name: string, lines: string) => `name = "w"\n[sluice.queues."${name}"]\n${lines}`;

describe("what SQS has words for, in [sluice.queues.NAME]", () => {
  test("sets what receivers find, and where messages go that were received too often", () => {
    const config = readToml(
      queue(
        "orders",
        `visibility_timeout = 60\nreceive_wait_time = 20\nredrive = { dead_letter_queue = "dead", ` +
          "max_receive_count = 5 }",
      ),
    );
    expect(buildTopology([config]).queues).toEqual({
      orders: expect.objectContaining({
        receive: {
          visibilityTimeoutMs: 60_000,
          waitMs: 20_000,
          redrive: { deadLetterQueue: "dead", maxReceiveCount: 5 },
        },
      }),
      dead: expect.not.objectContaining({ receive: expect.anything() }),
    });
  });

  test.each([
    ["visibility_timeout", 0, 43_200, "seconds"],
    ["receive_wait_time", 0, 20, "seconds"],
    ["redrive.max_receive_count", 1, 1_000, "receives"],
  ])("%s has a range", (key, min, max, unit) => {
    const toml = (value: number) => {
      const other = key.startsWith("redrive") ? `\nredrive.dead_letter_queue = "dead"` : "";
      return queue("q", `${key} = ${value}${other}`);
    };
    for (const value of [min, min + 1, max - 1, max]) {
      expect(readToml(toml(value)).warnings).toEqual([]);
    }
    for (const value of [min - 1, min + 0.5, max + 1]) {
      expect(diagnosticsOf(() => readToml(toml(value)))).toMatchObject([
        {
          line: 3,
          key: `sluice.queues.q.${key}`,
          text:
            `The field "sluice.queues.q.${key}" should be a whole number of ${unit} from ${min} to ${max} ` +
            `but got ${value}.`,
        },
      ]);
    }
  });

  test.each([
    [
      `visibility_timeout = "5"`,
      `The field "sluice.queues.q.visibility_timeout" should be a number but got "5".`,
    ],
    [`fifo = 1`, `The field "sluice.queues.q.fifo" should be true or false but got 1.`],
    [`redrive = 5`, `The field "sluice.queues.q.redrive" should be an object but got 5.`],
    [
      `redrive = { max_receive_count = 5 }`,
      `The field "sluice.queues.q.redrive.dead_letter_queue" should be a string but got undefined.`,
    ],
    [
      `redrive = { dead_letter_queue = "d", max_receive_count = 5, count = 1 }`,
      `Unknown key "count" in "sluice.queues.q.redrive".`,
    ],
  ])("refuses %s", (line, text) => {
    expect(errorsOf(() => readToml(queue("q", line)))).toEqual([text]);
  });
});

describe("a FIFO queue", () => {
  test("is one whose name ends in .fifo, in any table", () => {
    const config = readToml(
      `name = "w"\n[[queues.producers]]\nbinding = "Q"\nqueue = ` +
        `"orders.fifo"\n[[queues.consumers]]\nqueue = "orders.fifo"`,
    );
    expect(buildTopology([config]).queues["orders.fifo"]).toMatchObject({
      fifo: {},
      producers: [{ worker: "w", binding: "Q" }],
      consumer: { type: "worker", worker: "w" },
    });
    expect(buildTopology([readToml(queue("orders", ""))]).queues.orders).not.toHaveProperty("fifo");
  });

  test("has keys of its own", () => {
    const lines = `fifo = true\ncontent_based_deduplication = true\ndeduplication_scope = "messageGroup"`;
    expect(buildTopology([readToml(queue("q.fifo", lines))]).queues["q.fifo"]?.fifo).toEqual({
      contentBasedDeduplication: true,
      deduplicationScope: "messageGroup",
    });
  });

  test.each([
    ["q", "fifo = true", `should be false: a queue is a FIFO queue if its name ends in ".fifo".`],
    ["q.fifo", "fifo = false", `should be true: a queue is a FIFO queue if its name ends in ".fifo".`],
    ["q", "content_based_deduplication = false", `is for FIFO queues alone, whose names end in ".fifo".`],
    ["q", `deduplication_scope = "queue"`, `is for FIFO queues alone, whose names end in ".fifo".`],
    ["q.fifo", `deduplication_scope = "group"`, `should be "queue" or "messageGroup" but got "group".`],
    [
      "q.fifo",
      `redrive = { dead_letter_queue = "dead", max_receive_count = 1 }`,
      `The dead-letter queue of a FIFO queue should be one too, but "dead" is not`,
    ],
    [
      "q",
      `redrive = { dead_letter_queue = "dead.fifo", max_receive_count = 1 }`,
      `The dead-letter queue of a standard queue should be one too, but "dead.fifo" is not`,
    ],
    [".fifo", "", "Invalid queue name: invalid queue name: .fifo."],
    ["Q.fifo", "", "Invalid queue name: invalid queue name: Q.fifo."],
    ["q.fifo.fifo", "", "Invalid queue name: invalid queue name: q.fifo.fifo."],
  ])("%s with %s is refused", (name, line, text) => {
    expect(errorsOf(() => readToml(queue(name, line)))).toEqual([expect.stringContaining(text)]);
  });
});

describe("redrive policies of several queues", () => {
  const redrive = (from: string, to: string) =>
    `[sluice.queues.${from}]\nredrive = { dead_letter_queue = "${to}", max_receive_count = 1 }\n`;

  test("may not send dead letters in a circle, not together with consumers either", () => {
    const circle = `name = "w"\n${redrive("a", "b")}${redrive("b", "a")}`;
    expect(errorsOf(() => buildTopology([readToml(circle)]))).toEqual([
      `Dead letters go in a circle: "a" -> "b" -> "a"`,
    ]);
    const mixed = `name = "w"\n[[queues.consumers]]\nqueue = "b"\ndead_letter_queue = "a"\n${redrive("a", "b")}`;
    expect(errorsOf(() => buildTopology([readToml(mixed)]))).toHaveLength(1);
    expect(errorsOf(() => buildTopology([readToml(`name = "w"\n${redrive("a", "a")}`)]))).toEqual([
      `Dead letter queue for queue "a" cannot be itself`,
    ]);
    const chain = `name = "w"\n${redrive("a", "b")}${redrive("b", "c")}`;
    expect(Object.keys(buildTopology([readToml(chain)]).queues)).toEqual(["a", "b", "c"]);
  });
});
