import { describe, expect, it } from "vitest";
import { queueView, topicView, workerConsumer } from "../../test/views.ts";
import { layOutMap } from "./map-layout.ts";

const NEWS = "arn:aws:sns:us-east-1:000000000000:news";

const SHOP = [
  queueView({
    name: "orders",
    producers: [{ worker: "shop", binding: "ORDERS" }],
    consumer: workerConsumer("mailer", "dead"),
  }),
  queueView({ name: "bills", producers: [{ worker: "shop", binding: "BILLS" }], topics: [NEWS] }),
  queueView({ name: "dead" }),
];

describe("the map", () => {
  it("has senders, queues, consumers and dead-letter queues in columns, and a line for each way", () => {
    const { nodes, edges } = layOutMap(SHOP, [topicView({ arn: NEWS, name: "news" })]);
    const columnOf = new Map(nodes.map(({ key, x }) => [key, x]));
    const columns = [...new Set(columnOf.values())].sort((a, b) => a - b);
    expect(columns).toHaveLength(4);
    expect(
      ["sender shop", "queue orders", "consumer mailer", "queue dead"].map((key) => columnOf.get(key)),
    ).toEqual(columns);
    expect(columnOf.get(`topic ${NEWS}`)).toBe(columns[0]);
    expect(edges.map(({ queue, carries }) => `${queue} ${carries}`)).toEqual([
      "orders in",
      "orders out",
      "orders dead",
      "bills in",
      "bills in",
    ]);
  });

  it("has R2 buckets among the senders, also one of a dead-letter queue", () => {
    const { nodes, edges } = layOutMap(
      [
        queueView({ name: "orders", buckets: ["pictures"], consumer: workerConsumer("pictures", "dead") }),
        queueView({ name: "dead", buckets: ["pictures", "bills"] }),
      ],
      [],
    );
    expect(nodes.filter(({ kind }) => kind === "sender").map(({ name }) => name)).toEqual([
      "R2 pictures",
      "R2 bills",
    ]);
    expect(edges.map(({ queue, carries }) => `${queue} ${carries}`)).toEqual([
      "orders in",
      "orders out",
      "orders dead",
      "dead in",
      "dead in",
    ]);
    const columns = new Map(nodes.map(({ key, x }) => [key, x]));
    expect(columns.get("queue dead")).toBe(columns.get("queue orders"));
  });

  it("marks the edges of which only the common rate is known", () => {
    const { edges } = layOutMap(SHOP, [topicView({ arn: NEWS, name: "news" })]);
    expect(
      edges.filter(({ carries }) => carries === "in").map(({ queue, shared }) => [queue, shared]),
    ).toEqual([
      ["orders", null],
      ["bills", "first"],
      ["bills", "other"],
    ]);
  });

  it("has no two nodes at one place, and all of them within it", () => {
    const queues = Array.from({ length: 12 }, (_, i) =>
      queueView({
        name: `q${i}`,
        producers: [
          { worker: `w${i % 5}`, binding: "Q" },
          { worker: "all", binding: `Q${i}` },
        ],
        consumer: workerConsumer(`c${i % 3}`, i % 2 === 0 ? "dead" : null),
      }),
    );
    const { nodes, width, height } = layOutMap([...queues, queueView({ name: "dead" })], []);
    for (const [i, a] of nodes.entries()) {
      for (const b of nodes.slice(i + 1)) {
        const isApart = Math.abs(a.x - b.x) >= a.width || Math.abs(a.y - b.y) >= a.height;
        expect(isApart, `${a.key} and ${b.key}`).toBe(true);
      }
      expect(a.x + a.width).toBeLessThanOrEqual(width);
      expect(a.y + a.height).toBeLessThanOrEqual(height);
    }
  });

  it.each([1, 2, 3, 7])("draws no line through a node that it passes, with %i consumers", (consumers) => {
    const queues = Array.from({ length: 12 }, (_, i) =>
      queueView({ name: `q${i}`, consumer: workerConsumer(`c${i % consumers}`, `dead${i % 5}`) }),
    );
    const dead = Array.from({ length: 5 }, (_, i) => queueView({ name: `dead${i}` }));
    const { nodes, edges, height } = layOutMap([...queues, ...dead], []);
    const lanes = edges.flatMap(({ lane }) => (lane === null ? [] : [lane]));
    expect(lanes).toHaveLength(queues.length);
    for (const [begin, end] of lanes) {
      expect(end.y).toBe(begin.y);
      expect(begin.y).toBeLessThan(height);
      const passed = nodes.filter(({ x, width }) => x < end.x && x + width > begin.x);
      expect(passed).toHaveLength(consumers);
      expect(passed.filter(({ y, height }) => y <= begin.y && begin.y <= y + height)).toEqual([]);
    }
  });

  it("keeps a dead-letter queue with a consumer among the others", () => {
    const [orders, bills] = SHOP as [(typeof SHOP)[0], (typeof SHOP)[0]];
    const dead = queueView({ name: "dead", consumer: workerConsumer("undertaker", null) });
    const { nodes } = layOutMap([orders, bills, dead], []);
    const x = (key: string) => nodes.find((node) => node.key === key)?.x;
    expect(x("queue dead")).toBe(x("queue orders"));
  });
});
