import type { About } from "./api/feed.ts";
import { type Route, useRoute } from "./api/route.ts";
import { FeedContext, useFeed } from "./api/use-feed.ts";
import { DevelopmentProvider } from "./development/use-development.tsx";
import { MessagePage } from "./message/message-page.tsx";
import { Overview } from "./overview/overview.tsx";
import { QueuePage } from "./queue/queue-page.tsx";
import { TopicPage } from "./topic/topic-page.tsx";

/** The page that the address names. */
export function App() {
  const route = useRoute();
  const feed = useFeed(aboutOf(route));
  return (
    <FeedContext.Provider value={feed}>
      <DevelopmentProvider>
        <Shown route={route} />
      </DevelopmentProvider>
    </FeedContext.Provider>
  );
}

function aboutOf(route: Route): About {
  switch (route.kind) {
    case "overview":
      return { kind: "queues" };
    case "topic":
      return { kind: "topics" };
    case "queue":
      return { kind: "queue", name: route.name };
    case "message":
      return { kind: "queue", name: route.queue };
  }
}

function Shown({ route }: { readonly route: Route }) {
  switch (route.kind) {
    case "overview":
      return <Overview />;
    case "queue":
      return <QueuePage key={route.name} name={route.name} tab={route.tab} filter={route.filter} />;
    case "message":
      return (
        <MessagePage
          key={`${route.queue} ${route.id}`}
          queue={route.queue}
          id={route.id}
          handle={route.ref}
        />
      );
    case "topic":
      return <TopicPage key={route.arn} arn={route.arn} page={route.page} />;
  }
}
