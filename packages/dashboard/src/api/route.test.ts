import { describe, expect, it } from "vitest";
import { messageLink, parseRoute, queueLink, TABS, tokenIn, topicLink } from "./route.ts";

const ARN = "arn:aws:sns:us-east-1:000000000000:news";
const NAMES = ["orders", "orders.fifo", "a/b #%c?", "arn:aws:sqs:eu-west-1:1:q"];

describe("links of the page", () => {
  it.each(NAMES)("lead to each part of queue %s", (name) => {
    for (const tab of TABS) {
      expect(parseRoute(queueLink(name, tab))).toEqual({ kind: "queue", name, tab, filter: "" });
    }
  });

  it.each(NAMES)("lead to a message of queue %s", (queue) => {
    expect(parseRoute(messageLink(queue, "a-1"))).toEqual({ kind: "message", queue, id: "a-1", ref: "" });
    expect(parseRoute(messageLink(queue, "a-1", "A_&?="))).toMatchObject({ id: "a-1", ref: "A_&?=" });
  });

  it("keep a filter", () => {
    const filter = 'body:"50% & more?" attempts:>2';
    expect(parseRoute(queueLink("orders", "messages", filter))).toMatchObject({ tab: "messages", filter });
  });

  it.each([1, 2])("lead to page %i of a topic", (page) => {
    expect(parseRoute(topicLink(ARN, page))).toEqual({ kind: "topic", arn: ARN, page });
  });

  it.each(["", "#", "#/", "#/queues", "#/queues/", "#/queues/%E0%A4%A", "#/else/x"])(
    "%s is the overview",
    (hash) => {
      expect(parseRoute(hash)).toEqual({ kind: "overview" });
    },
  );

  it.each(["0", "-1", "x", "1.5"])("take page %s for the first", (page) => {
    expect(parseRoute(`${topicLink(ARN)}/${page}`)).toEqual({ kind: "topic", arn: ARN, page: 1 });
  });

  it("take an unknown part for the first", () => {
    expect(parseRoute(`${queueLink("orders")}/else`)).toMatchObject({ tab: "now" });
  });
});

it("a link may bring a token, and no other address has one in it", () => {
  expect(tokenIn("#token=a%2Fb")).toBe("a/b");
  expect(["", "#/", "#/queues/token=a", queueLink("token", "messages", "token=a")].map(tokenIn)).toEqual([
    null,
    null,
    null,
    null,
  ]);
});
