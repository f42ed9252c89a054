import { isEndpointQueue, type TopicRecord, type TopicSubscription, topicObjectName } from "@sluice/protocol";
import { filterPolicyFault, filterScopeOf } from "@sluice/sns";
import { Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { AdminError } from "../failure.ts";
import { wholeQuery } from "../whole-query.ts";
import {
  endpointsView,
  type SubscriptionView,
  subscriptionView,
  type TopicView,
  topicDetail,
  topicView,
} from "./topic-view.ts";

/** Subscriptions of a page: each costs a call to an object. */
export const SUBSCRIPTIONS_PER_PAGE = 100;
/** Most endpoints that are asked for their state for a list of topics; with more the list shows the state of none. */
export const ENDPOINTS_ASKED_MAX = 200;

/** Routes of topics of Amazon SNS: their subscriptions, and how deliveries go. */
export function topicRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();
  const { topics } = directory;

  app.get("/", async (c) => c.json({ topics: await viewTopics(directory) }));

  app.get("/:arn", async (c) => {
    const arn = c.req.param("arn");
    const page = wholeQuery(c, "page", 1, Number.MAX_SAFE_INTEGER) ?? 1;
    const found = await topics.findTopic(arn);
    if (found === null) throw new AdminError(404, "topic_not_found", `There is no topic "${arn}".`);
    const { topic } = found;
    const subscriptions = found.subscriptions.filter(({ status }) => status.kind !== "ended");
    const shown = subscriptions.slice((page - 1) * SUBSCRIPTIONS_PER_PAGE, page * SUBSCRIPTIONS_PER_PAGE);
    const [description, list] = await Promise.all([
      directory.describeTopic(topicObjectName(topic.topicId)),
      Promise.all(shown.map((subscription) => viewSubscription(directory, topic, subscription))),
    ]);
    const pages = Math.max(1, Math.ceil(subscriptions.length / SUBSCRIPTIONS_PER_PAGE));
    return c.json({ ...topicDetail(topic, subscriptions, description, list), page, pages });
  });

  return app;
}

/** Shows every topic, with its endpoints unless there are more than `ENDPOINTS_ASKED_MAX` of them in all. */
export async function viewTopics({ topics, describe }: QueueDirectory): Promise<TopicView[]> {
  const [records, subscriptions] = await Promise.all([topics.listTopics(), topics.listTopicSubscriptions()]);
  const byTopic = Map.groupBy(subscriptions, ({ topicArn }) => topicArn);
  const isAsked = subscriptions.filter(isEndpoint).length <= ENDPOINTS_ASKED_MAX;
  return Promise.all(
    records.map(async (topic) => {
      const own = byTopic.get(topic.arn) ?? [];
      const endpoints = own.filter(isEndpoint).map(({ target }) => target);
      const asked = isAsked ? endpointsView(await Promise.all(endpoints.map(describe))) : null;
      return topicView(topic, own, asked);
    }),
  );
}

async function viewSubscription(
  { account, describe }: QueueDirectory,
  topic: TopicRecord,
  subscription: TopicSubscription,
): Promise<SubscriptionView> {
  const { target } = subscription;
  // A queue that does not exist has no object to ask.
  const exists = isEndpoint(subscription) || (await account.findByName(target)) !== null;
  const description = exists ? await describe(target) : null;
  return subscriptionView(topic, subscription, description, filterPolicyFaultOf(subscription));
}

function filterPolicyFaultOf({ attributes }: TopicSubscription): string | null {
  const { FilterPolicy, FilterPolicyScope } = attributes;
  return FilterPolicy === undefined
    ? null
    : filterPolicyFault(FilterPolicy, filterScopeOf(FilterPolicyScope));
}

function isEndpoint({ target }: TopicSubscription): boolean {
  return isEndpointQueue(target);
}
