import "./dashboard.css";
import { render } from "preact";
import { Overview } from "./overview.tsx";
import { QueuePage } from "./queue/queue-page.tsx";
import { useRoute } from "./route.ts";
import { TopicPageView } from "./topic/topic-page.tsx";

function App() {
  const route = useRoute();
  switch (route.kind) {
    case "overview":
      return <Overview />;
    case "queue":
      return <QueuePage key={route.name} name={route.name} />;
    case "topic":
      return <TopicPageView key={route.arn} arn={route.arn} page={route.page} />;
  }
}

render(<App />, document.body);
