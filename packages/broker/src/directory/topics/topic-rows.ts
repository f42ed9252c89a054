import type { SigningIdentity, TopicRecord, TopicSubscription } from "@sluice/protocol";
import { checksumOfText } from "../../store/checksum.ts";

/** A contract: these tables are stored. */
const SCHEMA = [
  "CREATE TABLE IF NOT EXISTS topics " +
    "(arn TEXT PRIMARY KEY, row TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID",
  `CREATE TABLE IF NOT EXISTS topic_subscriptions (
    id TEXT PRIMARY KEY, row TEXT NOT NULL, checksum INTEGER NOT NULL
  ) WITHOUT ROWID`,
  "CREATE TABLE IF NOT EXISTS signing_identities " +
    "(id INTEGER PRIMARY KEY, row TEXT NOT NULL, checksum INTEGER NOT NULL)",
];

/** Topics and subscriptions in the directory's database. Damaged rows are left out, and the log says so. */
export class TopicRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    for (const statement of SCHEMA) sql.exec(statement);
  }

  topics(): TopicRecord[] {
    return this.#read<TopicRecord>("SELECT arn AS key, row, checksum FROM topics", "topic");
  }

  subscriptions(): TopicSubscription[] {
    const query = "SELECT id AS key, row, checksum FROM topic_subscriptions";
    return this.#read<TopicSubscription>(query, "the subscription");
  }

  saveTopic(topic: TopicRecord): void {
    this.#save("INSERT OR REPLACE INTO topics VALUES (?, ?, ?)", topic.arn, topic);
  }

  eraseTopic(arn: string): void {
    this.#sql.exec("DELETE FROM topics WHERE arn = ?", arn);
  }

  saveSubscription(subscription: TopicSubscription): void {
    const { subscriptionId } = subscription;
    this.#save("INSERT OR REPLACE INTO topic_subscriptions VALUES (?, ?, ?)", subscriptionId, subscription);
  }

  eraseSubscription(subscriptionId: string): void {
    this.#sql.exec("DELETE FROM topic_subscriptions WHERE id = ?", subscriptionId);
  }

  signingIdentity(): SigningIdentity | null {
    const query = "SELECT id AS key, row, checksum FROM signing_identities WHERE id = 1";
    return this.#read<SigningIdentity>(query, "the signing identity")[0] ?? null;
  }

  saveSigningIdentity(identity: SigningIdentity): void {
    this.#save("INSERT OR REPLACE INTO signing_identities VALUES (?, ?, ?)", 1, identity);
  }

  #read<Row>(query: string, what: string): Row[] {
    const rows = this.#sql.exec<{ key: string | number; row: string; checksum: number }>(query).toArray();
    return rows.flatMap(({ key, row, checksum }) => {
      if (checksum === checksumOfText(row)) return [JSON.parse(row) as Row];
      console.error(`Directory: what was stored of ${what} "${key}" is damaged and left out`);
      return [];
    });
  }

  #save(statement: string, key: string | number, row: object): void {
    const text = JSON.stringify(row);
    this.#sql.exec(statement, key, text, checksumOfText(text));
  }
}
