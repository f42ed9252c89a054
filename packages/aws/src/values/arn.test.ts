import { expect, it } from "vitest";
import { formatArn, parseArn, partitionOf } from "./arn.ts";

it("an ARN is read and written", () => {
  const arn = {
    partition: "aws",
    service: "sqs",
    region: "eu-west-1",
    account: "000000000000",
    resource: "a:b",
  };
  expect(parseArn("arn:aws:sqs:eu-west-1:000000000000:a:b")).toEqual(arn);
  expect(formatArn(arn)).toBe("arn:aws:sqs:eu-west-1:000000000000:a:b");
});

it.each([
  "",
  "orders",
  "arn:aws:sqs:eu-west-1:000000000000",
  "arn:aws:sqs:eu-west-1:000000000000:",
  "arn::sqs:r:a:q",
])("%j is no ARN", (text) => {
  expect(parseArn(text)).toBeNull();
});

it.each([
  ["eu-west-1", "aws"],
  ["cn-north-1", "aws-cn"],
  ["us-gov-west-1", "aws-us-gov"],
])("the partition of %s is %s", (region, partition) => {
  expect(partitionOf(region)).toBe(partition);
});
