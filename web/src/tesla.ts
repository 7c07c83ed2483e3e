// How a text of rules is coloured, and marked where the server finds something wrong.
import {HighlightStyle, StreamLanguage, syntaxHighlighting} from '@codemirror/language';
import {type Diagnostic as Mark, linter} from '@codemirror/lint';
import type {Text} from '@codemirror/state';
import {tags} from '@lezer/highlight';
import type {Diagnostic} from 'gorgo';
import {ask} from './server';

const kWords = new Set('define from where consuming event rule assign each first last contains like matches in within inclusive between after as and or not true false every events const internal per order by limit asc desc execute table key of'.split(' '));
const kTypes = new Set(['int', 'float', 'double', 'bool', 'string']);

export const language = StreamLanguage.define({
  name: 'tesla',
  startState: () => ({comment: false}),
  token(stream, state) {
    if (state.comment) {
      if (stream.match(/.*?\*\//)) state.comment = false;
      else stream.skipToEnd();
      return 'comment';
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/\/\/|#/)) return stream.skipToEnd(), 'comment';
    if (stream.match('/*')) return (state.comment = true), 'comment';
    if (stream.match(/"([^"\\]|\\.)*"?|'([^'\\]|\\.)*'?/)) return 'string';
    if (stream.match(/\d+(\.\d+)?([a-z]+)?/)) return 'number';
    if (stream.match(/[@$][A-Za-z_]\w*/)) return 'variableName.special';
    const word = stream.match(/[A-Za-z_]\w*/) as RegExpMatchArray | null;
    if (word === null) return stream.next(), null;
    if (kWords.has(word[0].toLowerCase())) return 'keyword';
    if (kTypes.has(word[0])) return 'typeName';
    return /^[A-Z]/.test(word[0]) ? 'className' : null;
  },
  languageData: {commentTokens: {line: '//', block: {open: '/*', close: '*/'}}},
});

const colours = HighlightStyle.define([
  {tag: tags.keyword, class: 'tesla-keyword'},
  {tag: tags.comment, class: 'tesla-comment'},
  {tag: tags.string, class: 'tesla-string'},
  {tag: tags.number, class: 'tesla-number'},
  {tag: tags.typeName, class: 'tesla-type'},
  {tag: tags.className, class: 'tesla-name'},
  {tag: tags.special(tags.variableName), class: 'tesla-special'},
]);

export const tesla = [language, syntaxHighlighting(colours)];

export function marksOf(found: readonly Diagnostic[], text: Text): Mark[] {
  return found.map((each) => {
    const line = text.line(Math.min(Math.max(1, each.line), text.lines));
    const from = Math.min(line.from + Math.max(0, each.column - 1), line.to);
    const to = Math.min(Math.max(from + Math.max(1, each.length), from), text.length);
    return {from, to, severity: each.severity, message: each.hint === '' ? each.message : `${each.message} — ${each.hint}`};
  });
}

/// Has the server check the text when it has rested for a moment.
export function checker(name: () => string, tell: (found: Diagnostic[]) => void) {
  return linter(async (view) => {
    const text = view.state.doc;
    if (text.toString().trim() === '') return tell([]), [];
    const found = await ask((to) => to.check(name(), text.toString(), {replace: true})).catch(() => []);
    tell(found);
    return marksOf(found, text);
  }, {delay: 300});
}
