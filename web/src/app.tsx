// The frame around the views: the menu, the state of the connection, the login.
import {signal, useSignal} from '@preact/signals';
import type {ComponentType} from 'preact';
import {useEffect} from 'preact/hooks';
import {logIn, loginWanted, logOut, token} from './server';
import {Overview} from './pages/overview';
import {place} from './route';
import {link} from './store';

type View = ComponentType;
interface Entry {
  title: string;
  load: () => Promise<View>;
}

// Each view but the first comes when it is first asked for.
const views: Record<string, Entry> = {
  '': {title: 'Overview', load: async () => Overview},
  graph: {title: 'Graph', load: async () => (await import('./pages/graph')).Graph},
  rules: {title: 'Rules', load: async () => (await import('./pages/rules')).Rules},
  editor: {title: 'Editor', load: async () => (await import('./pages/editor')).Editor},
  why: {title: 'Why', load: async () => (await import('./pages/why')).Why},
  events: {title: 'Events', load: async () => (await import('./pages/events')).Events},
  engines: {title: 'Engines', load: async () => (await import('./pages/engines')).Engines},
  shadows: {title: 'Shadows', load: async () => (await import('./pages/shadows')).Shadows},
  doors: {title: 'Doors', load: async () => (await import('./pages/doors')).Doors},
  actions: {title: 'Actions', load: async () => (await import('./pages/actions')).Actions},
  cluster: {title: 'Cluster', load: async () => (await import('./pages/cluster')).Cluster},
  connections: {title: 'Connections', load: async () => (await import('./pages/connections')).Connections},
};

const loaded = signal<Record<string, View>>({'': Overview});

function Menu() {
  return (
    <nav aria-label="Views">
      <a class="brand" href="/" aria-label="Gorgo, overview">
        <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M1 4.6h4.2L9.4 11H15M1 11h4.2l1.1-1.7M9.4 4.6H15" /></svg>
        Gorgo
      </a>
      {Object.entries(views).map(([view, {title}]) => (
        <a key={view} href={`/${view}`} aria-current={place.value.view === view ? 'page' : undefined}>{title}</a>
      ))}
      <span class={`link ${link.value.open ? 'good' : 'bad'}`} role="status">
        {link.value.open ? link.value.problem || 'live' : 'not connected'}
      </span>
      {token.value !== '' && <button class="plain" onClick={() => { logOut(); location.reload(); }}>Log out</button>}
    </nav>
  );
}

function Login() {
  const secret = useSignal('');
  const submit = (event: Event) => {
    event.preventDefault();
    logIn(secret.value.trim());
  };
  return (
    <main class="login">
      <form onSubmit={submit}>
        <h1>Gorgo</h1>
        <p>This server asks who you are. The workbench is for administrators.</p>
        {loginWanted.value !== '' && <p class="problem" role="alert">{loginWanted.value}</p>}
        <label for="token">Token</label>
        <input id="token" type="password" autocomplete="current-password" autofocus required
          onInput={(event) => (secret.value = event.currentTarget.value)} />
        <button class="primary">Log in</button>
        <p class="note"><code>gorgo user token</code> makes one. It is kept until this tab is closed.</p>
      </form>
    </main>
  );
}

function Current() {
  const {view} = place.value, entry = views[view];
  const problem = useSignal('');
  useEffect(() => {
    document.title = entry === undefined ? 'Gorgo' : `${entry.title} · Gorgo`;
    if (entry === undefined || loaded.value[view]) return;
    problem.value = '';
    entry.load().then(
      (loadedView) => (loaded.value = {...loaded.value, [view]: loadedView}),
      () => (problem.value = 'This view could not be loaded. Load the page anew.'),
    );
  }, [view]);
  const Shown = loaded.value[view];
  if (problem.value !== '') return <p class="problem">{problem}</p>;
  return Shown === undefined ? <p class="empty">Loading …</p> : <Shown />;
}

export function App() {
  if (loginWanted.value !== null) return <Login />;
  const {open, problem} = link.value;
  return (
    <>
      <a class="skip" href="#main">To the content</a>
      <Menu />
      <main id="main" tabIndex={-1}>
        <h1 class="hidden">{views[place.value.view]?.title ?? 'Gorgo'}</h1>
        {!open && problem !== '' && <p class="problem" role="alert">Not connected: {problem}. Trying again.</p>}
        <Current />
      </main>
    </>
  );
}
