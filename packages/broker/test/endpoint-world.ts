import type { HttpPushSettings, QueueDefinition } from "@sluice/protocol";
import type { EndpointOutcome } from "../src/endpoint/endpoint.ts";
import { endpoint } from "./messages.ts";
import { World } from "./world.ts";

export function worldWith(
  settings: Partial<HttpPushSettings> = {},
  queue: Partial<QueueDefinition> = {},
): World {
  return new World({ orders: { ...queue, consumer: endpoint(settings) }, dead: {} });
}

export const decoder = new TextDecoder();
export const bodiesOf = (world: World) => world.posts.map(({ body }) => decoder.decode(body));
export const timesOf = (world: World) => world.posts.map(({ atMs }) => atMs);
export const deadBodies = (world: World) => {
  const { queue, payloadOf } = world.core("dead");
  return [...queue.segments.keys()].map((id) => decoder.decode(payloadOf(id).message(0).body));
};

/** Answers that the test gives one by one, in the order of the requests. */
export function heldAnswers(world: World) {
  const answers: PromiseWithResolvers<EndpointOutcome>[] = [];
  world.answer = () => {
    const answer = Promise.withResolvers<EndpointOutcome>();
    answers.push(answer);
    return answer.promise;
  };
  return answers;
}
