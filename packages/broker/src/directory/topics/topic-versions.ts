/** Schema of the stored versions. A contract: columns keep their meaning. */
const SCHEMA = [
  "CREATE TABLE IF NOT EXISTS topic_notices (topic_id TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS topic_version (id INTEGER PRIMARY KEY, version INTEGER NOT NULL)",
];

/** Notice to a topic's object: the current version of its topic. */
export interface TopicNotice {
  readonly topicId: string;
  readonly version: number;
}

/**
 * Versions of topics with their subscriptions. A publisher that has cached a topic publishes by its version, and the
 * topic's object refuses older ones than it knows (`Topic.publish`). So it must be notified of a change before that is
 * answered. The notice is stored with the change, so that a crash does not lose it.
 *
 * A topic that has not changed in this epoch of the directory has the epoch's first version. A publisher with an older
 * version of the same topic is refused once at most.
 */
export class TopicVersions {
  readonly #sql: SqlStorage;
  readonly #now: () => number;
  /** Versions of existing topics that have changed in this epoch. */
  readonly #changed = new Map<string, number>();
  readonly #pending = new Map<string, number>();
  readonly #first: number;
  #last: number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    for (const statement of SCHEMA) sql.exec(statement);
    const [stored] = sql.exec<{ version: number }>("SELECT version FROM topic_version").toArray();
    // The time makes it later than any version of a directory that has lost its data.
    this.#first = Math.max(now(), (stored?.version ?? 0) + 1);
    this.#last = this.#first;
    // Stored, so that the next epoch begins later even if the clock goes back.
    sql.exec("INSERT OR REPLACE INTO topic_version VALUES (1, ?)", this.#first);
    const notices = sql.exec<{ topic_id: string }>("SELECT topic_id FROM topic_notices").toArray();
    for (const { topic_id: topicId } of notices) this.#pending.set(topicId, this.#first);
  }

  /** Returns the version of an existing topic. */
  versionOf(topicId: string): number {
    return this.#changed.get(topicId) ?? this.#first;
  }

  /** Within a transaction: raises the version, after a change of the topic or its subscriptions. */
  change(topicId: string): void {
    this.#next(topicId);
    this.#changed.set(topicId, this.#last);
  }

  /** Within a transaction: notes the deletion of a topic, of which its object must be notified. */
  erase(topicId: string): void {
    this.#next(topicId);
    this.#changed.delete(topicId);
  }

  /** Lists the notices that have not arrived. */
  pending(): TopicNotice[] {
    return [...this.#pending].map(([topicId, version]) => ({ topicId, version }));
  }

  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  /** Within a transaction: notes that a notice has arrived, unless a later one is pending. */
  notified({ topicId, version }: TopicNotice): void {
    if (this.#pending.get(topicId) !== version) return;
    this.#pending.delete(topicId);
    this.#sql.exec("DELETE FROM topic_notices WHERE topic_id = ?", topicId);
  }

  #next(topicId: string): void {
    this.#last = Math.max(this.#now(), this.#last + 1);
    this.#pending.set(topicId, this.#last);
    this.#sql.exec("INSERT OR REPLACE INTO topic_version VALUES (1, ?)", this.#last);
    this.#sql.exec("INSERT OR REPLACE INTO topic_notices VALUES (?, ?)", topicId, this.#last);
  }
}
