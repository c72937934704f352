// CodeMirror, as this console sets it up, loaded when somebody edits. It lives in a shadow tree: there it sets its
// styles as sheets that a script makes, which the policy of the page allows; a <style> element it would refuse.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import {
  bracketMatching,
  foldGutter,
  HighlightStyle,
  indentOnInput,
  StreamLanguage,
  syntaxHighlighting,
} from "@codemirror/language";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { linter, lintGutter } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export type Language = "json" | "lua" | "text";

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.keyword], color: "var(--second)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--info)" },
  { tag: tags.comment, color: "var(--dim)" },
]);

const look = EditorView.theme({
  "&": {
    color: "var(--ink)",
    backgroundColor: "var(--card)",
    border: "1px solid var(--line-strong)",
    borderRadius: "7px",
    fontSize: "var(--t1)",
    maxHeight: "60vh",
    overflow: "hidden",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", minHeight: "140px" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-gutters": { backgroundColor: "var(--code)", color: "var(--dim)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", border: "1px solid var(--line)", color: "var(--ink)" },
  ".cm-diagnostic": { fontFamily: "var(--sans)", fontSize: "var(--t1)" },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-soft)" },
});

/** checked marks what is no JSON where it is typed; nothing is not marked, so that an optional text may be empty. */
function checked(): Extension {
  const parse = jsonParseLinter();
  return [linter((view) => (view.state.doc.length ? parse(view) : []), { delay: 300 }), lintGutter()];
}

/** replaced types over what is selected. Chromium would keep the colour of the first letter in a style of its own,
 * which the policy refuses. */
const replaced = EditorView.domEventHandlers({
  beforeinput(e, view) {
    const takes = e.inputType === "insertText" && e.data !== null && !view.composing;
    if (!takes || view.state.selection.main.empty) return false;
    e.preventDefault();
    view.dispatch(view.state.replaceSelection(e.data ?? ""), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

const languages: Record<Language, () => Extension> = {
  json: () => [json(), checked()],
  lua: () => StreamLanguage.define(lua),
  text: () => [],
};

/** mirror is an editor in a root; tell hears of every change. */
export function mirror(
  root: ShadowRoot,
  o: { text: string; language: Language; label: string; tell: (text: string) => void },
): EditorView {
  return new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: o.text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        history(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        syntaxHighlighting(colours),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        languages[o.language](),
        EditorView.lineWrapping,
        look,
        replaced,
        EditorView.contentAttributes.of({ "aria-label": o.label }),
        EditorView.updateListener.of((u) => {
          if (u.docChanged) o.tell(u.state.doc.toString());
        }),
      ],
    }),
  });
}
