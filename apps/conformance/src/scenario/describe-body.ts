/** A message's body as text that tells types apart. */
export function describeBody(body: unknown): string {
  const tag = Object.prototype.toString.call(body).slice(8, -1);
  if (body instanceof ArrayBuffer) return `${tag} ${[...new Uint8Array(body)]}`;
  if (ArrayBuffer.isView(body)) {
    return `${tag} ${[...new Uint8Array(body.buffer, body.byteOffset, body.byteLength)]}`;
  }
  if (body instanceof Date) return `${tag} ${body.getTime()}`;
  if (body instanceof Map || body instanceof Set) return `${tag} ${JSON.stringify([...body])}`;
  if (typeof body === "bigint" || body === undefined) return `${tag} ${body}`;
  return `${tag} ${JSON.stringify(body)}`;
}
