import type { EndView, FrameView } from "@sluice/gateway/views";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { BrokerClient } from "./broker-client.ts";

/** Filter of events. */
export interface WhichEvents {
  /** Name of the only queue; `null` for all queues. */
  readonly queue: string | null;
  /** Kinds of events, as `docs/admin-api.md` names them; empty for all. */
  readonly kinds: readonly string[];
}

/**
 * Streams the frames of a broker's events from now on, until the broker closes the connection.
 *
 * @throws BrokerFailure also where the broker ends the stream because the token is no longer valid.
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
