/** 32 random hexadecimal digits: what Cloudflare calls messages, queues, consumers and subscriptions by. */
export function newId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
