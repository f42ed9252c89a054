/** Answers of the admin API, for its clients: types alone. */
export type { AuditPage } from "./access/audit-routes.ts";
export type { NewTokenView, TokenView } from "./access/token-routes.ts";
export type { AlertsView, WebhookView } from "./alert-routes.ts";
export type { AlertView } from "./alert-view.ts";
export type { BacklogView, DamageView, HealthView } from "./backlog-view.ts";
export type {
  BackupMessage,
  BackupQueue,
  BackupSubscription,
  BackupTopic,
  BackupTopicSubscription,
  BackupView,
} from "./backup/backup-view.ts";
export type { Restored } from "./backup/restore.ts";
export type { ClockView } from "./clock-routes.ts";
export type { EndView, FiguresView, FrameView } from "./history/event-stream.ts";
export type { FiguresOverView, MarkView } from "./history/figures-view.ts";
export type { EventView, LogsView, StoryGapView } from "./history/history-view.ts";
export type { StoryView } from "./history/story.ts";
export type { MessageView, QueueWhyView, WholeMessageView } from "./message-view.ts";
export type { LeasedMessage } from "./messages/lease-routes.ts";
export type { ErrorsView } from "./messages/look-routes.ts";
export type { MoveView, QueueView } from "./queue-view.ts";
export type { FoundView, GoneView, SearchView, UnfinishedView } from "./search/search-view.ts";
export type { DryRun } from "./selection.ts";
export type { ShardsView, ShardView } from "./shards-view.ts";
export type { HandOverView, SubscriptionView, TopicDetail, TopicView } from "./topic-view.ts";
