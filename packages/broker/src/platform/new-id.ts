/** Makes an id as Cloudflare has for messages, queues, consumers and subscriptions: 32 random hexadecimal digits. */
export function newId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
