import { describe, expect, it } from "vitest";
import { judge, judgeDirectory, type Seen } from "./judge.ts";
import type { Target } from "./state-files.ts";

const ORDERS: Target = { kind: "queue", name: "orders" };
const WELL: Seen = { queue: "orders", missing: 0, again: 0, damage: [], lines: [], probe: "delivered" };
const LINE = 'Queue "orders": 3 message(s) are lost';
const lost = (messagesLost: number | null) => [{ kind: "messagesLost", messagesLost, text: "lost" }];

describe("a damaged queue", () => {
  it("may lose what it lists and prints, and no more", () => {
    const seen = { ...WELL, missing: 3, lines: [LINE] };
    expect(judge(ORDERS, { ...seen, damage: lost(3) })).toEqual([]);
    expect(judge(ORDERS, { ...seen, damage: lost(null) })).toEqual([]);
    expect(judge(ORDERS, { ...seen, damage: lost(2) })).toHaveLength(1);
  });

  it("may not be silent, neither in the log nor in the admin API", () => {
    const seen = { ...WELL, missing: 1 };
    expect(judge(ORDERS, { ...seen, lines: [LINE] })).toHaveLength(1);
    expect(judge(ORDERS, { ...seen, damage: lost(1) })).toHaveLength(1);
    expect(judge(ORDERS, { ...seen, damage: null })).toHaveLength(2);
    expect(judge(ORDERS, WELL)).toEqual([]);
  });

  it("may refuse sends when it says why, and never takes one and loses it", () => {
    const reported = { ...WELL, lines: [LINE], damage: lost(null) };
    expect(judge(ORDERS, { ...reported, probe: "refused" })).toEqual([]);
    expect(judge(ORDERS, { ...WELL, probe: "refused" })).toHaveLength(2);
    expect(judge(ORDERS, { ...reported, probe: "lost" })).toHaveLength(1);
  });
});

describe("another queue", () => {
  it.each([{ missing: 1 }, { again: 1 }, { damage: lost(0) }, { probe: "refused" as const }])(
    "may not show any of it: %j",
    (change) => {
      expect(judge(ORDERS, { ...WELL, queue: "bulk" })).toEqual([]);
      expect(judge(ORDERS, { ...WELL, queue: "bulk", ...change })).toHaveLength(1);
    },
  );
});

describe("a damaged directory", () => {
  it("may not be silent when it is gone or does not answer", () => {
    expect(judgeDirectory("file removed", [], [])).toHaveLength(1);
    expect(judgeDirectory("log removed", [], [])).toHaveLength(1);
    expect(judgeDirectory("file truncated", null, [])).toHaveLength(1);
    expect(judgeDirectory("file truncated", null, ["the directory does not answer"])).toEqual([]);
    expect(judgeDirectory("log cut", [], [])).toEqual([]);
  });
});
