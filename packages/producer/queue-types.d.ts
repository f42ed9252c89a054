/**
 * Types of Workers that the sources of the producer name. Workers' types as a whole and Node's own do not go together
 * in one program.
 */
interface QueueMetrics {
  backlogCount: number;
  backlogBytes: number;
  oldestMessageTimestamp?: Date;
}
interface QueueSendOptions {
  contentType?: "text" | "bytes" | "json" | "v8";
  delaySeconds?: number;
}
interface QueueSendBatchOptions {
  delaySeconds?: number;
}
interface QueueSendResponse {
  metadata: { metrics: QueueMetrics };
}
type QueueSendBatchResponse = QueueSendResponse;
interface MessageSendRequest<Body = unknown> extends QueueSendOptions {
  body: Body;
}
