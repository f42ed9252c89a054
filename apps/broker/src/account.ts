import { type BrokerEnv, DIRECTORY_NAME } from "@sluice/broker";
import type { AccountDirectory } from "@sluice/gateway";
import type { AuditRpc, TokensRpc, TopicsRpc } from "@sluice/protocol";

/**
 * The directory as the gateway calls it. Each call takes its stub anew: one belongs to the request that it was made in.
 */
export function accountOf({ SLUICE_DIRECTORY: namespace }: BrokerEnv): AccountDirectory {
  const directory = () => namespace.get(namespace.idFromName(DIRECTORY_NAME)) as unknown as AccountDirectory;
  return {
    list: () => directory().list(),
    findByName: (name) => directory().findByName(name),
    findById: (queueId) => directory().findById(queueId),
    createQueue: (queue) => directory().createQueue(queue),
    changeQueue: (queueId, change) => directory().changeQueue(queueId, change),
    deleteQueue: (queueId) => directory().deleteQueue(queueId),
    setConsumer: (queueId, consumerId, consumer) => directory().setConsumer(queueId, consumerId, consumer),
    removeConsumer: (queueId, consumerId) => directory().removeConsumer(queueId, consumerId),
    listSubscriptions: () => directory().listSubscriptions(),
    createSubscription: (subscription) => directory().createSubscription(subscription),
    changeSubscription: (id, change) => directory().changeSubscription(id, change),
    deleteSubscription: (id) => directory().deleteSubscription(id),
    notePurge: (queueId, purge) => directory().notePurge(queueId, purge),
    lastPurge: (queueId) => directory().lastPurge(queueId),
    lastDeletion: (name) => directory().lastDeletion(name),
    atRest: () => directory().atRest(),
    deployed: () => directory().deployed(),
  };
}

/** The same for tokens. */
export function tokensOf({ SLUICE_DIRECTORY: namespace }: BrokerEnv): TokensRpc {
  const directory = () => namespace.get(namespace.idFromName(DIRECTORY_NAME)) as unknown as TokensRpc;
  return {
    listTokens: () => directory().listTokens(),
    createToken: (token) => directory().createToken(token),
    rotateToken: (name, secret, graceMs) => directory().rotateToken(name, secret, graceMs),
    deleteToken: (name) => directory().deleteToken(name),
  };
}

/** The same for the audit log. */
export function auditOf({ SLUICE_DIRECTORY: namespace }: BrokerEnv): AuditRpc {
  const directory = () => namespace.get(namespace.idFromName(DIRECTORY_NAME)) as unknown as AuditRpc;
  return {
    noteAudit: (entry) => directory().noteAudit(entry),
    readAudit: (max, before) => directory().readAudit(max, before),
  };
}

/** The same for topics. */
export function topicsOf({ SLUICE_DIRECTORY: namespace }: BrokerEnv): TopicsRpc {
  const directory = () => namespace.get(namespace.idFromName(DIRECTORY_NAME)) as unknown as TopicsRpc;
  return {
    listTopics: () => directory().listTopics(),
    findTopic: (arn) => directory().findTopic(arn),
    createTopic: (topic) => directory().createTopic(topic),
    changeTopic: (arn, change) => directory().changeTopic(arn, change),
    deleteTopic: (arn) => directory().deleteTopic(arn),
    listTopicSubscriptions: () => directory().listTopicSubscriptions(),
    findTopicSubscription: (arn) => directory().findTopicSubscription(arn),
    subscribe: (subscription) => directory().subscribe(subscription),
    renewToken: (arn, token) => directory().renewToken(arn, token),
    confirmSubscription: (confirmation) => directory().confirmSubscription(confirmation),
    changeTopicSubscription: (arn, change) => directory().changeTopicSubscription(arn, change),
    unsubscribe: (arn, undoToken) => directory().unsubscribe(arn, undoToken),
    snsSettings: () => directory().snsSettings(),
    signingIdentity: () => directory().signingIdentity(),
    keepSigningIdentity: (identity) => directory().keepSigningIdentity(identity),
    hiddenObjects: () => directory().hiddenObjects(),
  };
}
