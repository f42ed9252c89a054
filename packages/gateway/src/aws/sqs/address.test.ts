import { isSqsQueueName } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { addressOf, addressOfArn, arnOf, directoryName } from "../queue-address.ts";
import { parseQueueUrl, queueUrl } from "./address.ts";

const HOME = { account: "000000000000", region: "us-east-1" };
const CALLER = { account: "000000000000", region: "eu-west-1" };
const ENDPOINT = "http://localhost:8787/__sluice/aws";

describe("a queue URL", () => {
  it.each([
    [`${ENDPOINT}/000000000000/orders`, "eu-west-1", "000000000000", "orders"],
    [`${ENDPOINT}/000000000000/orders/`, "eu-west-1", "000000000000", "orders"],
    [`${ENDPOINT}/queue/us-west-2/123456789012/orders.fifo`, "us-west-2", "123456789012", "orders.fifo"],
    ["https://sqs.ap-south-1.amazonaws.com/123456789012/orders", "ap-south-1", "123456789012", "orders"],
    ["https://queue.amazonaws.com/123456789012/orders", "us-east-1", "123456789012", "orders"],
    ["https://eu-north-1.queue.amazonaws.com/123456789012/orders", "eu-north-1", "123456789012", "orders"],
    ["http://localhost:9324/queue/orders", "eu-west-1", "000000000000", "orders"],
    ["http://localhost:9324/orders", "eu-west-1", "000000000000", "orders"],
    ["orders", "eu-west-1", "000000000000", "orders"],
    ["/123456789012/orders", "eu-west-1", "123456789012", "orders"],
  ])("%s is read", (url, region, account, name) => {
    expect(parseQueueUrl(url, CALLER)).toEqual({ region, account, name });
  });

  it("a queue URL without a queue is no address", () => {
    expect(() => parseQueueUrl("http://localhost:9324/", CALLER)).toThrow(
      "The address http://localhost:9324/ is not valid for this endpoint.",
    );
  });

  it.each(["12345678901", "1234567890123"])(
    "a queue URL with the number %s, which is no account, is no address",
    (account) => {
      const url = `${ENDPOINT}/${account}/orders`;
      expect(() => parseQueueUrl(url, CALLER)).toThrow(`The address ${url} is not valid for this endpoint.`);
    },
  );

  it.each([
    { ...HOME, name: "orders" },
    { ...CALLER, name: "orders" },
  ])("a queue URL of %j leads back to it", (address) => {
    expect(parseQueueUrl(queueUrl(ENDPOINT, address, HOME), HOME)).toEqual(address);
  });
});

describe("the name of a queue in the directory", () => {
  it("is that of SQS at home, so that one queue serves all dialects", () => {
    expect(directoryName({ ...HOME, name: "orders" }, HOME)).toBe("orders");
    expect(addressOf("orders", HOME)).toEqual({ ...HOME, name: "orders" });
  });

  it("is the ARN elsewhere", () => {
    const address = { ...CALLER, name: "orders" };
    expect(directoryName(address, HOME)).toBe("arn:aws:sqs:eu-west-1:000000000000:orders");
    expect(addressOf(directoryName(address, HOME), HOME)).toEqual(address);
    expect(addressOfArn(arnOf(address))).toEqual(address);
  });

  it("does not come from an ARN of another service", () => {
    expect(addressOfArn("arn:aws:sns:eu-west-1:000000000000:orders")).toBeNull();
  });
});

it.each([
  ["a".repeat(80), true],
  ["a".repeat(81), false],
  [`${"a".repeat(75)}.fifo`, true],
  [`${"a".repeat(76)}.fifo`, false],
  ["Az_09-", true],
  ["", false],
  [".fifo", false],
  ["a.b", false],
  ["a b", false],
  ["ä", false],
])("%s as a name of a queue: %s", (name, isName) => {
  expect(isSqsQueueName(name)).toBe(isName);
});
