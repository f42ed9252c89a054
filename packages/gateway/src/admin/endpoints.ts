/** Endpoints of the admin API, as `GET /__sluice/api` lists them. */
export const ENDPOINTS = [
  { method: "GET", path: "/__sluice/api", answers: "what there is" },
  { method: "GET", path: "/__sluice/api/openapi.json", answers: "the same as a document of OpenAPI 3.1" },
  {
    method: "GET",
    path: "/__sluice/api/queues",
    answers: "every queue: messages by state, settings, consumer and how deliveries to it go",
  },
  { method: "GET", path: "/__sluice/api/queues/NAME", answers: "one queue" },
  {
    method: "GET",
    path: "/__sluice/api/queues/NAME/shards",
    answers: "each object that keeps the queue: its state, messages and rates",
  },
  {
    method: "PUT",
    path: "/__sluice/api/queues/NAME/shards",
    body: '{"shards": 4}',
    answers: "changes how many objects keep the queue, 1 to 100",
  },
  {
    method: "GET",
    path: "/__sluice/api/queues/NAME/messages",
    answers:
      "messages in every state, those that ?filter=F is for: 20, or ?max=N up to 100, from ?cursor=C on",
  },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/messages",
    body: '{"body": {}}',
    answers: "sends a message",
  },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/messages/batch",
    body: '{"messages": [{"contentType": "json", "text": "{}"}]}',
    answers: "how many messages were stored: all of them, 100 at most",
  },
  {
    method: "GET",
    path: "/__sluice/api/queues/NAME/messages/ID",
    answers: "one message with all of its body",
  },
  {
    method: "DELETE",
    path: "/__sluice/api/queues/NAME/messages/ID",
    answers: "deletes a message, whoever has it",
  },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/messages/ID/retry",
    answers: "lets a message be delivered now: ends its delay, or its lease",
  },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/messages/ID/resend",
    body: '{"to": "QUEUE"}',
    answers: "sends a copy of a message, changed or not, to its queue or another",
  },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/messages/retry",
    body: '{"filter": "error:timeout"}',
    answers: "lets delayed messages be delivered now: those of a filter, or ids",
  },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/messages/delete",
    body: '{"filter": "error:timeout"}',
    answers: "deletes messages: those of a filter, or ids",
  },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/messages/lease",
    body: '{"max": 100}',
    answers: "takes messages out for a time, whole, to be deleted by their receipts",
  },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/messages/settle",
    body: '{"delete": ["RECEIPT"]}',
    answers: "deletes leased messages, or gives them back",
  },
  {
    method: "GET",
    path: "/__sluice/api/queues/NAME/errors",
    answers: "messages that ?filter=F is for, counted by their last errors",
  },
  {
    method: "GET",
    path: "/__sluice/api/queues/NAME/why",
    answers: "why the queue delivers nothing more now",
  },
  {
    method: "GET",
    path: "/__sluice/api/queues/NAME/history",
    answers:
      "what happened, newest first: 100 events, or ?max=N up to 500; ?kind=failed, ?cursor=C for older ones",
  },
  {
    method: "GET",
    path: "/__sluice/api/queues/NAME/figures",
    answers: "what came in and went out, depth, age and durations over ?window=5m, 1h or 24h",
  },
  {
    method: "GET",
    path: "/__sluice/api/queues/NAME/messages/ID/story",
    answers: "what happened to a message, from its first send on and over all queues that it was in",
  },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/pause",
    answers: "delivers nothing until it is resumed",
  },
  { method: "POST", path: "/__sluice/api/queues/NAME/resume", answers: "delivers again" },
  { method: "POST", path: "/__sluice/api/queues/NAME/purge", answers: "deletes every message in it" },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/redrive",
    body: '{"to": "QUEUE"}',
    answers:
      "moves dead letters to a queue, or with {} back to where they came from; those of a filter, or ids",
  },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/redrive/cancel",
    answers: "ends the move that is under way",
  },
  {
    method: "POST",
    path: "/__sluice/api/queues/NAME/drain",
    answers: "how many requests its worker daemon waits for; it begins none for 10 s",
  },
  {
    method: "PUT",
    path: "/__sluice/api/queues/NAME/silence",
    body: '{"forSeconds": 3600}',
    answers: 'keeps the webhook from hearing of its alerts for a time, or {"until": "TIME"}',
  },
  {
    method: "DELETE",
    path: "/__sluice/api/queues/NAME/silence",
    answers: "has the webhook told of its alerts again",
  },
  {
    method: "GET",
    path: "/__sluice/api/alerts",
    answers: "which alerts are on, and how the webhook takes them",
  },
  { method: "POST", path: "/__sluice/api/alerts/test", answers: "sends the webhook a test" },
  {
    method: "GET",
    path: "/__sluice/api/search?q=TEXT",
    answers:
      "what a filter, a text, an id or a name is found in, over all queues: messages, gone ones, names",
  },
  {
    method: "GET",
    path: "/__sluice/api/events",
    answers: "what happens, as text/event-stream, four frames a second at most: ?queue=NAME, ?kind=failed",
  },
  {
    method: "GET",
    path: "/__sluice/api/event-samples",
    answers: "a sample of each kind of event that Cloudflare's products send to queues",
  },
  {
    method: "POST",
    path: "/__sluice/api/disk",
    body: '{"isFull": true}',
    answers: "for the process that watches the disk of a local broker: while it is full nothing is taken in",
  },
  {
    method: "POST",
    path: "/__sluice/api/system-clock",
    body: '{"behindMs": 1}',
    answers: "for the process that has started a local broker: how far its time is behind the system's clock",
  },
  {
    method: "GET",
    path: "/__sluice/api/r2",
    answers: "for the process that sees writes to R2 buckets: which buckets have event notification rules",
  },
  {
    method: "POST",
    path: "/__sluice/api/r2",
    body: '{"bucket": "NAME", "writes": []}',
    answers: "for the same: sends the messages of these writes, each once however often it is asked",
  },
  {
    method: "POST",
    path: "/__sluice/api/stop",
    answers: "for the process that has started a local broker and ends it: for 30 s no receive waits",
  },
  {
    method: "GET",
    path: "/__sluice/api/topics",
    answers: "every SNS topic: subscriptions, messages that wait for HTTP endpoints, endpoints that fail",
  },
  {
    method: "GET",
    path: "/__sluice/api/topics/ARN",
    answers: "one topic with its subscriptions, 100 of them or those of ?page=N",
  },
  {
    method: "GET",
    path: "/__sluice/api/audit",
    answers:
      "changes and their actors, newest first: 100 changes, or ?max=N up to 500; ?cursor=C for older ones",
  },
  {
    method: "GET",
    path: "/__sluice/api/tokens",
    answers: "the tokens that the broker keeps, without secrets",
  },
  {
    method: "POST",
    path: "/__sluice/api/tokens",
    body: '{"name": "NAME", "scopes": ["send"]}',
    answers: "creates a token, and tells its secret this once",
  },
  {
    method: "POST",
    path: "/__sluice/api/tokens/NAME/rotate",
    answers: 'gives a token another secret; the old one is valid for a day, or {"graceSeconds": N}',
  },
  { method: "DELETE", path: "/__sluice/api/tokens/NAME", answers: "revokes a token" },
  {
    method: "GET",
    path: "/__sluice/api/queues/NAME/faults",
    answers: "what is made to go wrong with its deliveries (development)",
  },
  {
    method: "PUT",
    path: "/__sluice/api/queues/NAME/faults",
    body: '{"faults": [{"kind": "loseAck"}]}',
    answers: "makes that go wrong (development)",
  },
  { method: "DELETE", path: "/__sluice/api/queues/NAME/faults", answers: "ends all of that (development)" },
  { method: "GET", path: "/__sluice/api/clock", answers: "the time of the queues (development)" },
  {
    method: "POST",
    path: "/__sluice/api/clock",
    body: '{"advanceMs": N}',
    answers: 'moves time; {"to": "next"} to what comes next, {"freeze": true} stops it (development)',
  },
  {
    method: "GET",
    path: "/__sluice/api/backup",
    answers: "what the broker is set to, without secrets; /messages?queue=NAME has what a queue holds",
  },
  {
    method: "GET",
    path: "/__sluice/api/backup/messages?queue=NAME",
    answers: "what a queue holds, 100 messages at a time, from ?cursor=C on",
  },
  ...(["queues", "topics", "topic-subscriptions", "subscriptions"] as const).map((part) => ({
    method: "POST" as const,
    path: `/__sluice/api/backup/${part}` as const,
    answers: "brings one of a backup back, if there is none of its name",
  })),
  {
    method: "POST",
    path: "/__sluice/api/backup/messages?queue=NAME",
    body: '{"messages": []}',
    answers: "stores messages of a backup under their ids, with attempts and the time of their send",
  },
  { method: "GET", path: "/__sluice/metrics", answers: "queues and topics in Prometheus' text format" },
  { method: "GET", path: "/__sluice/health", answers: "whether the broker runs, as of the last second" },
] as const;
