import type { TopicDetail } from "@sluice/gateway/views";

export type {
  BacklogView,
  DamageView,
  HandOverView,
  HealthView,
  MessageView,
  MoveView,
  QueueView,
  SubscriptionView,
  TopicDetail,
  TopicView,
} from "@sluice/gateway/views";

/** A topic with one page of its subscriptions. */
export interface TopicPage extends TopicDetail {
  readonly page: number;
  readonly pages: number;
}

/** The broker asks for a token. */
export class TokenNeeded extends Error {
  override readonly name = "TokenNeeded";
}

/** The broker has answered that it does not do what it was asked for, and why. */
export class Refused extends Error {
  override readonly name = "Refused";
}

const API = "/__sluice/api";
/** Forgotten with the tab. */
const TOKEN_KEY = "sluice-token";

export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token);
}

/** Answers what the admin API answers. Throws `TokenNeeded`, or an error with the API's own words. */
export async function call<Answer>(
  path: string,
  method: "GET" | "POST" = "GET",
  body?: object,
): Promise<Answer> {
  const token = sessionStorage.getItem(TOKEN_KEY);
  const response = await fetch(API + path, {
    method,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.status === 401) {
    const wasWrong = token !== null;
    sessionStorage.removeItem(TOKEN_KEY);
    throw new TokenNeeded(wasWrong ? "That is none of this broker's tokens." : "");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(answer?.error?.message ?? `The broker answered ${response.status}.`);
  return answer;
}

/** Path of a queue in the API. */
export function queuePath(name: string): string {
  return `/queues/${inPath(name)}`;
}

/** Path of a topic in the API. */
export function topicPath(arn: string): string {
  return `/topics/${inPath(arn)}`;
}

/** A name as a part of a path. Colons, which ARNs are full of, may stay. */
export function inPath(name: string): string {
  return encodeURIComponent(name).replaceAll("%3A", ":");
}
