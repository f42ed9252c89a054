import type { EndView, FrameView } from "@sluice/gateway/views";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { BrokerClient } from "./broker-client.ts";

/** Which events are meant. */
export interface WhichEvents {
  /** One queue; `null` for all. */
  readonly queue: string | null;
  /** Kinds of events, as `docs/admin-api.md` names them; all if there are none. */
  readonly kinds: readonly string[];
}

/**
 * Frames of what happens, from now on. Ends when the broker ends the stream.
 *
 * @throws BrokerFailure also where the token counts no longer, for which the stream ends.
 */
export async function* liveFrames(
  client: BrokerClient,
  { queue, kinds }: WhichEvents,
): AsyncGenerator<FrameView> {
  const query = new URLSearchParams();
  if (queue !== null) query.set("queue", queue);
  if (kinds.length > 0) query.set("kind", kinds.join(","));
  const text = (await client.stream(`/events?${query}`)).pipeThrough(new TextDecoderStream());
  for await (const { event, data } of text.pipeThrough(new EventSourceParserStream())) {
    if (event === "end") throw client.endOf(JSON.parse(data) as EndView);
    yield JSON.parse(data) as FrameView;
  }
}
