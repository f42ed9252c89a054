/** Writes what a call of an object is given or answers, as JSON with bytes in it. */
export function toText(value: unknown): string {
  return JSON.stringify(value, (_, part) => (part instanceof Uint8Array ? { $bytes: [...part] } : part));
}

/** Reads what `toText` wrote. */
export function fromText(text: string): unknown {
  return JSON.parse(text, (_, part) => (Array.isArray(part?.$bytes) ? Uint8Array.from(part.$bytes) : part));
}
