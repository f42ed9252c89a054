/** An event of a stream. */
interface ServerSentEvent {
  /** Its name; `message` where it has none. */
  readonly name: string;
  /** Its `data`, by JSON. */
  readonly data: unknown;
}

/**
 * Reads the events of a stream.
 *
 * @param silenceMsMax time without a byte after which the stream counts as ended.
 */
export async function* serverSentEvents(
  body: ReadableStream<Uint8Array>,
  silenceMsMax: number,
): AsyncGenerator<ServerSentEvent> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = "";
  try {
    for (;;) {
      const silence = setTimeout(() => void reader.cancel().catch(() => {}), silenceMsMax);
      const { value, done } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const data = fieldOf(block, "data");
        const [name = "message"] = fieldOf(block, "event");
        if (data.length > 0) yield { name, data: JSON.parse(data.join("\n")) };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function fieldOf(block: string, field: string): string[] {
  const lines = block.split("\n").filter((line) => line.startsWith(`${field}:`));
  return lines.map((line) => line.slice(field.length + 1).trimStart());
}
