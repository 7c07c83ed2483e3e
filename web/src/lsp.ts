// The language server of the workbench, over a WebSocket: completion, what is under the pointer, renaming, formatting.
// What is wrong with the text comes from elsewhere: the deployment's check knows all that is in force.
import {formatKeymap, hoverTooltips, LSPClient, renameKeymap, serverCompletion, type Transport} from '@codemirror/lsp-client';
import {signal} from '@preact/signals';
import {keymap} from '@codemirror/view';
import {webSocket} from './server';
import {language} from './tesla';

type Handler = (message: string) => void;

/// Whether the language server answers.
export const languageServer = signal(false);

function transportOver(socket: WebSocket): Transport {
  const handlers = new Set<Handler>();
  socket.addEventListener('message', (event) => handlers.forEach((handle) => handle(event.data as string)));
  return {
    // What an editor says while it goes is for nobody.
    send: (message) => socket.readyState === WebSocket.OPEN && socket.send(message),
    subscribe: (handler) => void handlers.add(handler),
    unsubscribe: (handler) => void handlers.delete(handler),
  };
}

/// An extension for one editor, and what ends it.
export function connectEditor(uri: string) {
  const client = new LSPClient({
    timeout: 10_000,
    highlightLanguage: (name) => (name === 'tesla' ? language : null),
    extensions: [serverCompletion(), hoverTooltips({hoverTime: 300}), keymap.of([...renameKeymap, ...formatKeymap])],
  });
  let socket: WebSocket | null = null, over = false, wait = 250;
  const connect = () => {
    const opened = (socket = webSocket('lsp'));
    opened.addEventListener('open', () => {
      wait = 250;
      client.connect(transportOver(opened));
      client.initializing.then(() => (languageServer.value = true), () => {});
    });
    opened.addEventListener('close', () => {
      languageServer.value = false;
      client.disconnect();
      if (!over) setTimeout(() => over || connect(), (wait = Math.min(2 * wait, 8000)));
    });
  };
  connect();
  return {
    extension: client.plugin(uri, 'tesla'),
    close: () => {
      over = true;
      socket?.close();
    },
  };
}
