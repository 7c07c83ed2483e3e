// The editor: a chunk of its own, because it is larger than all the rest.
import {autocompletion, closeBrackets, completionKeymap} from '@codemirror/autocomplete';
import {defaultKeymap, history, historyKeymap, indentWithTab} from '@codemirror/commands';
import {bracketMatching, indentOnInput} from '@codemirror/language';
import {lintGutter, lintKeymap} from '@codemirror/lint';
import {unifiedMergeView} from '@codemirror/merge';
import {Compartment, EditorState, type Extension} from '@codemirror/state';
import {drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers} from '@codemirror/view';
import styles from './editor.css?inline';
import {tesla} from './tesla';

const comparison = new Compartment();

/// CodeMirror writes its styles into the page, which the page's policy forbids, except below a
/// shadow root, where it adopts a style sheet.
function rootBelow(host: HTMLElement): ShadowRoot {
  const root = host.shadowRoot ?? host.attachShadow({mode: 'open'});
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [sheet];
  return root;
}

export function makeEditor(host: HTMLElement, text: string, label: string, extensions: Extension): EditorView {
  const root = rootBelow(host);
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(), autocompletion(),
        highlightActiveLine(), lintGutter(), tesla,
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
        EditorView.contentAttributes.of({'aria-label': label}),
        comparison.of([]),
        extensions,
      ],
    }),
  });
  view.scrollDOM.tabIndex = 0;  // by keyboard, too
  return view;
}

/// Shows what differs from the other text, or nothing of the kind.
export function compare(view: EditorView, other: string | null) {
  const shown = other === null ? [] : unifiedMergeView({original: other, mergeControls: false});
  view.dispatch({effects: comparison.reconfigure(shown)});
}

export function setText(view: EditorView, text: string) {
  view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}});
}
