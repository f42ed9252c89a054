/** An Amazon Resource Name of SQS or SNS. */
export interface Arn {
  readonly partition: string;
  readonly service: string;
  readonly region: string;
  readonly account: string;
  readonly resource: string;
}

/** Reads an ARN; `null` for any other text. The resource may hold colons. */
export function parseArn(text: string): Arn | null {
  const parts = /^arn:([^:]+):([^:]+):([^:]*):([^:]*):(.+)$/s.exec(text);
  if (parts === null) return null;
  const [partition, service, region, account, resource] = parts.slice(1) as [
    string,
    string,
    string,
    string,
    string,
  ];
  return { partition, service, region, account, resource };
}

export function formatArn({ partition, service, region, account, resource }: Arn): string {
  return `arn:${partition}:${service}:${region}:${account}:${resource}`;
}

/** Returns the partition that a region belongs to (spec sqs 1.4). */
export function partitionOf(region: string): string {
  if (region.startsWith("cn-")) return "aws-cn";
  return region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
}
