import type { SigningIdentity, TopicRecord, TopicSubscription } from "@sluice/protocol";
import { UNREADABLE_ROWS } from "@sluice/protocol/schema";
import { JsonRows } from "../tables/json-rows.ts";

/** Topics and subscriptions in the directory's database. */
export class TopicRows {
  readonly topics: JsonRows<TopicRecord>;
  readonly subscriptions: JsonRows<TopicSubscription>;
  /** Table of one row. */
  readonly signingIdentities: JsonRows<SigningIdentity>;

  constructor(sql: SqlStorage) {
    this.topics = new JsonRows(sql, "topics", "arn TEXT", "topic", UNREADABLE_ROWS.topic);
    this.subscriptions = new JsonRows(
      sql,
      "topic_subscriptions",
      "id TEXT",
      "the subscription",
      UNREADABLE_ROWS.topicSubscription,
    );
    this.signingIdentities = new JsonRows(
      sql,
      "signing_identities",
      "id INTEGER",
      "the signing identity",
      UNREADABLE_ROWS.signingIdentity,
    );
  }
}
