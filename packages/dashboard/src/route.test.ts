import { describe, expect, it } from "vitest";
import { parseRoute, queueLink, topicLink } from "./route.ts";

const ARN = "arn:aws:sns:us-east-1:000000000000:news";

describe("links of the page", () => {
  it.each(["orders", "orders.fifo", "a/b #%c", "arn:aws:sqs:eu-west-1:1:q"])("lead to queue %s", (name) => {
    expect(parseRoute(queueLink(name))).toEqual({ kind: "queue", name });
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
});
