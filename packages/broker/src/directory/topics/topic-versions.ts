/** A contract: these tables are stored. */
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
 * Versions of topics with their subscriptions. Who remembers a topic publishes by its version, and the topic's object
 * refuses an older one than it knows (`Topic.publish`): so it has to be told of each change before that is answered. A
 * change is written down as untold with it, so no crash leaves an object behind.
 *
 * A topic that has not changed in this epoch of the directory has the version that this began with: who remembers an
 * older one goes by the same topic, and is refused once at most.
 */
export class TopicVersions {
  readonly #sql: SqlStorage;
  readonly #now: () => number;
  /** Versions of existing topics that have changed in this epoch: it has no more entries than there are topics. */
  readonly #changed = new Map<string, number>();
  readonly #untold = new Map<string, number>();
  readonly #first: number;
  #last: number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    for (const statement of SCHEMA) sql.exec(statement);
    const [stored] = sql.exec<{ version: number }>("SELECT version FROM topic_version").toArray();
    // Also later than any of a directory that has lost its data.
    this.#first = Math.max(now(), (stored?.version ?? 0) + 1);
    this.#last = this.#first;
    // A clock that goes back must not give the next epoch the same one, or an older.
    sql.exec("INSERT OR REPLACE INTO topic_version VALUES (1, ?)", this.#first);
    const notices = sql.exec<{ topic_id: string }>("SELECT topic_id FROM topic_notices").toArray();
    for (const { topic_id: topicId } of notices) this.#untold.set(topicId, this.#first);
  }

  /** Returns the version of an existing topic. */
  versionOf(topicId: string): number {
    return this.#changed.get(topicId) ?? this.#first;
  }

  /** Within a transaction: the topic, or what subscribes to it, is another from now on. */
  change(topicId: string): void {
    this.#next(topicId);
    this.#changed.set(topicId, this.#last);
  }

  /** Within a transaction: the topic is no more. Its object has to be told; nobody else asks for its version again. */
  erase(topicId: string): void {
    this.#next(topicId);
    this.#changed.delete(topicId);
  }

  /** Objects that do not know what their topics are by now. */
  untold(): TopicNotice[] {
    return [...this.#untold].map(([topicId, version]) => ({ topicId, version }));
  }

  get hasUntold(): boolean {
    return this.#untold.size > 0;
  }

  /** Within a transaction: the object knows of that version. */
  told({ topicId, version }: TopicNotice): void {
    if (this.#untold.get(topicId) !== version) return;
    this.#untold.delete(topicId);
    this.#sql.exec("DELETE FROM topic_notices WHERE topic_id = ?", topicId);
  }

  #next(topicId: string): void {
    this.#last = Math.max(this.#now(), this.#last + 1);
    this.#untold.set(topicId, this.#last);
    this.#sql.exec("INSERT OR REPLACE INTO topic_version VALUES (1, ?)", this.#last);
    this.#sql.exec("INSERT OR REPLACE INTO topic_notices VALUES (?, ?)", topicId, this.#last);
  }
}
