import type { QueueView, TopicDetail } from "@sluice/gateway/views";

export type {
  BacklogView,
  ClockView,
  DamageView,
  EndView,
  ErrorsView,
  EventView,
  FiguresOverView,
  FiguresView,
  FoundView,
  FrameView,
  HandOverView,
  HealthView,
  LogsView,
  MarkView,
  MessageView,
  MoveView,
  QueueView,
  QueueWhyView,
  SearchView,
  StoryGapView,
  StoryView,
  SubscriptionView,
  TopicDetail,
  TopicView,
  WholeMessageView,
} from "@sluice/gateway/views";

/** A topic with one page of its subscriptions. */
export interface PagedTopic extends TopicDetail {
  readonly page: number;
  readonly pages: number;
}

/** The broker asks for a token. */
export class TokenNeeded extends Error {
  override readonly name = "TokenNeeded";
}

/** The broker refuses a request, and says why. */
export class Refused extends Error {
  override readonly name = "Refused";
  /** Error code of the API; empty for an answer that does not come from the API. */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** Relative to the page: a proxy may have put a path before `/__sluice/`. */
const API = "api";
/** Key of the token in the storage of the tab, which forgets it when it is closed. */
const TOKEN_KEY = "sluice-token";
/** Event of the window: a token was given. */
export const TOKEN_GIVEN = "sluice-token-given";

/** Words for a wrong token. */
export const WRONG_TOKEN = "That is none of this broker's tokens.";

/**
 * Keeps a token, and opens the feeds that wait for one.
 *
 * @returns whether it was kept. One with characters beyond Latin-1 is not: `fetch` throws for it as for a broker that
 *   does not answer.
 */
export function keepToken(token: string): boolean {
  if (!/^[ -\xff]*$/.test(token)) return false;
  sessionStorage.setItem(TOKEN_KEY, token);
  dispatchEvent(new Event(TOKEN_GIVEN));
  return true;
}

/** Whether the reader has given a token. */
export function hasToken(): boolean {
  return sessionStorage.getItem(TOKEN_KEY) !== null;
}

/** Calls the admin API. Resolves to the body of its answer; throws what `request` throws. */
export async function call<Answer>(
  path: string,
  method: "GET" | "POST" | "PUT" | "DELETE" = "GET",
  body?: object,
): Promise<Answer> {
  const response = await request(path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json().catch(() => ({}))) as Answer;
}

let queuesAsked: Promise<{ readonly queues: QueueView[] }> | null = null;
let isFirst = true;

/**
 * Asks for all queues. Calls that come meanwhile share the answer. The broker calls each queue for it, except for the
 * first answer, which has sleeping queues as they have last reported: so the page is there at once.
 */
export function allQueues(): Promise<{ readonly queues: QueueView[] }> {
  queuesAsked ??= call<{ queues: QueueView[] }>(isFirst ? "/queues?reported=true" : "/queues").finally(() => {
    queuesAsked = null;
  });
  isFirst = false;
  return queuesAsked;
}

/**
 * Asks the admin API, with the token if there is one.
 *
 * @throws TokenNeeded where the broker asks for one; Refused, with the API's words, for any other answer but a success.
 */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN_KEY);
  const response = await fetch(API + path, {
    ...init,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
  });
  if (response.ok) return response;
  if (response.status === 401) {
    if (sessionStorage.getItem(TOKEN_KEY) === token) sessionStorage.removeItem(TOKEN_KEY);
    throw new TokenNeeded(token === null ? "" : WRONG_TOKEN);
  }
  const answer = await response.json().catch(() => ({}));
  const { message, code } = answer?.error ?? {};
  throw new Refused(message ?? `The broker answered ${response.status}. Its log may say why.`, code ?? "");
}

/** Resolves to the refusal of a request, for a page that has something to show without its answer. */
export async function orRefusal<Answer>(asked: Promise<Answer>): Promise<Answer | Refused> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

/** Resolves to the answer of a request; `null` where the token may not read it. */
export async function ifAllowed<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  const answer = await orRefusal(asked);
  if (!(answer instanceof Refused)) return answer;
  if (answer.code === "forbidden") return null;
  throw answer;
}

/** Returns the message of an error, for people. */
export function errorText(error: unknown): string {
  if (error instanceof Refused || error instanceof TokenNeeded) return error.message;
  if (error instanceof TypeError) return "The broker does not answer. Is it running? The page tries again.";
  return error instanceof Error ? error.message : String(error);
}

/** Path of the API as the browser has it, for links. */
export function apiPath(path: string): string {
  return new URL(API + path, document.baseURI).pathname;
}

/** Path of a queue in the API. */
export function queuePath(name: string): string {
  return `/queues/${inPath(name)}`;
}

/** Path of a message in the API. */
export function messagePath(queue: string, id: string): string {
  return `${queuePath(queue)}/messages/${inPath(id)}`;
}

/** Path of a topic in the API. */
export function topicPath(arn: string): string {
  return `/topics/${inPath(arn)}`;
}

/** A name as a part of a path. Colons, which ARNs are full of, may stay. */
export function inPath(name: string): string {
  return encodeURIComponent(name).replaceAll("%3A", ":");
}
