/** Answers of the admin API, for its clients: types alone. */
export type { AuditPage } from "./access/audit-routes.ts";
export type { NewTokenView, TokenView } from "./access/token-routes.ts";
export type { AlertsView, WebhookView } from "./alerts/alert-routes.ts";
export type { AlertView } from "./alerts/alert-view.ts";
export type { BacklogView, DamageView, HealthView } from "./backlog-view.ts";
export type {
  BackupQueue,
  BackupSubscription,
  BackupTopic,
  BackupTopicSubscription,
  BackupView,
} from "./backup/backup-view.ts";
export type { Restored } from "./backup/restore.ts";
export type { ClockView } from "./development/clock-routes.ts";
export type { EndView, FiguresView, FrameView } from "./history/event-stream.ts";
export type { FiguresOverView, MarkView } from "./history/figures-view.ts";
export type { EventView, LogsView, StoryGapView } from "./history/history-view.ts";
export type { StoryView } from "./history/story.ts";
export type { BackupMessage } from "./messages/backup-message.ts";
export type { LeasedMessage } from "./messages/lease-routes.ts";
export type { ErrorsView } from "./messages/look-routes.ts";
export type { MessageView, QueueWhyView, WholeMessageView } from "./messages/message-view.ts";
export type { DryRun } from "./messages/selection.ts";
export type { MoveView, QueueView } from "./queues/queue-view.ts";
export type { ShardsView, ShardView } from "./queues/shards-view.ts";
export type { FoundView, GoneView, SearchView, UnfinishedView } from "./search/search-view.ts";
export type { HandOverView, SubscriptionView, TopicDetail, TopicView } from "./topics/topic-view.ts";
