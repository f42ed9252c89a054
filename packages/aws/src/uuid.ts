/** An id of 32 hexadecimal digits as AWS writes it: in groups, as a UUID. */
export function uuidOf(hex: string): string {
  const part = (from: number, to: number) => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}
